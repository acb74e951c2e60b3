#include "analyzer/otf2/sampling.h"

#include <fmt/format.h>

#include <algorithm>

#include "wrappers/text/text_lines.h"

namespace rdam::otf2 {
namespace {

constexpr std::string_view kSampled = "sampled", kCounted = "counted";
constexpr std::string_view kRate = "rate=", kSince = "since=", kGroup = "group=", kOff = "off=",
                           kWait = "wait=";

/// Nothing: `word` is not `name` and a number.
template <class Number>
std::optional<Number> value_in(std::string_view word, std::string_view name) {
    if (!word.starts_with(name)) return {};
    return number_in<Number>(word.substr(name.size()));
}

}  // namespace

std::string text_of(const FunctionSampling& sampling) {
    std::string text;
    const auto add = [&](std::string_view word) {
        text += fmt::format("{}{}", text.empty() ? "" : " ", word);
    };
    if (sampling.sampled) add(kSampled);
    if (sampling.counted) add(kCounted);
    if (sampling.most_rate > 0) add(fmt::format("{}{}", kRate, sampling.most_rate));
    if (sampling.windowed_since) add(fmt::format("{}{}", kSince, *sampling.windowed_since));
    if (sampling.window_group != 0) add(fmt::format("{}{}", kGroup, sampling.window_group));
    if (sampling.switched_off) add(fmt::format("{}{}", kOff, *sampling.switched_off));
    if (sampling.wait_of) add(fmt::format("{}{}", kWait, *sampling.wait_of));
    return text;
}

FunctionSampling sampling_in(std::string_view text) {
    FunctionSampling sampling;
    for (const std::string_view word : words_of(text)) {
        if (word == kSampled) sampling.sampled = true;
        if (word == kCounted) sampling.counted = true;
        if (const auto rate = value_in<std::uint8_t>(word, kRate); rate && *rate <= trace::kMaxSampling)
            sampling.most_rate = *rate;
        if (const auto since = value_in<std::uint64_t>(word, kSince)) sampling.windowed_since = since;
        if (const auto group = value_in<std::uint32_t>(word, kGroup);
            group && *group <= trace::kMaxWindowGroup)
            sampling.window_group = *group;
        if (const auto off = value_in<std::uint64_t>(word, kOff)) sampling.switched_off = off;
        if (const auto wait = value_in<std::uint32_t>(word, kWait)) sampling.wait_of = wait;
    }
    return sampling;
}

// "120+30 5000+30/2": how long after the end of the one before each begins, its length, and its group.
std::vector<std::string> texts_of(std::span<const trace::Window> windows, std::size_t longest) {
    std::vector<std::string> texts;
    std::uint64_t last = 0;
    for (const trace::Window& window : windows) {
        std::string one = fmt::format("{}+{}", window.begin - last, window.end - window.begin);
        if (window.group != 0) one += fmt::format("/{}", window.group);
        last = window.end;
        if (texts.empty() || texts.back().size() + 1 + one.size() > longest)
            texts.push_back(one);
        else
            texts.back() += ' ' + one;
    }
    return texts;
}

bool read_windows(std::string_view text, std::uint64_t latest, std::vector<trace::Window>& windows) {
    for (const std::string_view word : words_of(text)) {
        const std::uint64_t last = windows.empty() ? 0 : windows.back().end;
        const std::size_t plus = word.find('+');
        if (plus == std::string_view::npos) return false;
        const auto gap = number_in<std::uint64_t>(word.substr(0, plus));
        const std::size_t slash = std::min(word.find('/'), word.size());
        if (slash < plus) return false;
        const auto length = number_in<std::uint64_t>(word.substr(plus + 1, slash - plus - 1));
        const auto group = slash < word.size() ? number_in<std::uint32_t>(word.substr(slash + 1))
                                               : std::optional<std::uint32_t>{0};
        if (!group || *group > trace::kMaxWindowGroup) return false;
        if (!gap || !length || *length == 0 || *gap > latest - last || *length > latest - last - *gap)
            return false;
        windows.push_back({.begin = last + *gap, .end = last + *gap + *length, .group = *group});
    }
    return true;
}

}  // namespace rdam::otf2
