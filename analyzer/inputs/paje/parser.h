// The lines of a Pajé file, put into a TraceBuilder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/paje/definitions.h"
#include "analyzer/inputs/paje/scan.h"
#include "tools/base/result.h"

namespace rdam::inputs::paje {

// What a file defines: types, values of states, and containers, found by alias or by name.

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

/// What has to be known of a file before it is read, and only reading it tells. It is read for a second time
/// if what is assumed at first is wrong.
struct Facts {
    static constexpr int kUnknown = -1;

    bool disordered = false;
    int scale = kUnknown;  ///< a tick is 10^-scale of the file's unit of time; not known: as a clock of
                           ///< nanoseconds
    /// What the extra fields of definitions are read as: of (definition, extra), where it is not as declared.
    std::map<std::pair<std::size_t, std::size_t>, Reading> readings;
};

class Parser {
  public:
    Parser(TraceBuilder& builder, Facts facts);

    /// Errors: what was expected, for the end of a sentence.
    Result<void> take(std::string_view line);
    /// After the last line. What has been learned; must_read_again() if what was given is wrong.
    Facts end();
    bool must_read_again() const { return must_read_again_; }
    /// Names, clock and remarks. Errors: as those of take().
    Result<void> describe();

  private:
    Result<void> event(std::string_view line);
    /// What is left of the line, after its first field.
    Result<void> split(FieldCursor cursor, const Definition& definition);
    Result<void> dispatch(const Definition& definition, std::size_t index);
    Result<std::uint64_t> time(const Definition& definition);
    std::string_view field(const Definition& definition, Role role) const;

    Result<void> define_type(const Definition& definition);
    Result<void> define_value(const Definition& definition);
    Result<void> create_container(const Definition& definition);
    Result<void> destroy_container(const Definition& definition);
    Result<void> change_state(const Definition& definition, std::size_t index);

    std::uint32_t stack_of(std::uint32_t container, std::uint32_t type);
    std::uint32_t function_of(std::uint32_t value, std::size_t index);
    std::uint32_t add_function(std::uint32_t value, std::size_t index);
    void put_words(std::size_t index);
    Reading reading_of(std::size_t definition, std::size_t extra) const;
    int wanted_scale() const;

    void name_threads();
    void name_functions();
    void name_process();
    void add_remarks();

    struct Thread {
        std::uint32_t container;
        std::uint32_t type;
    };
    struct Function {
        std::uint32_t value;
        std::size_t definition;
    };

    TraceBuilder& builder_;
    const Facts given_;
    Facts found_;
    Definitions definitions_;
    Entities entities_;
    Producer producer_;
    StateStacks stacks_;

    std::vector<std::string_view> fields_;  ///< of the line
    std::vector<std::uint64_t> words_;      ///< of the state

    std::unordered_map<std::uint64_t, std::uint32_t> stack_numbers_;          ///< by container and type
    std::unordered_map<std::uint64_t, std::uint32_t> functions_with_extras_;  ///< by definition and value
    std::vector<Thread> threads_;
    std::vector<Function> functions_;

    int scale_ = Facts::kUnknown;
    int decimals_ = 0;        ///< the most that a time has
    Decimal latest_;          ///< the latest time, in the file's unit
    std::uint64_t last_ = 0;  ///< the same in ticks
    bool must_read_again_ = false;
    std::uint64_t created_twice_ = 0;
    std::uint64_t with_surplus_ = 0;  ///< lines with more fields than their event has
    std::uint64_t other_files_ = 0;
};

}  // namespace rdam::inputs::paje
