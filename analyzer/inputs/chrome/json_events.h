// Reads the JSON of a trace event by event; no more than one event is in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"

namespace rdam::inputs::chrome {

/// A time: whole + millionths / 10⁶.
struct Microseconds {
    static constexpr std::uint32_t kParts = 1'000'000;
    static constexpr std::int64_t kMaxWhole = std::int64_t{1} << 61;

    std::int64_t whole = 0;        ///< rounded down; within ±kMaxWhole
    std::uint32_t millionths = 0;  ///< below kParts

    friend bool operator==(const Microseconds&, const Microseconds&) = default;
};

/// A number of JSON, exponent included, rounded to millionths. Nothing: it is none, or too large.
std::optional<Microseconds> microseconds_in(std::string_view text);

enum class ValueType : std::uint8_t {
    integer,   ///< `bits`: signed
    large,     ///< `bits`: beyond what is signed
    floating,  ///< `bits` of a double
    boolean,   ///< `bits`: 0 or 1
    text,
};

struct Argument {
    std::string name;  ///< of one inside an object: "outer.inner"; a list is one text
    ValueType type = ValueType::integer;
    std::uint64_t bits = 0;
    std::string text = {};  ///< of a text
};

struct Event {
    char phase = '\0';  ///< "ph"; \0: none, or no single character
    std::string name;
    std::string category;  ///< "cat"
    std::string pid;       ///< as it stands; "": none
    std::string tid;
    std::optional<Microseconds> begin;            ///< "ts", microseconds
    std::optional<Microseconds> duration;         ///< "dur"
    std::optional<Microseconds> thread_begin;     ///< "tts": the thread's processor time
    std::optional<Microseconds> thread_duration;  ///< "tdur"
    std::string id;                               ///< of an asynchronous event; "": none
    std::string scope;                            ///< of the id
    bool id_is_global = false;                    ///< in all processes
    std::span<const Argument> arguments;

    const Argument* argument(std::string_view wanted) const {
        for (const Argument& each : arguments)
            if (each.name == wanted) return &each;
        return nullptr;
    }
};

class EventSink {
  public:
    virtual ~EventSink() = default;
    /// Valid during the call only.
    virtual void event(const Event& event) = 0;
    /// A text or number of "otherData" or "metadata"; of one inside an object, "outer.inner".
    virtual void fact(const Argument& fact) = 0;
};

struct ReadEvents {
    std::uint64_t events = 0;
    bool unterminated = false;             ///< the file ends before the list of events does, as Chrome allows
    bool cut = false;                      ///< … inside an event, which is left out
    bool cut_behind = false;               ///< the file ends behind the list, but before its own end
    std::uint64_t arguments_left_out = 0;  ///< long lists, and beyond the bound of arguments of an event
};

/// Gives the events of a file to the sink.
using GiveEvents = std::function<Result<ReadEvents>(EventSink&)>;

/// The trace of events that `give` gives. Errors: those of `give`; no call in them. `path` is for messages.
Result<trace::TraceReader> read_through(const std::string& path, const GiveEvents& give);

/// Errors: those of `source`; JSON that is none, with its line; no list of events in it.
Result<ReadEvents> read_events(ByteSource source, std::string_view path, EventSink& sink,
                               const Progress& progress);

// What the events of a file come to, before it is in the order of time: calls, by thread.

/// Numbers for texts, from 0 in the order of first appearance.
class Names {
  public:
    std::uint32_t number(std::string_view text) {
        if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
        const auto next = static_cast<std::uint32_t>(texts_.size());
        const auto added = numbers_.emplace(text, next).first;
        texts_.push_back(&added->first);
        return next;
    }
    const std::string& text(std::uint32_t number) const { return *texts_[number]; }
    std::size_t size() const { return texts_.size(); }

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
    std::vector<const std::string*> texts_;
};

/// A value of a call. Those of one call lie one after the other.
struct Value {
    std::uint64_t bits = 0;  ///< of a text: its number, see TraceBuilder::text()
    std::uint32_t name = 0;  ///< in Collected::names
    ValueType type = ValueType::integer;
    bool last = false;  ///< of the call
};

inline constexpr std::uint32_t kNoValues = UINT32_MAX;

// Times are picoseconds since Collected::origin.

inline constexpr std::int64_t kNoTime = INT64_MIN;

struct Call {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t on_cpu = kNoTime;  ///< so long it had a processor; kNoTime: not told
    std::uint32_t function = 0;
    std::uint32_t values = kNoValues;  ///< the first of them
    std::uint32_t order = 0;           ///< in the file, within the thread
    std::uint32_t row = 0;             ///< among those of its Thread; of an asynchronous one the track
    bool ends = true;                  ///< false: was not seen to
};

/// A "B" or an "E", or a "b" or an "e".
struct Mark {
    std::int64_t at = 0;
    std::int64_t on_cpu = kNoTime;  ///< the thread's processor time
    std::uint32_t function = 0;     ///< of a "B"
    std::uint32_t name = 0;         ///< kNoName: none, as an "E" may have
    std::uint32_t values = kNoValues;
    std::uint32_t order = 0;
    std::uint32_t track = 0;  ///< of an asynchronous one: the id, in Collected::tracks
    bool begins = false;

    static constexpr std::uint32_t kNoName = UINT32_MAX;
};

struct Function {
    std::uint32_t name = 0;  ///< in Collected::names
    std::uint32_t category = 0;
    /// A parameter, and all types that its values have: bits by ValueType; kNegative: a number is below 0.
    struct Parameter {
        std::uint32_t name = 0;
        std::uint32_t types = 0;
    };
    static constexpr std::uint32_t kNegative = 1U << 31;
    static constexpr std::size_t kMaxParameters = 32;
    std::vector<Parameter> parameters;
};

/// Of one that is asynchronous, marks and calls are those of all tracks of a category.
struct Thread {
    std::string pid;
    std::string tid;
    std::string name;  ///< "": not told
    bool asynchronous = false;
    bool has_calls = false;    ///< set by fill()
    std::uint32_t events = 0;  ///< numbers for `order`
    std::vector<Call> calls;
    std::vector<Mark> marks;
};

struct Collected {
    Microseconds origin;  ///< microseconds: about the first event
    Names names;
    Names tracks;  ///< ids of asynchronous events
    std::vector<Function> functions;
    std::vector<Thread> threads;
    std::vector<Value> values;
    struct Process {
        std::string name;    ///< "": not told
        std::string labels;  ///< "": none
    };
    std::unordered_map<std::string, Process> processes;  ///< by pid
    std::unordered_map<std::string, std::string> facts;  ///< otherData, metadata
    /// In what rdam exports, rows from this tid on are none of a thread. Nothing: another tool's file.
    std::optional<std::uint64_t> first_row;

    /// Whether the names are those of functions. Others' are those of spans, which anybody may call `select`.
    bool names_functions() const {
        const auto command = facts.find("command_line");
        return first_row.has_value() || (command != facts.end() && command->second.starts_with("uftrace "));
    }

    // Counts, for remarks.
    std::uint64_t passed_over = 0;  ///< events that are no calls
    std::uint64_t sums = 0;         ///< of others, written as events
    std::uint64_t merged = 0;       ///< calls that rdam's export has merged
    std::uint64_t unusable = 0;     ///< without a name or a time, or with one that is out of range
    std::uint64_t values_left_out = 0;
    std::uint64_t unmatched = 0;        ///< an "E" without a "B"
    std::uint64_t renamed = 0;          ///< an "E" that names no call, but ended the innermost
    std::uint64_t unfinished = 0;       ///< a "B" without an "E"
    std::uint64_t rounded = 0;          ///< ended where the call around does, but for the writer's rounding
    std::uint64_t overlapping = 0;      ///< ended later than that, and there was no room for one more row
    std::uint64_t on_other_rows = 0;    ///< overlap what is on a row of their thread, and are on another
    std::uint64_t with_cpu_time = 0;    ///< calls whose processor time is told
    std::uint64_t calls = 0;            ///< all
    std::int64_t shortest = INT64_MAX;  ///< of those
    std::size_t rows_added = 0;         ///< beside one for each thread
};

/// Makes calls of the marks of all threads, and sorts the calls: by begin, of those that begin together the
/// longer ones first. What is asynchronous becomes threads of its own, one for each track of a category, or, if
/// these are many, one for as many as are open at a time.
void match_marks(Collected& collected);

// From what was collected to a trace.

/// Adds functions, threads, their events and the clock; counts what it finds, for remarks. Takes the calls
/// out of `collected` on the way. The pid of the only process that has calls; nothing: there are several, or
/// no calls.
std::optional<std::string> fill(Collected& collected, TraceBuilder& builder);

}  // namespace rdam::inputs::chrome
