// What the events of a Pajé file mean: its `%EventDef` … `%EndEventDef`, in any order of fields, with old
// names of fields and with fields of the producer's own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace rdam::inputs::paje
