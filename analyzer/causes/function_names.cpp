#include "analyzer/causes/function_names.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "tools/base/demangle.h"
#include "tools/base/files.h"
#include "wrappers/object/symbolizer.h"

namespace rdam::causes {
namespace {

/// What tools add to a name: `f (inlined)`, `f [clone .cold]`, `f@plt`, callgrind's `f'2` for recursion.
std::string_view bare_name(std::string_view name) {
    for (const std::string_view mark : {" (inlined)", " [clone "}) {
        const auto at = name.find(mark);
        if (at != std::string_view::npos && at > 0) name = name.substr(0, at);
    }
    const auto tick = name.rfind('\'');
    const bool recursion = tick != std::string_view::npos && tick > 0 && tick + 1 < name.size() &&
                           name.find_first_not_of("0123456789", tick + 1) == std::string_view::npos;
    return recursion ? name.substr(0, tick) : name;
}

bool is_operator_call(std::string_view before_bracket) {
    return before_bracket.ends_with("operator");
}

}  // namespace

std::string_view without_parameters(std::string_view name) {
    const auto close = name.rfind(')');
    if (close == std::string_view::npos) return name;
    // At most qualifiers follow the parameters; in "(anonymous namespace)::f", a name follows.
    if (name.find_first_of(":<", close) != std::string_view::npos) return name;
    std::size_t depth = 0;
    for (auto at = close + 1; at-- > 0;) {
        if (name[at] == ')') ++depth;
        if (name[at] == '(' && --depth == 0)
            return at == 0 || is_operator_call(name.substr(0, at)) ? name : name.substr(0, at);
    }
    return name;
}

FunctionNames::FunctionNames(const std::vector<trace::FunctionInfo>& functions) : functions_(functions) {
    for (std::uint32_t i = 0; i < functions.size(); ++i) {
        const trace::FunctionInfo& function = functions[i];
        const std::string_view base = split_clone(function.linkage_name).base;
        const DemangledName names = demangle(base);
        for (const std::string& name :
             {function.linkage_name, std::string{base}, names.full, names.signature, names.hashed})
            if (!name.empty()) full_.emplace(normalized_name(name), i);
        brief_.emplace(normalized_name(names.brief.empty() ? without_parameters(function.name) : names.brief),
                       i);
    }
}

std::vector<std::uint32_t> FunctionNames::in(const Index& index, const std::string& name,
                                             std::string_view module) const {
    std::vector<std::uint32_t> found;
    const auto [begin, end] = index.equal_range(name);
    for (auto entry = begin; entry != end; ++entry) {
        const std::string_view own = file_name(functions_[entry->second].module);
        if (module.empty() || own.empty() || file_name(module) == own) found.push_back(entry->second);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<std::uint32_t> FunctionNames::find(std::string_view name, std::string_view module) const {
    name = bare_name(name);
    std::string spelled{name};
    if (looks_mangled(name)) {
        const DemangledName names = demangle(split_clone(name).base);
        if (!names.signature.empty()) spelled = names.signature;
    } else if (const auto clone = split_clone(name); !clone.suffix.empty()) {
        spelled = clone.base;
    }
    const std::string wanted = normalized_name(spelled);
    auto found = in(full_, wanted, module);
    if (!found.empty()) return found;
    found = in(brief_, wanted, module);
    const std::string brief = normalized_name(without_parameters(spelled));
    if (!found.empty() || brief == wanted) return found;
    // Parameters were named: an overload with other ones is another function.
    found = in(brief_, brief, module);
    std::erase_if(found, [&](std::uint32_t i) { return looks_mangled(functions_[i].linkage_name); });
    return found;
}

namespace {

/// Longer than any function a person wrote; a damaged trace may claim more.
constexpr std::uint64_t kLargestFunction = 16U << 20U;

/// The names of a path from its end, without what leads up and back.
std::vector<std::string> names_from_end(std::string_view path) {
    std::vector<std::string> names;
    for (const auto& part : std::filesystem::path{path}.lexically_normal())
        if (part != "/" && part != ".." && part != ".") names.push_back(part.string());
    std::ranges::reverse(names);
    return names;
}

}  // namespace

bool same_source_file(std::string_view a, std::string_view b) {
    const auto names_a = names_from_end(a);
    const auto names_b = names_from_end(b);
    const auto common = std::min(names_a.size(), names_b.size());
    return common > 0 && std::equal(names_a.begin(), names_a.begin() + static_cast<std::ptrdiff_t>(common),
                                    names_b.begin());
}

void ObjectLines::read() {
    std::map<std::uint32_t, std::optional<Symbolizer>> symbolizers;
    for (std::uint32_t i = 0; i < info_.functions.size(); ++i) {
        const trace::FunctionInfo& function = info_.functions[i];
        if (function.object >= info_.objects.size() || function.size == 0) continue;
        const auto [entry, is_new] = symbolizers.try_emplace(function.object);
        if (is_new) {
            const trace::ObjectInfo& object = info_.objects[function.object];
            if (auto opened = Symbolizer::open(object.path, object.build_id))
                entry->second.emplace(std::move(*opened));
        }
        if (!entry->second) continue;
        const std::uint64_t end = function.address + std::min(function.size, kLargestFunction);
        for (SourceLine& line : entry->second->lines_between(function.address, end)) {
            std::string name{file_name(line.file)};
            places_.emplace(std::move(name), Place{std::move(line.file), line.line, i});
        }
    }
}

std::vector<std::uint32_t> ObjectLines::find(std::string_view file, std::uint32_t line) {
    if (!read_) read();
    read_ = true;
    std::vector<std::uint32_t> found;
    const auto [begin, end] = places_.equal_range(file_name(file));
    for (auto place = begin; place != end; ++place)
        if (place->second.line == line && same_source_file(place->second.file, file))
            found.push_back(place->second.function);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace rdam::causes
