// Who ran while a call lost its time: for the largest losses of functions that seem to have been disturbed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::around {

/// A function whose calls that lose half of their time do so while another thread is inside `concurrent`.
struct Suspect {
    const score::FunctionRow& row;     ///< with its sample
    const std::string& concurrent;     ///< the name of a function
    std::optional<std::uint32_t> tid;  ///< of the thread that is nearly always inside it
};

/// From a call that lost much to the call of the concurrent function that covers most of it.
struct Arrow {
    struct End {
        std::uint32_t thread = 0;    ///< index into TraceInfo::threads
        std::uint32_t function = 0;  ///< index into TraceInfo::functions
    };
    End from, to;
    std::uint64_t at = 0;  ///< ticks: a moment inside both calls
};

struct ArrowLimits {
    std::size_t most = 200;
    std::uint64_t events = 20'000'000;  ///< read for all of them; what needs more is not looked at
};

/// For the largest losses of the suspects, which are about `report`, largest first. Calls shorter than a
/// hundredth of the loss get no arrow. Errors: those of TraceReader.
Result<std::vector<Arrow>> arrows(const trace::TraceReader& reader, const score::Report& report,
                                  std::span<const Suspect> suspects, const ArrowLimits& limits = {});

}  // namespace rdam::around
