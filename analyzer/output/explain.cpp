// `rdam explain`: what an analysis found, for a ticket, and for programs that read it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "analyzer/output/fields.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

constexpr std::size_t kMostRows = 5;
/// Bytes of a line, or of a text in JSON, by how much there is to be said: the first with which everything fits.
constexpr std::size_t kLongestLines[] = {2048, 1024, 640, 400, 240};
/// Bytes of a command.
constexpr std::size_t kLongestCommand = 240;

std::string shortened_word(const std::string& word, std::size_t most) {
    std::string out = word;
    for (std::size_t columns = most; out.size() > most; columns -= columns / 4)
        out = shortened_name(word, columns);
    return out;
}

/// Names lack their middle where they are so long that little else of the line would be left.
std::string with_short_names(const std::string& text, std::size_t most) {
    std::string out;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        out += shortened_word(text.substr(begin, end - begin), most);
        if (end < text.size()) out += ' ';
        begin = end + 1;
    }
    return out;
}

/// Whole sentences, or if they are long whole words, in at most `most` bytes.
std::string beginning_of(const std::string& text, std::size_t most) {
    constexpr std::string_view kMark = " …";
    const std::size_t room = most - kMark.size();
    std::size_t end = std::string::npos;
    for (const std::string_view sentence : {". ", "; ", ": "}) {
        const std::size_t at = text.rfind(sentence, room - 1);
        if (at != std::string::npos && at >= room / 2 && (end == std::string::npos || at + 1 > end))
            end = at + 1;
    }
    if (end == std::string::npos) end = text.rfind(' ', room);
    return text.substr(0, end) + std::string{kMark};
}

/// In at most `most` bytes.
std::string bounded(std::string_view text, std::size_t most) {
    // What is cut off anyway must not cost the time of looking at it.
    const std::size_t at_end = 4 * most;
    const std::string ends =
        text.size() <= 2 * at_end
            ? std::string{text}
            : std::string{text.substr(0, at_end)}.append(text.substr(text.size() - at_end));
    const std::string whole = printable(ends);
    if (whole.size() <= most) return whole;
    // Names have the room that they need beside the words.
    std::string names;
    for (std::size_t longest = most; longest >= most / 4; longest -= longest / 8) {
        names = with_short_names(whole, longest);
        if (names.size() <= most) return names;
    }
    return beginning_of(names, most);
}

void bound_texts(Json& json, std::size_t most) {
    if (json.is_string()) json = bounded(json.get_ref<const std::string&>(), most);
    if (json.is_structured())
        for (Json& each : json)
            bound_texts(each, most);
}

/// More digits would take the room of others.
Json short_share(double share) {
    constexpr double kSteps = 1e4;
    return finite(std::round(share * kSteps) / kSteps);
}

/// As text in Markdown: nothing in it is markup.
std::string escaped(std::string_view text) {
    std::string out;
    bool in_word = false;
    for (const char c : text) {
        const bool markup = std::string_view{"\\`*[]<>|~#"}.find(c) != std::string_view::npos;
        if (markup || (c == '_' && !in_word)) out += '\\';
        out += c;
        in_word = c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    }
    return out;
}

std::string as_code(const std::string& text) {
    std::string fence = "`";
    while (text.find(fence) != std::string::npos)
        fence += '`';
    return fence + text + fence;
}

/// The commands that print the same.
class Commands {
  public:
    explicit Commands(const ExplainOptions& options) : options_(options) {}

    std::string with(const std::vector<std::string>& more) const {
        std::vector<std::string> words{"rdam", "analyze"};
        words.insert(words.end(), options_.options.begin(), options_.options.end());
        words.insert(words.end(), more.begin(), more.end());
        words.push_back(options_.trace);
        std::string text = printable(command_text(words));
        if (text.size() <= kLongestCommand) return text;
        words.assign({"rdam", "analyze"});
        words.insert(words.end(), more.begin(), more.end());
        return printable(command_text(words)) + " … TRACE";
    }

    /// Of a name that cannot be typed, the ranking as far as the function.
    std::string about(const score::FunctionRow& row) const {
        constexpr std::size_t kLongestName = 100;
        const std::string& name = row.shown;
        const bool typed = name.size() <= kLongestName && name.find_first_of("*?") == std::string::npos &&
                           printable(name) == name;
        return typed ? with({"--function", name}) : with({"--top", fmt::format("{}", row.rank)});
    }

  private:
    const ExplainOptions& options_;
};

class Explanation {
  public:
    Explanation(const hints::Analysis& analysis, Symbols& symbols, const ExplainOptions& options)
        : analysis_(analysis), report_(analysis.report), symbols_(symbols), commands_(options) {
        threads_ = threads_to_look_at(analysis);
        if (threads_.size() > kMostRows) threads_.resize(kMostRows);
        life_ = life_fields(analysis);
        edges_ = wait_lines(analysis.waits);
        rows_ = score::by_rank(report_.functions, kMostRows);
        texts_ = finding_texts(analysis, symbols);
        warnings_ = warnings(report_);
        notes_ = notes(report_, symbols);
        notes_.erase(notes_.begin(), notes_.begin() + static_cast<std::ptrdiff_t>(warnings_.size()));
    }

    std::string markdown() {
        for (const std::size_t longest : kLongestLines) {
            longest_ = longest;
            lines_.clear();
            write();
            if (length() <= kMaxExplanation) break;
        }
        return within_bounds();
    }

    std::string json() const {
        const Json all = everything();
        for (const std::size_t longest : kLongestLines) {
            Json bound = all;
            bound_texts(bound, longest);
            if (longest == kLongestLines[std::size(kLongestLines) - 1] ||
                text_of(bound).size() <= kMaxExplanation)
                return without_the_last(std::move(bound));
        }
        return {};
    }

  private:
    void write() {
        line("# " + escaped(bounded(program(), longest_)));
        line();
        line(escaped(fmt::format("{}, {}, {}; {}", human_time(report_.duration_ns), threads_text(report_),
                                 counted(report_.events, "event", "events"), recording_cost(report_))));
        for (const std::string& warning : warnings_)
            item("note: " + warning);
        findings();
        threads();
        if (!edges_.empty()) {
            section("Who waits for whom", commands_.with({}));
            for (const std::string& edge : edges_)
                item(edge);
        }
        ranking();
        if (!notes_.empty()) section("Reservations", commands_.with({}));
        for (const std::string& note : notes_)
            item(note);
    }

    Json everything() const {
        Json out{
            {"program", program()},
            {"duration_ns", nanoseconds(report_.duration_ns)},
            {"warnings", warnings_},
            {"verdict", analysis_.findings.verdict},
            {"findings", Json::array()},
            {"threads", {{"command", commands_.with({"--threads"})}, {"in_all", report_.threads.size()}}},
            {"waits", {{"command", commands_.with({})}, {"texts", edges_}}},
            {"functions", {{"command", ranking_command()}, {"in_all", report_.functions.size()}}},
            {"reservations", {{"command", commands_.with({})}, {"texts", notes_}}},
            {"left_out", 0}};
        for (const hints::Finding& finding : analysis_.findings.all) {
            out["findings"].push_back(finding_json(analysis_, finding, symbols_));
            out["findings"].back()["command"] = commands_.about(report_.functions[finding.row]);
        }
        add_threads(out["threads"]["rows"] = Json::array());
        add_functions(out["functions"]["rows"] = Json::array());
        return out;
    }

    struct Line {
        std::string text;
        bool counts = true;  ///< where it is left out
    };

    void line(std::string text = {}) {
        const bool counts = !text.empty();
        lines_.push_back({std::move(text) + "\n", counts});
    }
    void item(const std::string& text) { line("- " + escaped(bounded(text, longest_))); }
    void section(std::string_view title, const std::string& command) {
        line();
        line(fmt::format("## {}", title));
        line();
        line(as_code(command));
        line();
    }

    std::string program() const {
        const std::string command = command_text(report_.process.command);
        return command.empty() ? "(unknown program)" : command;
    }

    void findings() {
        line();
        line("## Findings");
        line();
        if (texts_.empty())
            line(escaped(bounded(analysis_.findings.verdict.empty()
                                     ? "No calls to wrapped functions were recorded."
                                     : analysis_.findings.verdict,
                                 longest_)));
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            line(fmt::format("{}. {}", i + 1, escaped(bounded(texts_[i].title, longest_))));
            for (const std::string& text : texts_[i].lines)
                line("   - " + escaped(bounded(text, longest_)));
            line("   - " + as_code(commands_.about(report_.functions[analysis_.findings.all[i].row])));
        }
    }

    /// Of a thread's life, the figure of life_fields() that has this key.
    double share_of(std::size_t thread, std::string_view key) const {
        const auto field = std::ranges::find(life_, key, &Field<Life>::key);
        return field == life_.end() ? 0 : field->value(life_of(analysis_, thread));
    }
    bool states_known_of(std::size_t thread) const {
        return states_known(report_) && report_.threads[thread].off_cpu.has_value();
    }
    /// Null: for nobody, or it is not known.
    const hints::ThreadWait* wait_of(std::size_t thread) const {
        const auto& waits = analysis_.waits.of_threads;
        return thread < waits.size() && waits[thread].share > 0 ? &waits[thread] : nullptr;
    }

    void threads() {
        if (threads_.empty()) return;
        section("Threads", commands_.with({"--threads"}));
        if (const std::string states = thread_states(report_); !states.empty()) item(states);
        for (const std::size_t thread : threads_) {
            const score::ThreadRow& row = report_.threads[thread];
            std::string text =
                fmt::format("{} {}: lives for {}", tid_text(row), row.name, human_time(row.duration_ns));
            if (states_known_of(thread))
                text += fmt::format(
                    ", runs for {} of it, waits for {}, is preempted for {}{}",
                    percent(share_of(thread, "running")), percent(share_of(thread, "waiting")),
                    percent(share_of(thread, "preempted")), by_others_text(share_of(thread, "by_others")));
            if (const hints::ThreadWait* wait = wait_of(thread))
                text += fmt::format(", waits most for {}, {}", wait->owners, percent(wait->share));
            item(text);
        }
        if (threads_.size() < report_.threads.size())
            item(fmt::format("{} more", report_.threads.size() - threads_.size()));
    }

    void add_threads(Json& rows) const {
        for (const std::size_t thread : threads_) {
            const score::ThreadRow& row = report_.threads[thread];
            rows.push_back(
                {{"tid", row.tid}, {"name", row.name}, {"duration_ns", nanoseconds(row.duration_ns)}});
            for (const char* const state : {"running", "waiting", "preempted", "by_others"})
                if (states_known_of(thread)) rows.back()[state] = short_share(share_of(thread, state));
            if (const hints::ThreadWait* wait = wait_of(thread))
                rows.back()["waits_most_for"] = {{"owners", wait->owners},
                                                 {"share", short_share(wait->share)}};
        }
    }

    std::string ranking_command() const { return commands_.with({"--top", fmt::format("{}", kMostRows)}); }

    void ranking() {
        if (rows_.empty()) return;
        section("Ranking", ranking_command());
        for (const score::FunctionRow& row : rows_)
            item(fmt::format(
                "{}: {}{}", row.shown,
                row.unknown() ? "no score"
                              : fmt::format("score {}{}, 95 %: {}, {} lost in {} calls", score_mark(row),
                                            score_text(row.rdam), interval_text(row.rdam_low, row.rdam_high),
                                            human_time(row.lost_ns), occurrences_text(row)),
                row.by_design.empty() ? "" : ", waits by design: " + row.by_design));
        if (rows_.size() < report_.functions.size())
            item(fmt::format("{} more", report_.functions.size() - rows_.size()));
        for (const std::string& legend : mark_legends(rows_))
            item(legend);
    }

    void add_functions(Json& rows) const {
        for (const score::FunctionRow& row : rows_)
            rows.push_back({{"name", row.name},
                            {"module", row.module},
                            {"rdam", row.no_score ? Json{} : short_share(row.rdam)},
                            {"rdam_low", short_share(row.rdam_low)},
                            {"rdam_high", short_share(row.rdam_high)},
                            {"lower_bound", row.lower_bound},
                            {"lost_ns", nanoseconds(row.lost_ns)},
                            {"by_design", row.by_design}});
    }

    /// Of the lines from a place on.
    std::size_t length(std::size_t from = 0) const {
        return std::accumulate(lines_.begin() + static_cast<std::ptrdiff_t>(from), lines_.end(),
                               std::size_t{0},
                               [](std::size_t sum, const Line& each) { return sum + each.text.size(); });
    }

    std::string within_bounds() const {
        constexpr std::size_t kLastLine = 80;
        std::string out;
        std::size_t next = 0;
        for (; next < lines_.size(); ++next) {
            const bool fits = out.size() + lines_[next].text.size() + kLastLine <= kMaxExplanation;
            if (!fits && out.size() + length(next) > kMaxExplanation) break;
            out += lines_[next].text;
        }
        const auto left_out = static_cast<std::uint64_t>(
            std::count_if(lines_.begin() + static_cast<std::ptrdiff_t>(next), lines_.end(),
                          [](const Line& each) { return each.counts; }));
        if (left_out > 0) out += fmt::format("\n({} left out)\n", counted(left_out, "line is", "lines are"));
        return out;
    }

    static std::string text_of(const Json& out) {
        return printable_json(out.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
    }

    /// Drops rows from the least important list on.
    static std::string without_the_last(Json out) {
        using Pointer = Json::json_pointer;
        const Pointer lists[] = {Pointer{"/reservations/texts"}, Pointer{"/functions/rows"},
                                 Pointer{"/threads/rows"},       Pointer{"/waits/texts"},
                                 Pointer{"/findings"},           Pointer{"/warnings"}};
        std::string found = text_of(out);
        std::size_t left_out = 0;
        for (const Pointer& list : lists)
            while (found.size() > kMaxExplanation && !out[list].empty()) {
                out[list].erase(out[list].size() - 1);
                out["left_out"] = ++left_out;
                found = text_of(out);
            }
        return found;
    }

    const hints::Analysis& analysis_;
    const score::Report& report_;
    Symbols& symbols_;
    Commands commands_;
    std::vector<std::size_t> threads_;  ///< that are shown
    std::vector<Field<Life>> life_;
    std::vector<std::string> edges_, warnings_, notes_;
    std::vector<std::reference_wrapper<const score::FunctionRow>> rows_;
    std::vector<FindingText> texts_;
    std::vector<Line> lines_;
    std::size_t longest_ = 0;  ///< bytes of a line
};

}  // namespace

std::string explanation(const hints::Analysis& analysis, Symbols& symbols, const ExplainOptions& options) {
    Explanation made{analysis, symbols, options};
    return options.json ? made.json() : made.markdown();
}

}  // namespace rdam::output
