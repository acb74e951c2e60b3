#include "analyzer/causes/thread_errors.h"

#include <set>

#include "tools/base/text_lines.h"

namespace rdam::causes {
namespace {

/// valgrind's stand-ins for the functions of pthreads and malloc.
bool is_valgrinds(const ErrorFrame& frame) {
    return frame.object.find("/vgpreload_") != std::string::npos;
}

RowSums::Place place_of(const ErrorFrame& frame) {
    // A stand-in is where the function is that was called, in whatever library that is.
    return {.function = std::string{without_version(frame.function)},
            .module = is_valgrinds(frame) ? std::string{} : frame.object,
            .file = {}};
}

}  // namespace

void ThreadErrors::Kind::add(const std::vector<ErrorStack>& stacks, double amount) {
    std::set<RowSums::Place> own;
    std::set<RowSums::Place> around;
    for (const ErrorStack& stack : stacks) {
        bool inside = true;
        for (const ErrorFrame& frame : stack) {
            if (frame.function.empty()) continue;
            const bool innermost = inside && !is_valgrinds(frame);
            (innermost ? own : around).insert(place_of(frame));
            if (innermost) inside = false;
        }
    }
    for (const RowSums::Place& place : own) {
        sums.add_own(place, amount);
        around.erase(place);
    }
    for (const RowSums::Place& place : around)
        sums.add_callees(place, amount);
    total += amount;
}

CauseReport ThreadErrors::report_of(const Kind& kind, std::string label, std::string unit) const {
    CauseReport report{
        .tool = tool_, .label = std::move(label), .unit = std::move(unit), .file = {}, .rows = {}};
    report.total = kind.total;
    report.rows = kind.sums.rows(kind.total);
    return report;
}

std::vector<CauseReport> ThreadErrors::reports() const {
    std::vector<CauseReport> reports{report_of(conflicts_, "conflicts", "errors")};
    if (holds_.total > 0) reports.push_back(report_of(holds_, "held locks", "ms"));
    return reports;
}

std::string_view without_version(std::string_view function) {
    // Rust and C++ names have no @.
    return function.substr(0, function.find('@', 1));
}

double held_milliseconds(std::string_view what) {
    constexpr std::string_view kHeld = " was held during ";
    const auto at = what.find(kHeld);
    if (!what.starts_with("Lock on ") || at == std::string_view::npos) return -1;
    const auto words = words_of(what.substr(at + kHeld.size()), 3);
    if (words.size() < 2 || words[1] != "ms") return -1;
    return amount_in(words[0]).value_or(-1);
}

}  // namespace rdam::causes
