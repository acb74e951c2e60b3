#include "analyzer/hints/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/owners.h"
#include "analyzer/report/ranking.h"
#include "analyzer/sequences/futex_calls.h"
#include "analyzer/sequences/sequence_names.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

/// So much of a loss is taken for the whole.
constexpr double kNearlyWhole = 0.8;

class FindingSearch {
  public:
    FindingSearch(const trace::TraceInfo& info, const score::Report& report,
                  std::span<const FunctionHints> functions, const VariableAt& variable_at)
        : info_(info), report_(report), functions_(functions), variable_at_(variable_at) {}

    Findings result() {
        sort_slow_calls();
        choose_candidates();
        Findings findings;
        for (std::size_t i = 0; i < candidates_.size() && findings.all.size() < Findings::kMost; ++i)
            if (!is_lost_elsewhere(candidates_[i])) findings.all.push_back(finding(candidates_[i]));
        if (findings.all.empty() && !report_.functions.empty()) findings.verdict = verdict();
        return findings;
    }

  private:
    using Row = score::FunctionRow;

    struct Candidate {
        const Row* row = nullptr;
        const Row* called = nullptr;
    };

    bool scores(const Row& row) const { return !row.unknown() && row.rdam >= report_.threshold; }

    /// It has lost something even at the lower end of its interval: of a few bursts in a few windows, a score of
    /// 1 may be one of 0.
    bool is_sure(const Row& row) const {
        constexpr double kLeastPart = 0.25;
        return row.rdam_low >= kLeastPart * report_.threshold;
    }

    bool is_worth_it(const Row& row) const {
        return scores(row) && is_sure(row) && score::says_something(row);
    }

    /// The largest losses first. A lock and its slow path are one, with the figures of the lock if it scores.
    void choose_candidates() {
        constexpr std::size_t kMostLookedAt = 16;
        for (const Row& row : report_.functions) {
            if (!is_worth_it(row)) continue;
            const Row* const called = called_for(row);
            if (!called->by_design.empty()) continue;
            const Candidate candidate{is_worth_it(*called) ? called : &row, called};
            const auto same = std::ranges::find(candidates_, called, &Candidate::called);
            if (same == candidates_.end())
                candidates_.push_back(candidate);
            else if (same->row != called && candidate.row->lost_ns > same->row->lost_ns)
                *same = candidate;
        }
        std::ranges::stable_sort(candidates_, std::ranges::greater{},
                                 [](const Candidate& each) { return each.row->lost_ns; });
        if (candidates_.size() > kMostLookedAt) candidates_.resize(kMostLookedAt);
    }

    /// The function of whose waits these calls are a part; else the row itself.
    const Row* called_for(const Row& row) const {
        constexpr int kDeepest = 4;
        const Row* found = &row;
        for (int depth = 0; depth < kDeepest; ++depth) {
            const Row* const outer = lock_around(*found);
            if (outer == nullptr || outer == &row) break;
            found = outer;
        }
        return found;
    }

    /// The function of the same library that waits, and in which nearly all of the loss is: by the callers, or where
    /// few of those are known, by what the slow calls of that function have lost.
    const Row* lock_around(const Row& row) const {
        const trace::FunctionInfo& inner = info_.functions[row.function];
        if (row.module.empty() || !(inner.waits || inner.busy_waits)) return nullptr;
        for (const Row& outer : report_.functions) {
            const trace::FunctionInfo& function = info_.functions[outer.function];
            if (&outer == &row || function.object != inner.object || known_wait(function) == nullptr)
                continue;
            double share = 0, known = 0;
            for (const score::CallerRow& caller : row.callers) {
                known += caller.share;
                if (trace::is_caller(info_, function, caller.address)) share += caller.share;
            }
            const auto is_inner = [&](std::uint32_t each) { return each == row.function; };
            if (known < 1 - kNearlyWhole && row.lost_ns > 0)
                share = std::min(lost_inside_of(outer, is_inner), 1.0) * outer.lost_ns / row.lost_ns;
            if (share >= kNearlyWhole) return &outer;
        }
        return nullptr;
    }

    // What is lost inside.

    /// A call that lost at least half of its time.
    struct SlowPart {
        std::uint32_t function = 0;
        std::uint64_t begin = 0, end = 0;
        double lost = 0;  ///< ticks
    };

    static double lost_ticks(const score::SlowCall& call) {
        return call.lost * static_cast<double>(call.end - call.begin);
    }

    /// Of functions that score, by thread and begin; those around others first.
    void sort_slow_calls() {
        slow_.resize(report_.threads.size());
        for (const Row& row : report_.functions)
            for (const score::SlowCall& call : row.slow)
                if (scores(row) && call.thread < slow_.size() && call.begin < call.end)
                    slow_[call.thread].push_back({row.function, call.begin, call.end, lost_ticks(call)});
        for (auto& parts : slow_)
            std::ranges::sort(parts, [](const SlowPart& a, const SlowPart& b) {
                return std::pair{a.begin, b.end} < std::pair{b.begin, a.end};
            });
    }

    /// At least half is lost in calls of others that score, those that wait by design included.
    bool is_lost_elsewhere(const Candidate& candidate) const {
        return lost_inside_of(*candidate.row, [&](std::uint32_t function) {
                   return function != candidate.row->function && function != candidate.called->function &&
                          !is_part_of(candidate, function);
               }) >= kMinExplained;
    }

    /// Its slow path.
    bool is_part_of(const Candidate& candidate, std::uint32_t function) const {
        const auto row = std::ranges::find(report_.functions, function, &Row::function);
        return row != report_.functions.end() && called_for(*row) == candidate.called;
    }

    /// The share of what the slow calls of `row` have lost that slow calls of others inside them have lost.
    template <class IsOther>
    double lost_inside_of(const Row& row, const IsOther& is_other) const {
        std::vector<signed char> others(info_.functions.size(), -1);  // not asked yet
        double all = 0, inside = 0;
        for (const score::SlowCall& slow : row.slow) {
            if (slow.thread >= slow_.size()) continue;
            const auto& parts = slow_[slow.thread];
            double lost = 0;
            std::uint64_t counted_until = slow.begin;
            const auto first = std::ranges::lower_bound(parts, slow.begin, {}, &SlowPart::begin);
            for (auto part = first; part != parts.end() && part->begin < slow.end; ++part) {
                const bool around =
                    part->end > slow.end || (part->begin == slow.begin && part->end == slow.end);
                if (around || part->end <= counted_until) continue;
                signed char& other = others[part->function];
                if (other < 0) other = is_other(part->function) ? 1 : 0;
                if (other == 0) continue;
                lost += part->lost;
                counted_until = part->end;
            }
            all += lost_ticks(slow);
            inside += std::min(lost, lost_ticks(slow));
        }
        return all > 0 ? inside / all : 0;
    }

    // What is known of it.

    Finding finding(const Candidate& candidate) const {
        const Row& row = *candidate.row;
        Finding finding{.row = number(row), .called = number(*candidate.called), .losers = {}};
        add_losers(row, finding);
        add_object(row, finding);
        const Row& called = *candidate.called;
        if (!called.callers.empty() && called.callers.front().lost_ns > 0) {
            const score::CallerRow& place = called.callers.front();
            double calls = 0;
            for (const score::CallerRow& each : called.callers)
                calls += static_cast<double>(each.calls);
            finding.place = place.address;
            finding.at_place = {place.share, calls > 0 ? static_cast<double>(place.calls) / calls : 1};
        }
        if (finding.row >= functions_.size()) return finding;
        const Hints& hints = functions_[finding.row].hints;
        if (!hints.empty()) finding.cause = hints.front();
        constexpr double kMuch = 0.3;
        const auto work = std::ranges::find_if(
            hints, [](const Hint& hint) { return may_be_work(hint.kind) && hint.share >= kMuch; });
        if (work != hints.end()) finding.work = *work;
        const auto named = std::ranges::find_if(hints, names_partner, &Hint::kind);
        if (named != hints.end()) {
            finding.partner = *named;
            finding.partner_name = partner_name(*named);
        }
        return finding;
    }

    std::size_t number(const Row& row) const {
        return static_cast<std::size_t>(&row - report_.functions.data());
    }

    void add_losers(const Row& row, Finding& finding) const {
        constexpr double kWorthCounting = 0.05;
        double all = 0, most = 0;
        for (const score::ThreadShare& part : row.threads) {
            all += part.lost_ns;
            most = std::max(most, part.lost_ns);
        }
        std::vector<const score::ThreadRow*> threads;
        for (const score::ThreadShare& part : row.threads)
            if (part.lost_ns > 0 && part.lost_ns >= kWorthCounting * most &&
                (most < kNearlyWhole * all || part.lost_ns == most))
                threads.push_back(&report_.threads[part.thread]);
        for (const score::ThreadRow* thread : threads)
            finding.loser_tids.push_back(thread->tid);
        if (threads.empty()) return;
        std::vector<std::string> names;
        for (const score::ThreadRow* thread : threads)
            if (!thread->name.empty() && std::ranges::find(names, thread->name) == names.end())
                names.push_back(thread->name);
        constexpr std::size_t kFewNames = 3;
        finding.losers = threads.size() == 1
                             ? described_thread(*threads.front())
                             : fmt::format("{} threads{}", grouped(threads.size()),
                                           names.empty() ? "" : " (" + some_names(names, kFewNames) + ")");
    }

    std::string partner_name(const Hint& hint) const {
        if (!hint.concurrent_thread) return {};
        const auto thread =
            std::ranges::find(report_.threads, *hint.concurrent_thread, &score::ThreadRow::tid);
        return thread != report_.threads.end() ? described_thread(*thread) : std::string{};
    }

    /// The value of a key at which nearly all is lost: a lock, a file. Amounts of work are none.
    void add_object(const Row& row, Finding& finding) const {
        const trace::FunctionInfo& function = info_.functions[row.function];
        const bool futexes = sequences::may_use_futexes(function);
        for (const trace::ParameterInfo& parameter : function.parameters) {
            if (!parameter.key || parameter.by_size || parameter.word >= row.sample.words_per_call) continue;
            if (futexes && parameter.word != sequences::kFutexWord) continue;
            struct Sums {
                double lost = 0, calls = 0;
            };
            std::map<std::uint64_t, Sums> by_value;
            Sums all;
            for (std::size_t i = 0; i < row.sample.calls.size(); ++i) {
                const score::ScoredCall& call = row.sample.calls[i];
                // Other system calls are about no futex.
                const bool other =
                    futexes && row.sample.word(i, sequences::kSystemCallWord) != sequences::kFutexCall;
                Sums& sums = by_value[other ? 0 : row.sample.word(i, parameter.word)];
                sums.lost += call.weight * call.lost_ns;
                sums.calls += call.weight;
                all.lost += call.weight * call.lost_ns;
                all.calls += call.weight;
            }
            for (const auto& [value, sums] : by_value) {
                if (!(all.lost > 0) || sums.lost < kNearlyWhole * all.lost) continue;
                if (futexes && value == 0) return;
                const bool pointer = parameter.kind == static_cast<std::uint8_t>(ValueKind::pointer);
                const std::string variable =
                    pointer && !parameter.is_text && variable_at_ ? variable_at_(value) : std::string{};
                finding.object =
                    (futexes ? "futex" : parameter.name) + " " +
                    (variable.empty() ? sequences::shown_value(info_, parameter, value) : variable);
                finding.at_object = {sums.lost / all.lost, sums.calls / all.calls};
                return;
            }
        }
    }

    // Why there is none.

    std::string verdict() const {
        const auto count = [&](const auto& of) {
            return static_cast<std::uint64_t>(std::ranges::count_if(report_.functions, of));
        };
        const bool shown = report_.left_out.functions > 0;
        std::string text = fmt::format("No {} function lost {} of a thread's life",
                                       shown ? "shown" : "recorded", output::percent(report_.threshold));
        const std::uint64_t by_design =
            count([&](const Row& row) { return scores(row) && !row.by_design.empty(); });
        if (by_design > 0 || !candidates_.empty()) text += ", except in waits whose purpose is to wait";
        if (const std::uint64_t at_floor =
                count([&](const Row& row) { return scores(row) && score::at_floor(row); });
            at_floor > 0)
            text += fmt::format("; {} as much, but constant work would, too",
                                counted(at_floor, "function scores", "functions score"));
        text += ".";
        if (const std::uint64_t unsure = count(
                [&](const Row& row) { return scores(row) && !is_sure(row) && score::says_something(row); });
            unsure > 0)
            text += fmt::format(" The {} higher, but may be nearly 0 by {}: too few of the calls were seen.",
                                unsure == 1 ? "score of 1 function is"
                                            : fmt::format("scores of {} functions are", grouped(unsure)),
                                unsure == 1 ? "its interval" : "their intervals");
        if (const std::uint64_t bounds = count([&](const Row& row) {
                return !row.unknown() && row.lower_bound && !scores(row) && score::says_something(row) &&
                       row.rdam_high >= report_.threshold;
            });
            bounds > 0)
            text += fmt::format(" The {} lower {}, and may be as high.",
                                bounds == 1 ? "score of 1 function is a"
                                            : fmt::format("scores of {} functions are", grouped(bounds)),
                                bounds == 1 ? "bound" : "bounds");
        if (const std::uint64_t unknown = count([](const Row& row) { return row.unknown(); }); unknown > 0)
            text += fmt::format(" {} could not be scored.", counted(unknown, "function", "functions"));
        return text + waits_by_design() + coverage();
    }

    /// Σ times of its calls, as a share of all lives.
    double share_of_lives(const Row& row) const {
        const double calls = static_cast<double>(row.sampled ? row.occurrences : row.outermost);
        return report_.threads_ns > 0 ? std::min(calls * row.mean_ns / report_.threads_ns, 1.0) : 0;
    }

    std::string waits_by_design() const {
        constexpr double kMuch = 0.5;
        const Row* most = nullptr;
        for (const Row& row : report_.functions)
            if (!row.by_design.empty() && (most == nullptr || share_of_lives(row) > share_of_lives(*most)))
                most = &row;
        if (most == nullptr || share_of_lives(*most) < kMuch) return {};
        const Row& called = *called_for(*most);
        return fmt::format(" For {} of their lives, the threads waited by design, in {}(): {}.",
                           output::percent(share_of_lives(*most)), called.name, most->by_design);
    }

    /// Of all threads together.
    std::string coverage() const {
        constexpr double kLittle = 0.5, kAll = 0.995;
        double least = 0, most = 0, lives = 0;
        for (const score::ThreadRow& thread : report_.threads) {
            least += thread.recorded_low * thread.duration_ns;
            most += thread.recorded_high * thread.duration_ns;
            lives += thread.duration_ns;
        }
        const bool open = most >= kAll * lives || report_.left_out.functions > 0;
        if (lives <= 0 || (least <= 0 && open)) return {};
        const std::string from = output::percent(least / lives), to = output::percent(most / lives);
        if (open)
            return fmt::format(" Recorded calls cover {} of the threads' lives{}.", from,
                               least < kAll * lives ? " or more" : "");
        return fmt::format(" Recorded calls cover {} of the threads' lives{}.",
                           from == to ? from : from + " to " + to,
                           most < kLittle * lives ? "; rdam hot lists where the rest is spent" : "");
    }

    const trace::TraceInfo& info_;
    const score::Report& report_;
    const std::span<const FunctionHints> functions_;
    const VariableAt& variable_at_;
    std::vector<Candidate> candidates_;
    std::vector<std::vector<SlowPart>> slow_;  ///< by thread
};

}  // namespace

Findings find_findings(const trace::TraceInfo& info, const score::Report& report,
                       std::span<const FunctionHints> functions, const VariableAt& variable_at) {
    return FindingSearch{info, report, functions, variable_at}.result();
}

}  // namespace rdam::hints
