#include "analyzer/output/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "analyzer/output/fields.h"
#include "analyzer/output/lives.h"
#include "analyzer/report/match_reports.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

constexpr double kMostOfLoss = 0.5;

/// Which threads, and how much of the worst one's life. `row`: with the figures.
std::string loss_sentence(const hints::Finding& finding, const score::FunctionRow& row) {
    const std::string mark = score_mark(row);
    // The mark is about the minimum; what the sample leaves open may be more.
    constexpr double kNearly = 0.9;
    const char* const bound = mark != kBoundMark                   ? ""
                              : row.rdam_low >= kNearly * row.rdam ? "at least "
                                                                   : "about ";
    const std::string share = bound + percent(row.rdam);
    const std::string score = fmt::format("score {}{}, 95 %: {}", mark, score_text(row.rdam),
                                          interval_text(row.rdam_low, row.rdam_high));
    if (finding.loser_tids.size() <= 1)
        return fmt::format("{} lost {}, {} of its life ({})",
                           finding.losers.empty() ? "a thread" : finding.losers, human_time(row.lost_ns),
                           share, score);
    return fmt::format("{} lost {}, the worst {} of its life ({})", finding.losers, human_time(row.lost_ns),
                       share, score);
}

std::string concentration_text(const hints::Concentration& part) {
    return part.stands_out()
               ? fmt::format("{} of the loss in {} of the calls", percent(part.lost), percent(part.calls))
               : fmt::format("{} of the loss", percent(part.lost));
}

/// Empty: nothing is known.
std::string where_text(const hints::Finding& finding, Symbols& symbols) {
    const std::string object = finding.object.empty() ? "" : "at " + finding.object;
    const std::string place = finding.place == 0 ? "" : "called from " + place_text(finding, symbols);
    const std::string of_object = concentration_text(finding.at_object);
    const std::string of_place = concentration_text(finding.at_place);
    if (object.empty() && place.empty()) return {};
    if (object.empty()) return fmt::format("{}: {}", place, of_place);
    if (place.empty()) return fmt::format("{}: {}", object, of_object);
    if (of_object == of_place) return fmt::format("{}, {}: {}", object, place, of_place);
    return fmt::format("{}: {}; {}: {}", object, of_object, place, of_place);
}

FindingText finding_text(const hints::Analysis& analysis, const hints::Finding& finding, Symbols& symbols) {
    const score::FunctionRow& row = analysis.report.functions[finding.row];
    const score::FunctionRow& called = analysis.report.functions[finding.called];
    FindingText text;
    text.title =
        fmt::format("{}{}: {}", called.shown, finding.row == finding.called ? "" : " (in " + row.name + ")",
                    loss_sentence(finding, row));
    if (const std::string where = where_text(finding, symbols); !where.empty()) text.lines.push_back(where);
    if (!finding.cause) {
        text.lines.emplace_back("no possible cause is known: too few calls were seen");
        return text;
    }
    text.lines.push_back(finding.cause->text);
    for (const auto& more : {finding.partner, finding.work})
        if (more && more->text != finding.cause->text) text.lines.push_back(more->text);
    if (finding.work) text.lines.emplace_back("this may be work, and no interference");
    // Who was waited for says more than when or where it was.
    const bool named = finding.partner && finding.partner->share >= kMostOfLoss;
    const hints::Hint& by = finding.work ? *finding.work : named ? *finding.partner : *finding.cause;
    std::string advice{hints::advice_on(by.kind)};
    advice.front() = static_cast<char>(std::tolower(advice.front()));
    text.lines.push_back("try: " + advice);
    return text;
}

}  // namespace

std::string place_text(const hints::Finding& finding, Symbols& symbols) {
    return finding.place == 0 ? "" : frame_text(symbols.frames(finding.place).front());
}

std::vector<FindingText> finding_texts(const hints::Analysis& analysis, Symbols& symbols) {
    std::vector<FindingText> texts;
    for (const hints::Finding& finding : analysis.findings.all)
        texts.push_back(finding_text(analysis, finding, symbols));
    return texts;
}

void SharedFindings::add(const hints::Analysis& analysis, Symbols& symbols) {
    const std::size_t process = processes_++;
    add_waits(analysis, process);
    const std::string program = score::program_of(analysis.report);
    threshold_ = analysis.report.threshold;
    has_verdict_ = has_verdict_ || !analysis.findings.verdict.empty();
    for (std::size_t i = 0; i < analysis.findings.all.size(); ++i) {
        const hints::Finding& finding = analysis.findings.all[i];
        const score::FunctionRow& row = analysis.report.functions[finding.row];
        const score::FunctionRow& called = analysis.report.functions[finding.called];
        Candidate& candidate = by_function_[{program, score::qualified_name(called.module, called.name)}];
        SharedFinding& shared = candidate.shared;
        if (shared.processes.empty() || shared.processes.back() != process)
            shared.processes.push_back(process);
        shared.lost_ns += row.lost_ns;
        // Only then, as symbols take their time.
        if (!shared.text.title.empty() && row.lost_ns <= candidate.most_ns) continue;
        candidate.most_ns = row.lost_ns;
        shared.text = finding_text(analysis, finding, symbols);
        shared.process = process;
        shared.finding = i;
        shared.rank = row.rank;
    }
}

void SharedFindings::add_waits(const hints::Analysis& analysis, std::size_t process) {
    const hints::WaitGraph& graph = analysis.waits;
    std::map<std::uint32_t, double> lives;
    for (const score::ThreadRow& thread : analysis.report.threads)
        lives[thread.tid] += thread.duration_ns;
    const double all = std::accumulate(lives.begin(), lives.end(), 0.0,
                                       [](double sum, const auto& life) { return sum + life.second; });
    lives_ns_ += all;
    waited_ns_ += graph.of_lives * all;
    known_ns_ += graph.of_lives * graph.known * all;
    woken_ns_ += graph.of_lives * graph.woken * all;
    const std::vector<std::string> lines = edge_lines(graph);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const hints::WaitEdge& edge = graph.edges[i];
        double waiters = 0;
        for (const std::uint32_t tid : edge.waiter_tids)
            waiters += lives[tid];
        waits_.push_back({process, lines[i], edge.by_design, edge.share * waiters});
    }
    std::ranges::stable_sort(waits_, std::ranges::greater{}, [](const SharedWait& wait) {
        return std::pair{!wait.by_design, wait.waited_ns};
    });
    if (waits_.size() > hints::WaitGraph::kInWords) waits_.resize(hints::WaitGraph::kInWords);
}

std::string SharedFindings::waits_summary() const {
    constexpr double kNextToNothing = 0.0005;
    if (lives_ns_ <= 0 || waited_ns_ / lives_ns_ < kNextToNothing) return {};
    hints::WaitGraph all;
    all.of_lives = waited_ns_ / lives_ns_;
    all.known = known_ns_ / waited_ns_;
    all.woken = woken_ns_ / waited_ns_;
    const std::string worth = waits_.empty() ? std::string{} : fmt::format("; {}", kWorthOfWaits);
    return waits_text(all) + "; of waits for threads of other processes it is never known" + worth;
}

std::vector<SharedFinding> SharedFindings::largest() const {
    std::vector<SharedFinding> all;
    for (const auto& [function, candidate] : by_function_)
        all.push_back(candidate.shared);
    std::ranges::stable_sort(all, std::ranges::greater{}, &SharedFinding::lost_ns);
    if (all.size() > hints::Findings::kMost) all.resize(hints::Findings::kMost);
    return all;
}

std::string SharedFindings::verdict() const {
    if (!by_function_.empty() || !has_verdict_) return {};
    return fmt::format(
        "In none of {} did a recorded function lose {} of a thread's life, except in waits whose purpose is "
        "to wait and where constant work would score as much.",
        counted(processes_, "process", "processes"), percent(threshold_));
}

std::string where_shared(const SharedFinding& finding, const std::string& name) {
    const std::size_t others = finding.processes.size() - 1;
    if (others == 0) return fmt::format("in {} alone", name);
    return fmt::format("in {}, which lost most by it, and in {}: {} in all", name,
                       counted(others, "other process", "other processes"), human_time(finding.lost_ns));
}

}  // namespace rdam::output
