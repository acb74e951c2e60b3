// What a Pajé file defines: types, values of states, and containers, found by alias or by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/paje/scan.h"

namespace rdam::inputs::paje {

inline constexpr std::uint32_t kNoEntity = UINT32_MAX;

/// Numbers by identifier (the alias, or the name of what has no alias); where none fits, by name.
class Names {
  public:
    std::uint32_t find(std::string_view text) const;
    /// Of two with the same identifier or name, the later one counts.
    void add(std::string_view alias, std::string_view name, std::uint32_t number);

  private:
    TextMap<std::uint32_t> identifiers_;
    TextMap<std::uint32_t> names_;
};

struct Type {
    enum class Nature : std::uint8_t { container, state, other };
    Nature nature = Nature::container;
    std::string name;
    std::uint32_t parent = kNoEntity;
    Names values;  ///< of a state type
    /// In what `rdam export --format paje` writes: its states are no calls.
    bool is_exported_off_processor = false;
};

struct StateValue {
    std::string name;
    std::uint32_t type = kNoEntity;
    std::uint32_t function = kNoEntity;  ///< without parameters; kNoEntity: there is none yet
};

struct Container {
    std::string name;
    std::uint32_t type = 0;
    std::uint32_t parent = kNoEntity;
    std::uint64_t created = 0;               ///< ticks
    std::optional<std::uint64_t> destroyed;  ///< ticks
    std::vector<std::uint32_t> children;
    std::vector<std::uint32_t> stacks;  ///< of states
};

/// Type 0 and container 0 are the format's roots.
struct Entities {
    Entities();

    std::uint32_t add_type(Type type, std::string_view alias);
    std::uint32_t add_value(std::uint32_t type, std::string_view alias, std::string_view name);
    /// The value of that name, which need not have been defined.
    std::uint32_t value_of(std::uint32_t type, std::string_view identifier);
    std::uint32_t add_container(Container container, std::string_view alias);

    std::vector<Type> types;
    std::vector<StateValue> values;
    std::vector<Container> containers;
    Names type_names;
    Names container_names;
};

}  // namespace rdam::inputs::paje
