// What the events of a Pajé file mean: its `%EventDef` … `%EndEventDef`, in any order of fields, with old
// names of fields and with fields of the producer's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/paje/scan.h"
#include "tools/base/result.h"

namespace rdam::inputs::paje {

enum class EventKind : std::uint8_t {
    define_container_type,
    define_state_type,
    define_other_type,
    define_value,
    create_container,
    destroy_container,
    set_state,
    push_state,
    pop_state,
    reset_state,
    other_file,  ///< names another file of the same trace
    other,       ///< links, variables, point events, and what the format does not know
};

enum class Role : std::uint8_t { time, name, alias, type, container, value };
inline constexpr std::size_t kRoles = 6;

/// A field beyond those of the format.
struct ExtraField {
    std::string name;
    Reading reading = Reading::integer;  ///< the narrowest that its declared type allows
    std::size_t at = 0;                  ///< among the fields of the line; 0 is the number of the event
};

struct Definition {
    static constexpr std::size_t kMaxFields = 255;
    static constexpr std::size_t kNone = 0;

    bool has(Role role) const { return at[static_cast<std::size_t>(role)] != kNone; }

    EventKind kind = EventKind::other;
    std::string event;  ///< PajePushState
    std::string id;     ///< as in the first field of its events
    std::array<std::size_t, kRoles> at{};
    std::size_t fields = 1;          ///< with the number of the event
    std::size_t looked_at = 1;       ///< so many fields of a line matter
    std::size_t needed = 1;          ///< fewer are an error
    std::vector<ExtraField> extras;  ///< of states that begin
};

class Definitions {
  public:
    /// A line that begins with `%`. Errors: what was expected, for the end of a sentence.
    Result<void> take(std::string_view line);
    bool is_open() const { return open_; }

    /// Of the event with this number; kNotDefined: there is none.
    static constexpr std::size_t kNotDefined = SIZE_MAX;
    std::size_t find(std::string_view id) const;
    const Definition& operator[](std::size_t index) const { return definitions_[index]; }

  private:
    Result<void> begin(FieldCursor fields);
    Result<void> add_field(std::string_view name, std::string_view type);
    Result<void> end();

    static constexpr std::size_t kShortIds = 1000;
    static constexpr std::size_t short_id(std::string_view id);

    bool open_ = false;
    Definition current_;
    std::vector<Definition> definitions_;
    std::array<std::uint32_t, kShortIds> of_short_{};  ///< 1 + index
    TextMap<std::size_t> of_long_;
};

// Which tool has written a Pajé file, as far as the file tells. It decides the unit of time: the format means
// seconds, but some tools write milliseconds.

class Producer {
  public:
    /// A comment, without its `#`.
    void heard(std::string_view comment);
    /// A type of containers, or a value of states, has been defined.
    void type_defined(std::string_view identifier, std::string_view name);
    void value_defined(std::string_view identifier, std::string_view name);
    /// A type has been defined that only `rdam export --format paje` has.
    void is_export_of_rdam();

    /// Its name and version; "" if the file does not say.
    const std::string& tool() const { return tool_; }
    const std::vector<std::string>& command() const { return command_; }
    bool is_rdam() const { return is_rdam_; }
    bool is_starpu() const { return tool_ == "StarPU"; }
    /// Its times are none of a run.
    bool simulates() const { return tool_.starts_with("SimGrid "); }
    /// Whether values are the names of functions that ran. Others' are those of states: SimGrid's MPI_Recv is none.
    bool names_functions() const { return is_rdam_ || tool_ == "EZTrace 1"; }
    bool milliseconds() const { return milliseconds_; }
    /// The containers of its threads have the kernel's number of the thread as their name.
    bool names_are_tids() const { return names_are_tids_; }

  private:
    std::string tool_;
    std::vector<std::string> command_;
    bool command_follows_ = false;
    bool milliseconds_ = false;
    bool names_are_tids_ = false;
    bool is_rdam_ = false;
};

// States as calls. Pajé keeps a stack of states for each container and type: that is a thread here. Setting a
// state ends all that are open on the stack, as does a reset (so pj_dump reads them, too). Those that are
// open at the end of the container have no end: they last as long as the thread.

enum class Change : std::uint8_t { set, push, pop, reset, destroy };

struct StateEvent {
    std::uint64_t time = 0;  ///< ticks
    std::uint64_t words_at = 0;
    std::uint32_t function = 0;  ///< of set and push
    std::uint8_t words = 0;
    Change change = Change::reset;
};

/// What could not be taken as it stands, in states.
struct StateOddities {
    std::uint64_t never_popped = 0;  ///< pushed, and ended by a state that is set
    std::uint64_t too_late = 0;      ///< events after the end of the container: left out
    std::uint64_t empty = 0;  ///< set, and at the same time another one: left out, if that is asked for
};

class StateStacks {
  public:
    /// `sorted`: events are kept until end(), and then sorted by time. Otherwise one that is earlier than the
    /// one before on its stack makes the trace disordered(), and the rest is left out.
    StateStacks(TraceBuilder& builder, bool sorted) : builder_(builder), sorted_(sorted) {}

    /// A state that is set when another one is set at the same time was none, but how a tool gets from one to the
    /// next: as the shortest of its kind it would be what others are compared with. From here on.
    void leave_out_empty() { leaves_out_empty_ = true; }
    /// A stack, whose states are calls of the builder's thread with the same number.
    std::uint32_t add();

    void take(std::uint32_t stack, const StateEvent& event, std::span<const std::uint64_t> words);
    /// `time`: the last of the file.
    void end(std::uint64_t time);

    bool disordered() const { return disordered_; }
    const StateOddities& oddities() const { return oddities_; }

  private:
    struct Stack {
        std::uint32_t thread = 0;
        bool ended = false;
        std::uint64_t last = 0;
        std::vector<bool> pushed;  ///< of each open state: not set
        std::vector<StateEvent> given;
        std::optional<StateEvent>
            held;  ///< a state that is set, of which it is not known whether it is empty
        std::vector<std::uint64_t> held_words;
    };

    void apply(Stack& stack, const StateEvent& event, std::span<const std::uint64_t> words);
    void end_all(Stack& stack, std::uint64_t time);
    void give_held(Stack& stack);

    TraceBuilder& builder_;
    bool sorted_;
    bool leaves_out_empty_ = false;
    bool disordered_ = false;
    std::vector<Stack> stacks_;
    std::vector<std::uint64_t> given_words_;
    StateOddities oddities_;
};

}  // namespace rdam::inputs::paje
