// What threads did with their lives, in words: for how much of them they ran, and for whom they waited.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/report/report.h"

namespace rdam::output {

/// Of a thread's life, what it was on a processor for. Its OffCpuRow must be known.
double running_ns(const score::ThreadRow& row);

/// What all threads together did with their lives, as shares of these.
struct States {
    double lives_ns = 0;
    double running = 0, waiting = 0, preempted = 0;
    double by_others =
        0;  ///< of `preempted`: neither the program's other threads nor the recorder had the processor
};
/// Nothing: context switches are not known of all threads of the whole run.
std::optional<States> states_of(const score::Report& report);
/// "1.62 threads ran at a time on average; of their lives, threads ran for 40 %, waited for 55 % and were preempted
/// for 5 %, by others for 2 %". Empty: that is not known.
std::string thread_states(const score::Report& report);
/// "Threads: running 40 %, waiting 55 %, preempted 5 %", for a narrow line. Empty: that is not known.
std::string short_thread_states(const score::Report& report);
/// ", by others for 2 %", to follow for which share of its life a thread was preempted; empty: for next to nothing.
std::string by_others_text(double share);
/// Whether what threads did with their lives is known of all of the run.
bool states_known(const score::Report& report);

/// Who waits for whom, a sentence for each of the largest edges, and one on what these are of; empty: nobody
/// waits for long, or it is not known. Not made safe for a terminal.
std::vector<std::string> wait_lines(const hints::WaitGraph& graph);
/// The first of them: of the largest edges.
std::vector<std::string> edge_lines(const hints::WaitGraph& graph);
/// The last of them.
std::string waits_text(const hints::WaitGraph& graph);
/// What the times in edge_lines() mean.
inline constexpr std::string_view kWorthOfWaits =
    "a time in brackets is what the waiting threads would gain at most, as far as the wait is known, if it "
    "took no time, "
    "or if nobody were preempted in it";

}  // namespace rdam::output
