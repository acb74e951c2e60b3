// The tools whose output is read, one file for each: whether a text is the tool's, and its content.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

/// `perf report --stdio` of any event: a report for each event of the text, of grouped ones, which share a
/// table, too.
bool is_perf_events(std::string_view text);
CauseReports parse_perf_events_text(std::string_view text, std::string_view origin);

/// `perf c2c report --stdio`: loads that hit a modified line in another cache (HITM), remote and local, and
/// those answered by a peer's cache (Arm), by the function and source line of the access.
bool is_perf_c2c(std::string_view text);
CauseReports parse_perf_c2c(std::string_view text, std::string_view origin);

/// `perf lock report` and `perf lock contention` (also -b, -l and -v, whose call stacks count as callers):
/// the share of the time waited, or of the number of waits where times are not printed.
bool is_perf_lock(std::string_view text);
CauseReports parse_perf_lock(std::string_view text, std::string_view origin);

/// Coz's profile.coz. A line's share is the slope of the program's speed-up over the line's virtual speed-up,
/// by least squares through the origin, weighted by visits: 1 means that the program gets faster as much as
/// the line does, 0 that the line does not matter. A negative slope (contention) counts as much; `absolute`
/// has the sign. Of several progress points the one with the steepest slope counts.
/// Lines that were sped up by fewer than five amounts, none among them, have no row.
bool is_coz(std::string_view text);
CauseReports parse_coz(std::string_view text, std::string_view origin);

/// What callgrind writes (callgrind.out.PID): a report for each event (Ir, D1mr, DLmr, …), with compressed
/// names and positions, and inclusive costs from the calls= lines.
bool is_callgrind(std::string_view text);
CauseReports parse_callgrind(std::string_view text, std::string_view origin);

/// What DRD and Helgrind print on standard error; the program's own output in between is skipped. With -s
/// repeated errors count as often as they occurred.
bool is_valgrind_text(std::string_view text);
CauseReports parse_valgrind_text(std::string_view text, std::string_view origin);

/// What DRD and Helgrind write with --xml=yes, counts of repeated errors included.
bool is_valgrind_xml(std::string_view text);
CauseReports parse_valgrind_xml(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
