#include "analyzer/inputs/lttng/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::lttng {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kDay = 86'400 * kSecond;

/// Seconds with nine decimals.
std::optional<std::uint64_t> seconds_in(std::string_view text) {
    constexpr std::size_t kDecimals = 9, kMostSeconds = 10;
    const std::size_t point = text.find('.');
    if (point == 0 || point > kMostSeconds || text.size() != point + 1 + kDecimals) return std::nullopt;
    const auto whole = number_in<std::uint64_t>(text.substr(0, point));
    const auto parts = number_in<std::uint64_t>(text.substr(point + 1));
    if (!whole || !parts) return std::nullopt;
    return *whole * kSecond + *parts;
}

/// `1796077921.287135048`, `22:31:06.660561042`, `2026-11-30 22:31:06.660561042`.
bool read_time(std::string_view text, TextLine& line) {
    if (const auto plain = seconds_in(text)) {
        line.time = *plain;
        line.has_date = true;
        return true;
    }
    constexpr std::size_t kDate = 10;
    std::uint64_t days = 0;
    if (text.size() > kDate && text[kDate] == ' ' && text[4] == '-' && text[7] == '-') {
        const auto year = number_in<unsigned>(text.substr(0, 4));
        const auto month = number_in<unsigned>(text.substr(5, 2));
        const auto of_month = number_in<unsigned>(text.substr(8, 2));
        if (!year || !month || !of_month || *year < 1970) return false;
        const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                               std::chrono::month{*month}, std::chrono::day{*of_month}};
        if (!date.ok()) return false;
        days = static_cast<std::uint64_t>(std::chrono::sys_days{date}.time_since_epoch().count());
        line.has_date = true;
        text.remove_prefix(kDate + 1);
    }
    if (text.size() < 8 || text[2] != ':' || text[5] != ':') return false;
    const auto hours = number_in<unsigned>(text.substr(0, 2));
    const auto minutes = number_in<unsigned>(text.substr(3, 2));
    const auto seconds = seconds_in(text.substr(6));
    if (!hours || !minutes || !seconds) return false;
    constexpr std::uint64_t kMinute = 60, kHour = 3600;
    line.time = days * kDay + (*hours * kHour + *minutes * kMinute) * kSecond + *seconds;
    return true;
}

/// Behind the text that begins with a quote.
std::size_t end_of_text(std::string_view text) {
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            return at + 1;
    }
    return text.size();
}

/// Behind the bracket that closes the one that the text begins with.
std::size_t end_of_brackets(std::string_view text) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            at += end_of_text(text.substr(at));
            continue;
        }
        if (text[at] == '{' || text[at] == '[' || text[at] == '(') ++depth;
        if ((text[at] == '}' || text[at] == ']' || text[at] == ')') && --depth == 0) return at + 1;
        ++at;
    }
    return text.size();
}

/// Where the event's own values begin, which are the last brackets, behind those of the contexts.
std::size_t payload_at(std::string_view fields) {
    std::size_t last = 0;
    for (std::size_t at = fields.find('{'); at != std::string_view::npos; at = fields.find('{', at)) {
        last = at;
        at += end_of_brackets(fields.substr(at));
    }
    return last;
}

bool is_word(char character) {
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || character == '_';
}

/// The number of an enumerator: `( "READ" : container = 1 )`.
std::string_view plain_value(std::string_view value) {
    constexpr std::string_view kContainer = "container = ";
    if (!value.starts_with('(')) return value;
    const std::size_t at = value.find(kContainer);
    if (at == std::string_view::npos) return {};
    value.remove_prefix(at + kContainer.size());
    return value.substr(0, value.find(' '));
}

/// Nothing: it is no address, or 0.
std::optional<std::uint64_t> address_in(std::string_view value) {
    constexpr int kHex = 16;
    if (!value.starts_with("0x")) return std::nullopt;
    std::uint64_t address = 0;
    const auto end = value.data() + value.size();
    const auto read = std::from_chars(value.data() + 2, end, address, kHex);
    if (read.ec != std::errc{} || read.ptr != end || address == 0) return std::nullopt;
    return address;
}

std::string_view unquoted(std::string_view value) {
    return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

/// Of programs that are compiled with -finstrument-functions.
bool is_function(const TextLine& line) {
    return line.provider.starts_with("lttng_ust_cyg_profile");
}

}  // namespace

std::optional<TextLine> text_line(std::string_view line) {
    constexpr std::size_t kLongestTime = 64;
    if (!line.starts_with('[')) return std::nullopt;
    const std::size_t closed = line.substr(0, kLongestTime).find(']');
    TextLine read;
    if (closed == std::string_view::npos || !read_time(line.substr(1, closed - 1), read)) return std::nullopt;
    line.remove_prefix(closed + 1);
    const std::size_t colon = line.find(": {");
    if (colon == std::string_view::npos) return std::nullopt;
    read.fields = line.substr(colon + 2);
    const std::string_view before = trim_blanks(line.substr(0, colon));
    const std::size_t blank = before.rfind(' ');
    read.event = before.substr(blank == std::string_view::npos ? 0 : blank + 1);
    const std::size_t provider = read.event.rfind(':');
    if (provider != std::string_view::npos) {
        read.provider = read.event.substr(0, provider);
        read.event.remove_prefix(provider + 1);
    }
    if (read.event.empty()) return std::nullopt;
    return read;
}

void each_field(std::string_view fields,
                const std::function<void(std::string_view, std::string_view)>& take) {
    constexpr std::string_view kEquals = " = ", kDebug = "debug_info";
    for (std::size_t at = 0; at < fields.size();) {
        if (!is_word(fields[at])) {
            at += fields[at] == '"' ? end_of_text(fields.substr(at)) : 1;
            continue;
        }
        std::size_t end = at;
        while (end < fields.size() && is_word(fields[end]))
            ++end;
        const std::string_view name = fields.substr(at, end - at);
        at = end;
        if (!fields.substr(at).starts_with(kEquals)) continue;
        at += kEquals.size();
        const std::string_view rest = fields.substr(at);
        if (rest.empty()) return;
        // What stands inside is what babeltrace2 has found of the address before it.
        if (rest.front() == '{' && name == kDebug) continue;
        const bool is_structure = rest.front() == '{' || rest.front() == '[';
        const std::size_t size = rest.front() == '"' ? end_of_text(rest)
                                 : is_structure || rest.front() == '('
                                     ? end_of_brackets(rest)
                                     : std::min(rest.find_first_of(", }"), rest.size());
        if (!is_structure) take(name, plain_value(rest.substr(0, size)));
        at += size;
    }
}

/// What an event says of where it was, and of its own.
struct Translator::Fields {
    bool take_context(std::string_view field, std::string_view value);
    bool take_switch(std::string_view field, std::string_view value);

    std::optional<std::uint16_t> cpu;
    std::optional<std::uint32_t> tid, pid;
    std::string_view name;              ///< of the thread or process
    std::string_view function, object;  ///< that babeltrace2 has found
    std::string_view address;
    std::optional<std::uint32_t> out, in;
    std::string_view in_name, state;
};

/// False: the field is none of a context that is known.
bool Translator::Fields::take_context(std::string_view field, std::string_view value) {
    if (field == "cpu_id")
        cpu = number_in<std::uint16_t>(value);
    else if (field == "vtid" || field == "tid")
        tid = number_in<std::uint32_t>(value);
    else if (field == "vpid" || field == "pid")
        pid = number_in<std::uint32_t>(value);
    else if (field == "procname")
        name = unquoted(value);
    else if (field == "func")
        function = unquoted(value);
    else if (field == "bin")
        object = unquoted(value);
    else
        return field == "ip" || field == "src" || field == "pthread_id";
    return true;
}

/// False: the field is none of a switch that is needed.
bool Translator::Fields::take_switch(std::string_view field, std::string_view value) {
    if (field == "prev_tid")
        out = number_in<std::uint32_t>(value);
    else if (field == "next_tid")
        in = number_in<std::uint32_t>(value);
    else if (field == "next_comm")
        in_name = unquoted(value);
    else if (field == "prev_state")
        state = value;
    else
        return false;
    return true;
}

std::optional<probes::EventLine> Translator::translate(std::string_view text) {
    const auto line = text_line(text);
    if (!line) return std::nullopt;
    Fields fields;
    values_.clear();
    result_.clear();
    const auto take_value = [&](std::string_view name, std::string_view value) {
        if (name == "ret" || name == "status")
            result_ = fmt::format(" ret={}", value);
        else if (!value.empty())
            fmt::format_to(std::back_inserter(values_), " {}={}", name, value);
    };
    const std::size_t payload = payload_at(line->fields);
    each_field(line->fields.substr(0, payload), [&](std::string_view name, std::string_view value) {
        if (!fields.take_context(name, value)) take_value(name, value);
    });
    const bool is_switch = line->provider.empty() && line->event == "sched_switch";
    // What the program calls its own values says nothing of the thread.
    each_field(line->fields.substr(payload), [&](std::string_view name, std::string_view value) {
        if (is_function(*line) && name == "addr")
            fields.address = value;
        else if (!is_switch || !fields.take_switch(name, value))
            take_value(name, value);
    });
    event_ = {};
    event_.decimals = 9;
    event_.cpu = fields.cpu.value_or(0xffff);
    event_.pid = fields.pid.value_or(0);
    complete_time(*line);
    find_thread(fields);
    if (fields.out && fields.in)
        take_switch(fields);
    else if (is_function(*line) ? !take_function(*line, fields) : !take_pair(*line, fields)) {
        name_.assign(line->event);
        rest_.clear();
    }
    event_.event = name_;
    event_.rest = rest_;
    return event_;
}

/// A text without dates goes on after midnight.
void Translator::complete_time(const TextLine& line) {
    event_.time = line.time;
    if (line.has_date) return;
    if (line.time + kDay / 2 < last_) day_ += kDay;
    last_ = line.time;
    event_.time += day_;
}

/// Contexts tell the thread, or who runs on the processor.
void Translator::find_thread(const Fields& fields) {
    thread_.assign(fields.name);
    event_.tid = fields.tid.value_or(0);
    if (!fields.tid) {
        const auto found = running_.find(event_.cpu);
        if (found != running_.end()) {
            event_.tid = found->second.tid;
            if (thread_.empty()) thread_ = found->second.name;
        }
    }
    event_.thread = thread_;
}

void Translator::take_switch(const Fields& fields) {
    const bool preempted = fields.state == "0" || fields.state == "256" || fields.state == "0x0";
    name_ = "sched_switch";
    rest_ = fmt::format("prev_comm=- prev_pid={} prev_state={} ==> next_comm=- next_pid={}", *fields.out,
                        preempted ? 'R' : 'S', *fields.in);
    Running& now = running_[event_.cpu];
    now.tid = *fields.in;
    now.name = fields.in_name;
}

/// False: an end of a function that is not open.
bool Translator::take_function(const TextLine& line, const Fields& fields) {
    values_.clear();  // the place of the call, which is none of the function's
    OpenFunctions& open = functions_[event_.tid];
    const auto address = address_in(fields.address);
    if (line.event == "func_entry") {
        // `outer+0`, `app+0x11d5`
        const std::string_view function = fields.function.substr(0, fields.function.rfind('+'));
        const std::string_view object = fields.object.substr(0, fields.object.rfind('+'));
        begin_call(fmt::format("probe_{}:{}", object, function.empty() ? fields.address : function));
        open.push(numbers_.find(name_)->second, address.value_or(0));
        return true;
    }
    if (line.event != "func_exit" || open.calls.empty() || (address && !open.at.contains(*address)))
        return false;
    // The ends of those inside it are missing.
    while (address && open.calls.back().address != *address)
        open.pop();
    end_call(std::string{*names_[open.calls.back().number]});
    open.pop();
    return true;
}

void Translator::OpenFunctions::push(std::uint32_t number, std::uint64_t address) {
    calls.push_back({.number = number, .address = address});
    ++at[address];
}

void Translator::OpenFunctions::pop() {
    const auto innermost = at.find(calls.back().address);
    if (--innermost->second == 0) at.erase(innermost);
    calls.pop_back();
}

bool Translator::take_pair(const TextLine& line, const Fields& fields) {
    if (event_.tid == 0 && !fields.tid && !running_.contains(event_.cpu)) return false;
    constexpr std::string_view kEntry = "syscall_entry_", kExit = "syscall_exit_";
    // System calls are called like the functions that make them, and so are those that LTTng wraps.
    if (line.provider.empty() && line.event.starts_with(kEntry)) {
        begin_call(fmt::format("probe_syscall:{}", line.event.substr(kEntry.size())));
        return true;
    }
    if (line.provider.empty() && line.event.starts_with(kExit)) {
        end_call(fmt::format("probe_syscall:{}", line.event.substr(kExit.size())));
        return true;
    }
    struct Ending {
        std::string_view begin, end;
    };
    static constexpr std::array kEndings{Ending{"_begin", "_end"}, Ending{"_entry", "_exit"},
                                         Ending{"_enter", "_leave"}, Ending{"_start", "_stop"},
                                         Ending{"_req", "_acq"}};
    const bool is_wrapped = line.provider == "lttng_ust_pthread";
    const auto name_without = [&](std::string_view ending) {
        return fmt::format("{}_{}:{}", is_wrapped ? "probe" : "span",
                           line.provider.empty() ? "kernel" : line.provider,
                           line.event.substr(0, line.event.size() - ending.size()));
    };
    for (const Ending& ending : kEndings) {
        if (line.event.size() > ending.begin.size() && line.event.ends_with(ending.begin)) {
            begin_call(name_without(ending.begin));
            return true;
        }
        if (line.event.size() > ending.end.size() && line.event.ends_with(ending.end)) {
            end_call(name_without(ending.end));
            return true;
        }
    }
    return false;
}

// Both halves of a pair have its number where a probe has the address of the function.

void Translator::begin_call(std::string_view name) {
    name_.assign(name);
    const auto [known, is_new] = numbers_.try_emplace(name_, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) names_.push_back(&known->first);
    rest_ = fmt::format("({}){}", known->second, values_);
}

void Translator::end_call(std::string_view name) {
    begin_call(name);
    const std::uint32_t number = numbers_.find(name_)->second;
    rest_ = fmt::format("({0} <- {0}){1}", number, result_.empty() ? values_ : result_);
    name_ += "__return";
}

}  // namespace rdam::inputs::lttng
