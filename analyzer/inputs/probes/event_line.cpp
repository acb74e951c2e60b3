#include "analyzer/inputs/probes/event_line.h"

#include <algorithm>

#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::probes {
namespace {

constexpr std::string_view kBlank = " \t";

constexpr bool is_digit(char character) {
    return character >= '0' && character <= '9';
}
constexpr bool is_blank(char character) {
    return character == ' ' || character == '\t';
}
constexpr bool is_word(char character) {
    return is_digit(character) || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || character == '_';
}

/// Cuts the last word off.
std::string_view take_last_word(std::string_view& text) {
    text = trim_blanks(text);
    const std::size_t before = text.find_last_of(kBlank);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view word = text.substr(begin);
    text = trim_blanks(text.substr(0, begin));
    return word;
}

std::optional<std::uint16_t> cpu_in(std::string_view word) {
    if (word.size() < 3 || word.front() != '[' || word.back() != ']') return std::nullopt;
    return number_in<std::uint16_t>(word.substr(1, word.size() - 2));
}

/// `[003]`, or with ftrace's flags behind it, is cut off.
std::uint16_t take_cpu(std::string_view& left) {
    std::string_view without = left;
    if (const auto cpu = cpu_in(take_last_word(without))) {
        left = without;
        return *cpu;
    }
    if (const auto cpu = cpu_in(take_last_word(without))) {
        left = without;
        return *cpu;
    }
    return UINT16_MAX;
}

/// ftrace's column with the process, `(  123)` or `(-----)`, is cut off.
std::uint32_t take_process(std::string_view& left) {
    left = trim_blanks(left);
    if (left.empty() || left.back() != ')') return 0;
    const std::size_t begin = left.rfind('(');
    if (begin == std::string_view::npos) return 0;
    const std::string_view inside = trim_blanks(left.substr(begin + 1, left.size() - begin - 2));
    left = left.substr(0, begin);
    return number_in<std::uint32_t>(inside).value_or(0);
}

/// `NAME TID`, `NAME PID/TID` (perf), `NAME-TID` (the others).
bool read_thread(std::string_view left, EventLine& event) {
    event.pid = take_process(left);
    std::string_view name = left;
    const std::string_view word = take_last_word(name);
    const std::size_t slash = word.find('/');
    const auto alone = number_in<std::uint32_t>(word);
    if (alone && !name.empty()) {
        event.is_perf = true;
        event.tid = *alone;
        event.thread = name;
        return true;
    }
    if (slash != std::string_view::npos) {
        const auto pid = number_in<std::uint32_t>(word.substr(0, slash));
        const auto tid = number_in<std::uint32_t>(word.substr(slash + 1));
        if (pid && tid) {
            event.is_perf = true;
            event.pid = *pid;
            event.tid = *tid;
            event.thread = name;
            return true;
        }
    }
    left = trim_blanks(left);
    const std::size_t dash = left.rfind('-');
    if (dash == std::string_view::npos) return false;
    const auto tid = number_in<std::uint32_t>(left.substr(dash + 1));
    if (!tid) return false;
    event.tid = *tid;
    event.thread = left.substr(0, dash) == "<...>" ? std::string_view{} : left.substr(0, dash);
    return true;
}

/// Seconds with up to nine decimals; `point` is the place of the point in `line`. The end of the number, or
/// 0.
std::size_t read_time(std::string_view line, std::size_t point, std::size_t& begin, EventLine& event) {
    constexpr std::size_t kMaxSeconds = 10, kMaxDecimals = 9;
    begin = point;
    while (begin > 0 && is_digit(line[begin - 1]))
        --begin;
    std::size_t end = point + 1;
    while (end < line.size() && is_digit(line[end]))
        ++end;
    const std::size_t decimals = end - point - 1;
    if (begin == point || point - begin > kMaxSeconds || decimals == 0 || decimals > kMaxDecimals) return 0;
    if (begin > 0 && !is_blank(line[begin - 1])) return 0;
    if (end >= line.size() || line[end] != ':') return 0;
    const auto seconds = number_in<std::uint64_t>(line.substr(begin, point - begin));
    auto fraction = number_in<std::uint64_t>(line.substr(point + 1, decimals));
    if (!seconds || !fraction) return 0;
    for (std::size_t missing = decimals; missing < kMaxDecimals; ++missing)
        *fraction *= 10;
    constexpr std::uint64_t kSecond = 1'000'000'000;
    event.time = *seconds * kSecond + *fraction;
    event.decimals = static_cast<unsigned>(decimals);
    return end;
}

/// What stands behind the time: `EVENT: REST`, perhaps after a period or a difference of times.
bool read_event(std::string_view right, EventLine& event) {
    right = trim_blanks(right);
    constexpr unsigned kMaxColumns = 2;
    for (unsigned column = 0; column <= kMaxColumns; ++column) {
        const std::size_t end = std::min(right.find_first_of(kBlank), right.size());
        const std::string_view word = right.substr(0, end);
        right = trim_blanks(right.substr(end));
        if (word.size() > 1 && word.back() == ':') {
            event.event = word.substr(0, word.size() - 1);
            event.rest = right;
            return true;
        }
        if (!word.starts_with("(+") && !number_in<std::uint64_t>(word)) return false;
    }
    return false;
}

void read_number(std::string_view text, ProbeValue& value) {
    if (text.starts_with("0x")) {
        const auto number = number_in<std::uint64_t>(text.substr(2), 16);
        value.bits = number.value_or(0);
        value.form = number ? ValueForm::hex : ValueForm::text;
        return;
    }
    value.form = ValueForm::decimal;
    if (const auto number = number_in<std::int64_t>(text)) {
        value.bits = static_cast<std::uint64_t>(*number);
        return;
    }
    if (const auto number = number_in<std::uint64_t>(text)) {
        value.bits = *number;
        value.is_unsigned = true;
        return;
    }
    value.form = text == "(fault)" ? ValueForm::unreadable : ValueForm::text;
}

/// Whether another value begins here, or there is none.
bool next_begins(std::string_view text) {
    const std::string_view next = trim_blanks(text);
    if (next.empty()) return true;
    if (!is_blank(text.front())) return false;
    const auto end = std::ranges::find_if_not(next, is_word);
    return end != next.begin() && end != next.end() && *end == '=';
}

/// Where the quote is that ends a text: within it, quotes stand as they are.
std::size_t closing_quote(std::string_view text) {
    // Without this a line of quotes would take the square of its length.
    constexpr std::size_t kMaxText = 8192;
    for (std::size_t at = text.find('"'); at != std::string_view::npos && at < kMaxText;
         at = text.find('"', at + 1))
        if (next_begins(text.substr(at + 1))) return at;
    return text.size();
}

std::string_view number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + name.size());
    return rest.substr(0, rest.find_first_of(kBlank));
}

/// `NAME:TID [PRIORITY]`, as trace-cmd prints a thread, is cut off the end.
std::optional<std::uint32_t> take_short_thread(std::string_view& text) {
    if (!take_last_word(text).starts_with('[')) return std::nullopt;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return number_in<std::uint32_t>(text.substr(colon + 1));
}

}  // namespace

std::optional<EventLine> event_line(std::string_view line) {
    if (line.empty() || line.front() == '#') return std::nullopt;
    for (std::size_t point = line.find('.'); point != std::string_view::npos;
         point = line.find('.', point + 1)) {
        EventLine event;
        std::size_t begin = 0;
        const std::size_t end = read_time(line, point, begin, event);
        if (end == 0) continue;
        std::string_view left = trim_blanks(line.substr(0, begin));
        event.cpu = take_cpu(left);
        if (read_thread(left, event) && read_event(line.substr(end + 1), event)) return event;
    }
    return std::nullopt;
}

std::optional<ProbeHit> probe_hit(std::string_view rest) {
    if (!rest.starts_with('(')) return std::nullopt;
    const std::size_t end = rest.find(')');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = rest.substr(1, end - 1);
    ProbeHit hit;
    hit.values = rest.substr(end + 1);
    constexpr std::string_view kArrow = " <- ";
    const auto plain = [](std::string_view address) {
        return address.starts_with("0x") ? address.substr(2) : address;
    };
    const std::size_t arrow = inside.find(kArrow);
    hit.address = plain(inside.substr(0, arrow));
    if (arrow != std::string_view::npos) hit.other = plain(inside.substr(arrow + kArrow.size()));
    if (hit.address.empty() || (arrow != std::string_view::npos && hit.other.empty())) return std::nullopt;
    return hit;
}

void each_value(std::string_view values, const std::function<void(const ProbeValue&)>& take) {
    for (values = trim_blanks(values); !values.empty(); values = trim_blanks(values)) {
        const std::size_t equals = values.find('=');
        if (equals == 0 || equals == std::string_view::npos) return;
        ProbeValue value{.name = values.substr(0, equals), .text = {}};
        if (!std::ranges::all_of(value.name, is_word)) return;
        values.remove_prefix(equals + 1);
        std::size_t end = std::min(values.find_first_of(kBlank), values.size());
        if (values.starts_with('"')) {
            const std::size_t quote = closing_quote(values.substr(1));
            value.form = ValueForm::text;
            value.text = values.substr(1, quote);
            end = std::min(quote + 2, values.size());
        } else {
            if (values.starts_with('{')) end = std::min(values.find('}'), values.size() - 1) + 1;
            value.text = values.substr(0, end);
            read_number(value.text, value);
        }
        take(value);
        values.remove_prefix(end);
    }
}

bool is_switch(std::string_view event) {
    return event == "sched_switch" || event == "sched:sched_switch";
}

std::optional<SwitchHit> switch_hit(std::string_view rest) {
    constexpr std::string_view kTo = " ==> ";
    const std::size_t arrow = rest.find(kTo);
    if (arrow == std::string_view::npos) return std::nullopt;
    std::string_view before = rest.substr(0, arrow);
    std::string_view after = rest.substr(arrow + kTo.size());
    if (before.starts_with("prev_comm=")) {
        const auto out = number_in<std::uint32_t>(number_behind(before, " prev_pid="));
        const auto in = number_in<std::uint32_t>(number_behind(after, " next_pid="));
        if (!out || !in) return std::nullopt;
        return SwitchHit{*out, *in, number_behind(before, " prev_state=").starts_with('R')};
    }
    const std::string_view state = take_last_word(before);
    const auto out = take_short_thread(before);
    const auto in = take_short_thread(after);
    if (!out || !in) return std::nullopt;
    return SwitchHit{*out, *in, state.starts_with('R')};
}

bool is_beside_events(std::string_view line) {
    if (line.find("PERF_RECORD_") != std::string_view::npos) return true;
    const bool is_indented = !line.empty() && is_blank(line.front());
    line = trim_blanks(line);
    if (line.empty() || line.front() == '#' || line.starts_with("=> ")) return true;
    if (line.starts_with("-----") || line.find("  =>  ") != std::string_view::npos) return true;
    if (!is_indented)
        return line.starts_with("cpus=") || line.starts_with("version = ") ||
               (line.starts_with("CPU ") && line.ends_with(" is empty"));
    return number_in<std::uint64_t>(line.substr(0, line.find_first_of(kBlank)), 16).has_value();
}

std::optional<std::uint64_t> lost_events(std::string_view line) {
    line = trim_blanks(line);
    const bool begins = line.starts_with("CPU:") || line.starts_with("[LOST ");
    const bool kernel = begins && line.ends_with("]") && line.find("EVENTS") != std::string_view::npos;
    const std::size_t perf = line.find("PERF_RECORD_LOST");
    if (!kernel && perf == std::string_view::npos) return std::nullopt;
    for (std::string_view word : words_of(line.substr(kernel ? 0 : perf), 8)) {
        if (word.starts_with('[')) word.remove_prefix(1);
        if (const auto count = number_in<std::uint64_t>(word)) return *count;
    }
    return 0;
}

}  // namespace rdam::inputs::probes
