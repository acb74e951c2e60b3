// Notes whose figures add up over processes.
#pragma once

#include <span>
#include <string>

#include "analyzer/report/report.h"

namespace rdam::output {

/// None is null.
using Reports = std::span<const score::Report* const>;

/// One sentence about all of the reports (at least one); empty if there is nothing to say. Not made safe for
/// a terminal.
using SummedNote = std::string (*)(Reports);

std::string dropped_note(Reports reports);
std::string unwritten_note(Reports reports);
std::string abandoned_note(Reports reports);
std::string too_deep_note(Reports reports);
std::string still_open_note(Reports reports);
std::string no_beginning_note(Reports reports);
std::string inside_unended_note(Reports reports);
std::string bad_clock_note(Reports reports);
std::string too_long_note(Reports reports);

std::string switched_off_note(Reports reports);
std::string sampling_note(Reports reports);
std::string few_windows_note(Reports reports);

/// About functions of which no call was seen to end.
std::string never_scored_note(Reports reports);
std::string partners_note(Reports reports);
/// About programs whose stacks are copied away.
std::string copied_stacks_note(Reports reports);
/// About rows that are no threads.
std::string fibers_note(Reports reports);

/// Why there is no score (FunctionRow::unknown()), as a clause: `too little was seen in windows`.
std::string no_score_reason(const score::FunctionRow& row);

/// About a clock whose steps hide losses of the functions that were recorded with it.
std::string clock_step_note(Reports reports);
/// What to think of a score of score::FunctionRow::coarse_clock.
std::string coarse_clock_advice();

/// About context switches: lost records, a recording that was stopped, and none at all (without the reason,
/// which does not add up).
std::string lost_switches_note(Reports reports);
std::string stopped_switches_note(Reports reports);
std::string no_switches_note(const score::Report& report);

/// About programs with more busy threads than processors.
std::string crowding_note(Reports reports);

/// About functions that none of the processes has called.
std::string never_called_note(Reports reports);

// What a process is called among others.

/// What distinguishes it from the others: its title, the name that its first thread has set, or its command
/// without the program's folder. Not made safe for a terminal.
std::string what_it_is(const score::Report& report);

}  // namespace rdam::output
