#include "tools/rdam/screen/lists.h"

#include <algorithm>
#include <utility>

#include "analyzer/output/comparison.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/report.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/keys.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {
namespace {

using Kind = score::Baseline::Kind;

constexpr std::size_t kKeyNames = 13;

std::size_t inside(std::size_t width) {
    return std::max<std::size_t>(width, kCursorWidth + 2) - kCursorWidth;
}

}  // namespace

Content ignored_content(const trace::TraceInfo& info, const std::vector<std::uint32_t>& ignored,
                        std::size_t width) {
    Content content{.head = {line("Ignored functions", Look::strong)}};
    for (const std::uint32_t f : ignored) {
        const trace::FunctionInfo& function = info.functions[f];
        content.choices.push_back(content.lines.size());
        content.lines.push_back(
            line(cut(printable(score::qualified_name(function.module, function.name)), inside(width))));
    }
    if (ignored.empty()) content.lines.push_back(line("none", Look::faint));
    return content;
}

std::vector<score::Baseline> baselines(const score::Baseline& present) {
    std::vector<score::Baseline> all{
        {.kind = Kind::thread}, {.kind = Kind::process}, {.kind = Kind::minimum}};
    for (const double fraction : {0.001, 0.01, 0.05, 0.10, 0.25, 0.50})
        all.push_back({.kind = Kind::percentile, .fraction = fraction});
    const bool among = std::ranges::find(all, present) != all.end();
    if (!among) all.push_back(present);
    return all;
}

std::size_t place_of_present(const score::Baseline& present) {
    const auto all = baselines(present);
    return static_cast<std::size_t>(std::ranges::find(all, present) - all.begin());
}

Content baselines_content(const score::Baseline& present, std::size_t width) {
    Content content{.head = {line("Baseline: what calls are compared with", Look::strong)}};
    for (const score::Baseline& each : baselines(present)) {
        content.choices.push_back(content.lines.size());
        content.lines.push_back(
            line(cut((each == present ? "[x] " : "[ ] ") + output::baseline_in_words(each), inside(width))));
    }
    return content;
}

Content notes_content(const std::vector<std::string>& notes, std::size_t width) {
    Content content{.head = {line("Notes on the recording", Look::strong)}, .follows_cursor = false};
    for (const std::string& note : notes)
        for (std::string& part : wrapped(printable(note), inside(width)))
            content.lines.push_back(line(std::move(part)));
    if (notes.empty()) content.lines.push_back(line("none", Look::faint));
    return content;
}

Content help_content(std::size_t width) {
    Content content{.head = {line("Keys", Look::strong)}, .follows_cursor = false};
    const std::size_t room = std::max<std::size_t>(inside(width), kKeyNames + 4) - kKeyNames;
    for (const Binding& binding : bindings()) {
        std::string names = to_left(binding.names, kKeyNames);
        for (const std::string& part : wrapped(binding.text, room)) {
            content.lines.push_back({{names, Look::strong}, {part}});
            names = std::string(kKeyNames, ' ');
        }
    }
    const std::pair<const char*, std::string> signs[] = {{"?", output::maybe_recorder_advice()},
                                                         {"≥", output::lower_bound_advice()},
                                                         {"!", output::minimum_alone_advice()},
                                                         {output::kFloorMark, output::floor_advice()},
                                                         {"~", output::sampled_advice()}};
    content.lines.push_back(line("Signs in front of numbers", Look::strong));
    for (const auto& [sign, meaning] : signs) {
        std::string front = to_left(sign, 3);
        for (const std::string& part : wrapped(meaning, inside(width) - 3)) {
            content.lines.push_back({{front, Look::strong}, {part}});
            front = "   ";
        }
    }
    return content;
}

}  // namespace rdam::screen
