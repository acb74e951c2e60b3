// The settings of a recording, each by a variable of the environment: one table for the recorder that reads
// them, for the agent, which finds what was read in Control::settings, and for the command's options and
// texts. A new setting is a line here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdam::settings {

/// In the order of kTable.
enum class Id : std::uint8_t {
    functions,
    output,
    buffer,
    stack_period,
    clock,
    when_full,
    max_overhead,
    switches,
    agent_cpus,
    counters,
    all_calls,
    arguments,
    children,
    cache,
    verbose,
    count,  ///< none: how many there are
};
inline constexpr auto kCount = static_cast<std::size_t>(Id::count);

enum class Kind : std::uint8_t {
    text,        ///< read where it is needed
    flag,        ///< 0 or 1
    choice,      ///< a word of `choices`: its number, from 0
    size,        ///< bytes, with or without a unit of 1024, 1024² or 1024³: 256M
    count,       ///< a whole number without a unit
    share,       ///< 10%, 0.1: millionths. Beyond 1 it takes the sign.
    processors,  ///< 3, 0,2-3: read by the agent, which knows the machine
};

struct Setting {
    Id id;
    std::string_view variable;
    Kind kind = Kind::text;
    std::string_view right;   ///< what a value is, after "is not"; empty: any text is valid
    std::uint64_t least = 0;  ///< of a number
    std::uint64_t most = 0;
    std::string_view choices = {};  ///< "wait|drop"
    std::string_view unset = {};    ///< the value of a variable that is not set, or empty; empty: 0
    std::string_view option = {};   ///< of rdam record; that of a flag turns it over from `unset`
    std::string_view takes = {};    ///< shown after the option in --help, where it takes a value
    std::string_view help = {};
};

inline constexpr std::uint64_t kMaxCount = 999'999'999;
/// The event buffers: what they take at least, and more than any machine has.
inline constexpr std::uint64_t kMinBuffer = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxBuffer = std::uint64_t{1} << 50;
/// Shares, in millionths: 0.01 % to 100000 %.
inline constexpr std::uint64_t kMillionths = 1'000'000;
inline constexpr std::uint64_t kMinShare = kMillionths / 10'000;
inline constexpr std::uint64_t kMaxShare = kMillionths * 1000;

inline constexpr Setting kTable[kCount] = {
    {.id = Id::functions, .variable = "RDAM_FUNCTIONS", .right = {}},
    {.id = Id::output, .variable = "RDAM_OUTPUT", .right = {}},
    {.id = Id::buffer,
     .variable = "RDAM_BUFFER",
     .kind = Kind::size,
     .right = "a size of at least 1M, such as 256M",
     .least = kMinBuffer,
     .most = kMaxBuffer,
     .option = "--buffer",
     .takes = "SIZE [1/8 of memory or of the cgroup's limit, at least 1M]",
     .help = "Maximum memory for events not yet written, e.g. 256M or 4G"},
    {.id = Id::stack_period,
     .variable = "RDAM_STACK_PERIOD",
     .kind = Kind::count,
     .right = "a number of calls like 10000",
     .most = kMaxCount,
     .unset = "10000",
     .option = "--stack-period",
     .takes = "N [10000]",
     .help = "Sample the call stack at the first and every N-th call from each call site; 0: never"},
    {.id = Id::clock,
     .variable = "RDAM_CLOCK",
     .kind = Kind::choice,
     .right = "rdtscp, unfenced, rdtsc or monotonic",
     .choices = "rdtscp|unfenced|rdtsc|monotonic",
     .option = "--clock",
     .takes = "CLOCK [rdtscp]",
     .help = "Clock to use: rdtscp; unfenced or rdtsc (cheaper, but scores of short functions become "
             "unreliable); or monotonic (the kernel's clock, a system call each time, for machines "
             "whose time-stamp counter is not steady)"},
    {.id = Id::when_full,
     .variable = "RDAM_WHEN_FULL",
     .kind = Kind::choice,
     .right = "wait or drop",
     .choices = "wait|drop",
     .option = "--when-full",
     .takes = "wait|drop [wait]",
     .help = "When the buffers are full, wait for space, or drop events and count them"},
    {.id = Id::max_overhead,
     .variable = "RDAM_MAX_OVERHEAD",
     .kind = Kind::share,
     .right = "a share like 10% or 0.1 (0.01% to 100000%)",
     .least = kMinShare,
     .most = kMaxShare,
     .unset = "5%",
     .option = "--max-overhead",
     .takes = "SHARE [5%]",
     .help = "Record a function in windows of time if recording all its calls would cost a thread more than "
             "this share of its own time"},
    {.id = Id::switches,
     .variable = "RDAM_SWITCHES",
     .kind = Kind::choice,
     .right = "auto, on or off",
     .choices = "auto|on|off",
     .option = "--switches",
     .takes = "auto|on|off [auto]",
     .help = "Record when threads are off-CPU: auto (until context switches become too frequent), on "
             "(at any cost) or off"},
    {.id = Id::agent_cpus,
     .variable = "RDAM_AGENT_CPUS",
     .kind = Kind::processors,
     .right = "a list of processors like 3 or 0,2-3",
     .option = "--agent-cpus",
     .takes = "CPUS [those the program is not bound to, else all at low priority]",
     .help = "Run rdam-agent, the process that writes the trace, on these processors, e.g. 3 or 0,2-3"},
    {.id = Id::counters,
     .variable = "RDAM_COUNTERS",
     .kind = Kind::choice,
     .right = "off or instructions",
     .choices = "off|instructions",
     .option = "--counters",
     .takes = "instructions|off [off]",
     .help = "Count the instructions of each call with a hardware counter, if the machine has one"},
    {.id = Id::all_calls,
     .variable = "RDAM_ALL_CALLS",
     .kind = Kind::flag,
     .right = "0 or 1",
     .option = "--all-calls",
     .help = "Record every call, whatever that costs: also of functions marked ~ in the list, and without a "
             "budget"},
    {.id = Id::arguments,
     .variable = "RDAM_ARGS",
     .kind = Kind::flag,
     .right = "0 or 1",
     .unset = "1",
     .option = "--no-args",
     .help = "Do not record parameters or return values"},
    {.id = Id::children,
     .variable = "RDAM_CHILDREN",
     .kind = Kind::flag,
     .right = "0 or 1",
     .unset = "1",
     .option = "--no-children",
     .help = "Record only the program, not the processes it forks or anything that it or they execute"},
    {.id = Id::cache, .variable = "RDAM_CACHE", .right = {}},
    {.id = Id::verbose,
     .variable = "RDAM_VERBOSE",
     .kind = Kind::flag,
     .right = "0 or 1",
     .option = "-v,--verbose",
     .help = "Report what became of each function on the list"},
};

constexpr const Setting& setting(Id id) {
    return kTable[static_cast<std::size_t>(id)];
}

/// The value of each setting; 0 for a text, which is read from the environment where it is needed.
struct Values {
    std::uint64_t numbers[kCount] = {};

    constexpr std::uint64_t operator[](Id id) const { return numbers[static_cast<std::size_t>(id)]; }
    constexpr std::uint64_t& operator[](Id id) { return numbers[static_cast<std::size_t>(id)]; }
};

/// By their numbers.
enum class WhenFull : std::uint8_t { wait, drop };
/// `automatic` stops when switches are so frequent that their records slow the program down; `on` never does.
enum class Switches : std::uint8_t { automatic, on, off };
enum class Counters : std::uint8_t { off, instructions };

/// Word `number` of choices; empty: there are fewer.
constexpr std::string_view choice(std::string_view choices, std::size_t number) {
    for (; number > 0; --number) {
        const std::size_t bar = choices.find('|');
        if (bar == std::string_view::npos) return {};
        choices.remove_prefix(bar + 1);
    }
    return choices.substr(0, choices.find('|'));
}

/// Takes the digits off the beginning of `text`. False: there are none, or too many.
constexpr bool take_number(std::string_view& text, std::uint64_t& number) {
    constexpr std::uint64_t kEnough = std::uint64_t{1} << 58;
    std::size_t digits = 0;
    number = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (number > kEnough) return false;
        number = number * 10 + static_cast<std::uint64_t>(text[digits] - '0');
    }
    text.remove_prefix(digits);
    return digits > 0;
}

constexpr bool parse_size(std::string_view text, std::uint64_t& bytes) {
    if (!take_number(text, bytes)) return false;
    if (text.empty() || text == "b" || text == "B") return true;
    unsigned shift = 0;
    for (const char unit : {'k', 'm', 'g'}) {
        shift += 10;
        if (static_cast<char>(text[0] | 0x20) != unit) continue;
        const std::string_view tail = text.substr(1);
        if (bytes > kMaxBuffer) return false;
        bytes <<= shift;
        return tail.empty() || tail == "b" || tail == "B" || tail == "iB" || tail == "ib";
    }
    return false;
}

constexpr bool parse_share(std::string_view text, std::uint64_t& millionths) {
    const bool percent = text.ends_with('%');
    if (percent) text.remove_suffix(1);
    if (percent && text.ends_with(' ')) text.remove_suffix(1);
    std::uint64_t whole = 0;
    const bool any_whole = take_number(text, whole);
    std::uint64_t value = whole > kMaxShare ? kMaxShare * kMillionths : whole * kMillionths;
    bool any = any_whole;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        for (std::uint64_t unit = kMillionths / 10; !text.empty() && text[0] >= '0' && text[0] <= '9';
             unit /= 10, any = true, text.remove_prefix(1))
            value += static_cast<std::uint64_t>(text[0] - '0') * unit;
    }
    millionths = percent ? value / 100 : value;
    // The meaning of a number above 1 without a percent sign is unclear.
    return any && text.empty() && (percent || value <= kMillionths);
}

constexpr bool parse_processors(std::string_view text) {
    constexpr std::uint64_t kMaxProcessor = 99'999;
    for (;;) {
        std::uint64_t first = 0;
        if (!take_number(text, first) || first > kMaxProcessor) return false;
        std::uint64_t last = first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            if (!take_number(text, last) || last > kMaxProcessor || last < first) return false;
        }
        if (text.empty()) return true;
        if (text[0] != ',') return false;
        text.remove_prefix(1);
    }
}

constexpr bool parse_choice(std::string_view choices, std::string_view text, std::uint64_t& number) {
    number = 0;
    for (std::string_view word = choice(choices, 0); !word.empty(); word = choice(choices, ++number))
        if (word == text) return true;
    return false;
}

/// False: `text`, which is not empty, is not what the setting takes.
constexpr bool parse(const Setting& setting, std::string_view text, std::uint64_t& number) {
    number = 0;
    const auto in_range = [&] { return number >= setting.least && number <= setting.most; };
    switch (setting.kind) {
        case Kind::text:
            return true;
        case Kind::flag:
            return parse_choice("0|1", text, number);
        case Kind::choice:
            return parse_choice(setting.choices, text, number);
        case Kind::size:
            return parse_size(text, number) && in_range();
        case Kind::count:
            return take_number(text, number) && text.empty() && in_range();
        case Kind::share:
            return parse_share(text, number) && in_range();
        case Kind::processors:
            return parse_processors(text);
    }
    return false;
}

/// What holds where the variable is not set.
constexpr std::uint64_t unset_value(const Setting& setting) {
    std::uint64_t number = 0;
    if (!setting.unset.empty()) parse(setting, setting.unset, number);
    return number;
}

constexpr bool is_sound() {
    for (std::size_t i = 0; i < kCount; ++i) {
        std::uint64_t number = 0;
        if (kTable[i].id != static_cast<Id>(i)) return false;
        if (!kTable[i].unset.empty() && !parse(kTable[i], kTable[i].unset, number)) return false;
    }
    return true;
}
static_assert(is_sound());

}  // namespace rdam::settings
