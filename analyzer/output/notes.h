// What a reader of the scores must know about the recording, in plain words.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/causes/cross_check.h"
#include "analyzer/output/summed_notes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/report.h"

namespace rdam::output {

/// One sentence each, most important first; none if all went well. Not made safe for a terminal.
std::vector<std::string> notes(const score::Report& report);

/// The first of them: what makes figures themselves doubtful, like events that were lost.
std::vector<std::string> warnings(const score::Report& report);

/// A note about some of several processes.
struct SharedNote {
    std::vector<std::size_t> processes =
        {};  ///< indices into the reports, rising; none: it is about all together
    std::string text;
};

/// The notes on several processes: those that differ only in their figures are added up, and a function
/// counts as never called if none of `all`, which includes these processes, has called it.
std::vector<SharedNote> notes(Reports reports, Reports all);

/// notes() for one process, and the remarks of the symbols after all frames were requested.
std::vector<std::string> notes(const score::Report& report, const Symbols& symbols);

/// `recording made this run 1.08 to 1.22 × as long: probes 53.1 ms, agent 2.10 ms on busy processors`, with
/// the parts that there were.
std::string recording_cost(const score::Report& report);

/// "1.07 ×", in a table.
std::string made_longer(const score::RecordingCost& cost);

/// `5 threads`, `5 threads, 20 fibers`.
std::string threads_text(const score::Report& report);

/// What the 95 % interval means.
std::string interval_advice();
/// What to do about a score that is a lower bound.
std::string lower_bound_advice();
/// What to do about a score that is a lower bound because a call was still running when its thread ended.
std::string open_calls_advice();
std::string shortest_missing_advice();
/// lower_bound_advice(), and inner_loop_advice() if there is any.
std::string lower_bound_advice(const score::FunctionRow& row, const causes::HotLines& hot_lines = {});
/// The lines that make an inner loop a probe of its own, and where to put them. Empty: nobody adds them there
/// (score::FunctionRow::markable), or the function is sampled.
std::string inner_loop_advice(const score::FunctionRow& row, const causes::HotLines& hot_lines = {});
/// What to think of a score whose minimum is that of a few calls far below the rest.
std::string minimum_alone_advice();
/// What to think of a score that constant work would have as well (score::at_floor).
std::string floor_advice();
/// floor_advice() with the figure.
std::string floor_advice(const score::FunctionRow& row);
/// What to think of a score if only a sample of the calls was recorded.
std::string sampled_advice();
/// What to think of a score whose loss may be the agent's (score::FunctionRow::maybe_recorder).
std::string maybe_recorder_advice();

/// How each function was sampled, and how sure its figures are; a sentence each.
std::vector<std::string> sampling_details(const score::Report& report);
/// What it means that a pattern's score is a lower bound.
std::string few_patterns_advice();
/// What the marks in the rows of a ranking mean.
std::vector<std::string> mark_legends(std::span<const std::reference_wrapper<const score::FunctionRow>> rows);

}  // namespace rdam::output
