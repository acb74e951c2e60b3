#include "analyzer/causes/function_lines.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "tools/base/files.h"
#include "wrappers/object/symbolizer.h"

namespace rdam::causes {
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
