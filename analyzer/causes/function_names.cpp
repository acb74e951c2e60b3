#include "analyzer/causes/function_names.h"

#include <algorithm>

#include "tools/base/demangle.h"
#include "tools/base/files.h"

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

}  // namespace rdam::causes
