#include "wrappers/list/sample_places.h"

#include <charconv>
#include <optional>

#include "wrappers/list/name_text.h"
#include "wrappers/list/perf_data.h"

namespace rdam {
namespace {

struct Line {
    std::string_view module;
    std::string_view function;
    std::uint64_t offset = 0;
};

/// "    7f3a12 f(int)+0x12 (/path/app)"
std::optional<Line> parse_line(std::string_view text) {
    constexpr std::string_view kOffset = "+0x";
    constexpr int kHexadecimal = 16;
    text = trim_blanks(text);
    const auto name = text.find(' ');
    const auto offset = text.rfind(kOffset);
    if (name == std::string_view::npos || offset == std::string_view::npos || offset < name)
        return std::nullopt;
    Line line;
    line.function = trim_blanks(text.substr(name, offset - name));
    const char* const end = text.data() + text.size();
    const auto digits =
        std::from_chars(text.data() + offset + kOffset.size(), end, line.offset, kHexadecimal);
    const std::string_view rest = trim_blanks({digits.ptr, static_cast<std::size_t>(end - digits.ptr)});
    if (digits.ec != std::errc{} || rest.size() < 3 || rest.front() != '(' || rest.back() != ')')
        return std::nullopt;
    line.module = rest.substr(1, rest.size() - 2);
    return line;
}

}  // namespace

void SamplePlaces::add(std::string_view module, std::string_view function, std::uint64_t offset) {
    ++by_function_[std::string(function)][file_name_of(module)][offset];
}

SamplePlaces::Offsets SamplePlaces::of(const std::string& module, const std::string& function) const {
    Offsets all;
    const auto found = by_function_.find(function);
    if (found == by_function_.end()) return all;
    for (const auto& [name, offsets] : found->second) {
        if (!module.empty() && name != module) continue;
        for (const auto& [offset, samples] : offsets)
            all[offset] += samples;
    }
    return all;
}

SamplePlaces parse_sample_places(std::string_view text) {
    SamplePlaces places;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        if (const auto line = parse_line(text.substr(0, end)))
            places.add(line->module, line->function, line->offset);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return places;
}

SamplePlaces read_sample_places(const std::string& path) {
    return parse_sample_places(perf_script(path, {"-G", "--no-inline", "-F", "ip,sym,symoff,dso"}));
}

}  // namespace rdam
