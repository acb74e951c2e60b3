// How an archive of ours says what the recorder has left out: texts of its properties.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/event.h"

namespace rdam::otf2 {

/// What trace::FunctionInfo tells, in ticks of the archive's clock.
struct FunctionSampling {
    bool sampled = false;
    bool counted = false;
    std::uint8_t most_rate = 0;
    std::optional<std::uint64_t> windowed_since = {};
    std::uint32_t window_group = 0;
    std::optional<std::uint64_t> switched_off = {};
    std::optional<std::uint32_t> wait_of = {};  ///< the number of a function, in place of its address

    friend bool operator==(const FunctionSampling&, const FunctionSampling&) = default;
};

/// "": every call is recorded.
std::string text_of(const FunctionSampling& sampling);
/// Words that it does not know are passed over.
FunctionSampling sampling_in(std::string_view text);

/// Windows in the order of time, none overlapping, as texts of at most `longest` bytes (at least 64).
std::vector<std::string> texts_of(std::span<const trace::Window> windows, std::size_t longest);
/// Appends to `windows`. False: the text is not one of texts_of(), or ends after `latest`; the windows before
/// that are there.
bool read_windows(std::string_view text, std::uint64_t latest, std::vector<trace::Window>& windows);

}  // namespace rdam::otf2
