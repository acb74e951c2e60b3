#include "analyzer/output/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "analyzer/output/comparison.h"
#include "analyzer/output/drawing.h"
#include "analyzer/output/field_table.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/ranked_rows.h"
#include "analyzer/output/table.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

/// A function's callers with smaller shares are summed up, except for the first caller.
constexpr double kSmallShare = 0.05;

std::string function_name(const score::FunctionRow& row) {
    return printable(row.shown);
}

/// Of a C++ template's name in a line.
constexpr std::size_t kWidestInLine = 100;

std::string frame_in_a_line(StackFrame frame) {
    frame.function = shortened_name(printable(frame.function), kWidestInLine);
    return printable(frame_text(frame));
}

class TextWriter {
  public:
    TextWriter(const hints::Analysis& analysis, Symbols& symbols, const TextOptions& options,
               const causes::HotLines& hot_lines)
        : analysis_(analysis),
          report_(analysis.report),
          symbols_(symbols),
          options_(options),
          hot_lines_(hot_lines),
          style_(options.color) {
        rows_ = score::by_rank(report_.functions, options.top);
        std::vector<std::string> names;
        for (const score::FunctionRow& row : rows_)
            names.push_back(function_name(row));
        std::vector<std::string> titles = shortened_apart(names, kWidestNameCell);
        for (std::size_t i = 0; i < names.size(); ++i)
            titles_[names[i]] = std::move(titles[i]);
        for (const score::FunctionRow& row : report_.functions)
            if (row.name.size() > kWidestInLine) long_names_.push_back(row.name);
        // A name may be a part of another one.
        std::ranges::sort(long_names_, std::greater{}, &std::string::size);
    }

    std::string write() {
        findings();
        first_threads();
        functions();
        const std::string first = std::exchange(out_, {});
        if (options_.histogram) histograms();
        if (options_.threads) threads();
        if (options_.sequences) sequences();
        waits();
        function_hints();
        patterns();
        stacks();
        // Last, for what the symbols say depends on what they were asked.
        const std::string rest = std::exchange(out_, {});
        const std::vector<std::string> warned = warnings(report_);
        other_notes(warned.size());
        const std::string notes = std::exchange(out_, {});
        header(warned);
        return out_ + first + notes + rest;
    }

  private:
    void line(std::string_view text = {}) { out_.append(text).append("\n"); }

    /// Words, on as many lines as they take. `first` indents them.
    void words(const std::string& text, std::string_view first) {
        for (const std::string& part : paragraph(text, options_.width, first))
            line(part);
    }

    /// With the names of functions as long as in the lines around it.
    std::string in_a_line(std::string text) const {
        for (const std::string& name : long_names_)
            for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
                const std::string shorter = shortened_name(name, kWidestInLine);
                text.replace(at, name.size(), shorter);
                at += shorter.size();
            }
        return printable(text);
    }

    void header(const std::vector<std::string>& warned) {
        const std::string command = printable(command_text(report_.process.command));
        line(style_.bold(command.empty() ? "(unknown program)" : command));
        line(fmt::format("{}, {}, {}; {}", human_time(report_.duration_ns), threads_text(report_),
                         counted(report_.events, "event", "events"), recording_cost(report_)));
        if (const std::string states = thread_states(report_); !states.empty()) words(states, "");
        const score::Report* const report = &report_;
        if (const std::string settings = settings_line({&report, 1}); !settings.empty())
            line(printable(settings));
        for (const std::string& note : warned)
            line(style_.notable("note: " + printable(note)));
        line();
    }

    /// The notes behind the first ones, which are warnings.
    void other_notes(std::size_t first) {
        const std::vector<std::string> all = notes(report_, symbols_);
        const std::vector<std::string> details =
            options_.verbose ? sampling_details(report_) : std::vector<std::string>{};
        if (first >= all.size() && details.empty()) return;
        section("Notes");
        for (const std::string& note : std::span{all}.subspan(first))
            words(printable(note), "  ");
        for (const std::string& detail : details)
            words(printable(detail), "  ");
    }

    void findings() {
        const std::vector<FindingText> found = finding_texts(analysis_, symbols_);
        const std::string& verdict = analysis_.findings.verdict;
        if (found.empty() && verdict.empty()) return;
        line(style_.bold("Findings"));
        if (found.empty()) words(printable(verdict), "  ");
        for (const FindingText& each : found) {
            words(in_a_line(each.title), fmt::format("  {}. ", &each - found.data() + 1));
            for (const std::string& text : each.lines)
                words(in_a_line(text), "     ");
        }
        line();
    }

    void functions() {
        if (rows_.empty()) {
            line("No calls to wrapped functions were recorded.");
            return;
        }
        FieldTable table{function_fields(), kWidestNameCell, 3};
        for (const score::FunctionRow& row : rows_)
            table.add(row, name_with_reason(function_name(row), row.by_design, options_),
                      score_bar(row, options_));
        std::string left_out;
        const auto lines = function_lines(table.table(), options_, left_out);
        for (const std::string& text : ranked_lines(lines, rows_, options_.threshold, style_))
            line(text);
        if (rows_.size() < report_.functions.size())
            line(style_.faint(hidden_rows(report_.functions.size() - rows_.size())));
        if (!left_out.empty()) line(style_.faint(left_out));
        line();
        const bool any_high = std::ranges::any_of(report_.functions, [&](const score::FunctionRow& row) {
            return !row.unknown() && row.rdam >= options_.threshold;
        });
        line(fmt::format("score: {}; look at scores from {:.2f}.{}",
                         score_in_words(report_.comparison.baseline), options_.threshold,
                         any_high ? "" : " None here is as high."));
        line(interval_advice());
        for (const std::string& legend : table.legends(lines.front()))
            line(legend);
        for (const std::string& legend : mark_legends(rows_))
            line(legend);
    }

    /// A number of calls of the function.
    static std::string count(const score::FunctionRow& row, std::uint64_t calls) {
        return (row.sampled ? "~" : "") + grouped(calls);
    }

    void histograms() {
        section("Durations (both axes logarithmic)");
        for (const std::string& text : histogram_lines(rows_, options_))
            line(text);
    }

    const std::string& title(const score::FunctionRow& row) { return titles_[function_name(row)]; }

    void section(std::string_view title) {
        line();
        line(style_.bold(title));
    }

    void print_table(const Table& table) {
        for (const std::string& text : table.lines(2))
            line(text);
    }

    /// Those to look at first, above the ranking.
    void first_threads() {
        constexpr std::size_t kFirst = 4;
        if (options_.threads || !lives_known(analysis_)) return;
        std::vector<std::size_t> order = threads_to_look_at(analysis_);
        const std::size_t more = order.size() - std::min(order.size(), kFirst);
        order.resize(order.size() - more);
        line(style_.bold("Threads"));
        print_lives(order);
        if (more > 0) line(style_.faint(fmt::format("  … {} more (--threads shows all)", more)));
        line();
    }

    void print_lives(const std::vector<std::size_t>& threads) {
        const std::vector<Field<Life>> fields = life_fields(analysis_);
        FieldTable<Life> lives{fields};
        for (const std::size_t thread : threads)
            lives.add(life_of(analysis_, thread), printable(report_.threads[thread].name));
        for (const std::string& text : lives.table().lines(2, options_.width))
            line(text);
    }

    void threads() {
        section("Threads");
        std::vector<std::size_t> all(report_.threads.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        print_lives(all);
        for (const score::FunctionRow& row : rows_) {
            section(title(row) + ", by thread");
            FieldTable table{thread_fields()};
            for (const score::ThreadShare& part : row.threads) {
                const score::ThreadRow& thread = report_.threads[part.thread];
                table.add({part, thread}, printable(thread.name));
            }
            print_table(table.table());
        }
    }

    void sequences() {
        for (const score::FunctionRow& row : rows_) {
            section(title(row) + ", by sequence");
            constexpr std::size_t kWidestSequence = 100;
            FieldTable table{sequence_fields(), kWidestSequence};
            const std::size_t shown = std::min(row.sequences.size(), options_.max_sequences);
            for (const score::SequenceRow& part : std::span{row.sequences}.first(shown))
                table.add(part, sequence_name(part));
            if (shown > 0) print_table(table.table());
            unlisted_sequences(row, shown);
            for (std::size_t i = 0; i < shown; ++i)
                sequence_hints(row.sequences[i], analysis_.of(row).of_sequence(i));
        }
    }

    void sequence_hints(const score::SequenceRow& part, std::span<const hints::Hint> found) {
        if (found.empty()) return;
        line("  " + sequence_name(part) + ": possible causes");
        for (const hints::Hint& hint : found)
            line("    " + in_a_line(hint.text));
    }

    std::string sequence_name(const score::SequenceRow& row) {
        if (row.caller == 0) return printable(row.name);
        return printable(row.name + " called from " + frame_text(symbols_.frames(row.caller).front()));
    }

    void unlisted_sequences(const score::FunctionRow& row, std::size_t shown) {
        if (shown < row.scored_sequences) {
            line(style_.faint(fmt::format("  … {} more (--json lists them)", row.scored_sequences - shown)));
        }
        if (row.single_sequences > 0) {
            line(style_.faint(
                fmt::format("  {} only once in a thread: no score",
                            counted(row.single_sequences, "sequence occurs", "sequences occur"))));
        }
    }

    void waits() {
        const std::vector<std::string> lines = wait_lines(analysis_.waits);
        if (!lines.empty()) section("Who waits for whom");
        for (const std::string& text : lines)
            words(in_a_line(text), "  ");
    }

    void function_hints() {
        bool titled = false;
        for (const score::FunctionRow& row : rows_) {
            const bool seen_rarely = row.few_occurrences && row.rdam_high >= options_.threshold;
            const std::string loop = seen_rarely ? inner_loop_advice(row, hot_lines_) : std::string{};
            const hints::Hints& found = analysis_.of(row).hints;
            if (found.empty() && loop.empty()) continue;
            if (!titled) section("Possible causes");
            titled = true;
            line("  " + title(row));
            for (const hints::Hint& hint : found)
                words(in_a_line(hint.text), "    ");
            if (!loop.empty()) line("    its sequences were seen only a few times: " + printable(loop));
        }
    }

    void patterns() {
        if (!report_.all_patterns) return;
        section("Patterns");
        if (report_.patterns.empty()) return line("  none: no two consecutive calls repeat");
        constexpr std::size_t kWidestPattern = 100;
        FieldTable table{pattern_fields(), kWidestPattern};
        const std::vector<score::PatternRow> shown = units();
        for (const score::PatternRow& row : shown)
            table.add({row, report_.threads[row.thread]}, printable(row.name));
        print_table(table.table());
        if (shown.size() < *report_.all_patterns) {
            line(style_.faint(
                fmt::format("  … {} more{}", *report_.all_patterns - shown.size(),
                            shown.size() < report_.patterns.size() ? " (--json lists them)" : "")));
        }
        pattern_reservations(shown);
    }

    /// A pattern that repeats occurs twice, four times, eight times in a row: of those the one that lost
    /// most.
    std::vector<score::PatternRow> units() const {
        std::vector<score::PatternRow> rows;
        for (const score::PatternRow& row : report_.patterns) {
            const bool known = std::ranges::any_of(rows, [&](const score::PatternRow& before) {
                return before.thread == row.thread && before.unit == row.unit;
            });
            if (rows.size() == options_.max_sequences) break;
            if (!known) rows.push_back(row);
        }
        return rows;
    }

    void pattern_reservations(std::span<const score::PatternRow> shown) {
        const bool few =
            std::ranges::any_of(shown, [](const auto& row) { return row.lower_bound && !row.minimum_alone; });
        const bool alone = std::ranges::any_of(shown, &score::PatternRow::minimum_alone);
        if (few || alone) line();
        if (few) line("  ≥: " + few_patterns_advice());
        if (alone) line("  !: " + minimum_alone_advice());
    }

    void stacks() {
        bool titled = false;
        for (const score::FunctionRow& row : rows_) {
            if (row.stacks.empty() && row.callers.empty()) continue;
            if (!titled) section("Callers and call stacks");
            titled = true;
            line("  " + title(row));
            if (row.callers.empty()) {
                line("    caller unknown");
                frames(row.stacks.front().frames, row.stacks.front().truncated);
            } else {
                callers(row);
            }
        }
    }

    void callers(const score::FunctionRow& row) {
        std::size_t shown = 0;
        double share = 0;
        for (const score::CallerRow& each : row.callers) {
            if (shown == options_.max_callers || (shown > 0 && each.share < kSmallShare)) break;
            caller(row, each);
            share += each.share;
            ++shown;
        }
        if (shown == row.callers.size()) return;
        const std::string rest =
            row.lost_ns > 0 ? fmt::format(", {} of the lost time", percent(std::max(1 - share, 0.0))) : "";
        line(style_.faint(fmt::format("    … {} more{}", row.callers.size() - shown, rest)));
    }

    void caller(const score::FunctionRow& row, const score::CallerRow& caller) {
        const score::StackRow* commonest = nullptr;
        std::uint64_t samples = 0;
        std::size_t shared = 0;
        for (const score::StackRow& stack : row.stacks) {
            if (stack.caller != caller.address) continue;
            if (commonest == nullptr) {
                commonest = &stack;
                shared = stack.frames.size();
            }
            samples += stack.samples;
            const auto parting = std::ranges::mismatch(commonest->frames, stack.frames).in1;
            shared = std::min(shared, static_cast<std::size_t>(parting - commonest->frames.begin()));
        }
        std::string text = row.lost_ns > 0 ? percent(caller.share) + " of the lost time, " : "";
        text += fmt::format("{} of {} calls", count(row, caller.calls), occurrences_text(row));
        if (commonest == nullptr) {
            line(fmt::format("    {}; no stack was sampled", text));
            return frames({&caller.address, 1}, false);
        }
        line(fmt::format("    {}; {}", text, counted(samples, "sample", "samples")));
        frames(commonest->frames, commonest->truncated, shared,
               fmt::format("then, in {} of these samples:", grouped(commonest->samples)));
    }

    /// `parting`: what is said behind the first `shared` of them.
    void frames(std::span<const std::uint64_t> addresses, bool truncated, std::size_t shared = SIZE_MAX,
                const std::string& parting = {}) {
        std::vector<std::string> texts;
        std::size_t said_at = SIZE_MAX;
        for (const std::uint64_t address : addresses) {
            if (shared-- == 0) said_at = texts.size();
            for (const StackFrame& frame : symbols_.frames(address))
                texts.push_back(frame_in_a_line(frame));
            if (texts.size() > options_.max_frames) break;
        }
        const bool more = texts.size() > options_.max_frames;
        if (more) texts.resize(options_.max_frames);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (i == said_at) line(style_.faint("      " + parting));
            line("      " + texts[i]);
        }
        if (more || truncated)
            line(style_.faint(more ? "      …" : "      … (the rest of the stack was not copied)"));
    }

    const hints::Analysis& analysis_;
    const score::Report& report_;
    Symbols& symbols_;
    const TextOptions& options_;
    const causes::HotLines& hot_lines_;
    Style style_;
    std::vector<std::reference_wrapper<const score::FunctionRow>> rows_;
    std::map<std::string, std::string> titles_;  ///< of the functions by their names
    std::vector<std::string> long_names_;        ///< of functions, the longest first
    std::string out_;
};

}  // namespace

std::string to_text(const hints::Analysis& analysis, Symbols& symbols, const TextOptions& options,
                    const causes::CrossCheck& check) {
    const std::string text = TextWriter{analysis, symbols, options, check.hot_lines}.write();
    return check.reports.empty() ? text : text + "\n" + causes_text(check, options);
}

}  // namespace rdam::output
