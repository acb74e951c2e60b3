#include "analyzer/inputs/paje/parser.h"

#include <algorithm>

namespace rdam::inputs::paje {
namespace {

constexpr std::uint64_t kHigh = 32;  // bits

/// Of the other two the number is 0.
Change change_of(EventKind kind) {
    switch (kind) {
        case EventKind::set_state:
            return Change::set;
        case EventKind::push_state:
            return Change::push;
        case EventKind::pop_state:
            return Change::pop;
        default:
            return Change::reset;
    }
}

}  // namespace

std::uint32_t Names::find(std::string_view text) const {
    if (const auto found = identifiers_.find(text); found != identifiers_.end()) return found->second;
    if (const auto found = names_.find(text); found != names_.end()) return found->second;
    return kNoEntity;
}

void Names::add(std::string_view alias, std::string_view name, std::uint32_t number) {
    identifiers_.insert_or_assign(std::string{alias.empty() ? name : alias}, number);
    if (!alias.empty()) names_.insert_or_assign(std::string{name}, number);
}

Entities::Entities() {
    add_type({.nature = Type::Nature::container, .name = "0", .values = {}}, "");
    add_container({.name = "0", .destroyed = {}, .children = {}, .stacks = {}}, "");
}

std::uint32_t Entities::add_type(Type type, std::string_view alias) {
    const auto number = static_cast<std::uint32_t>(types.size());
    type_names.add(alias, type.name, number);
    types.push_back(std::move(type));
    return number;
}

std::uint32_t Entities::add_value(std::uint32_t type, std::string_view alias, std::string_view name) {
    const auto number = static_cast<std::uint32_t>(values.size());
    types[type].values.add(alias, name, number);
    values.push_back({.name = std::string{name}, .type = type});
    return number;
}

std::uint32_t Entities::value_of(std::uint32_t type, std::string_view identifier) {
    const std::uint32_t known = types[type].values.find(identifier);
    return known == kNoEntity ? add_value(type, "", identifier) : known;
}

std::uint32_t Entities::add_container(Container container, std::string_view alias) {
    const auto number = static_cast<std::uint32_t>(containers.size());
    container_names.add(alias, container.name, number);
    if (container.parent != kNoEntity) containers[container.parent].children.push_back(number);
    containers.push_back(std::move(container));
    return number;
}

Parser::Parser(TraceBuilder& builder, Facts facts)
    : builder_(builder),
      given_(std::move(facts)),
      found_(given_),
      stacks_(builder, given_.disordered),
      scale_(given_.scale) {}

Result<void> Parser::take(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t\v\f\r");
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin);
    if (line.front() == '#') {
        producer_.heard(line.substr(1));
        return {};
    }
    if (line.front() == '%')
        return !definitions_.is_open() && is_comment(line) ? Result<void>{} : definitions_.take(line);
    if (definitions_.is_open()) return fail("expected a field of the event, or %EndEventDef");
    return event(line);
}

Result<void> Parser::event(std::string_view line) {
    FieldCursor cursor{line};
    const auto id = cursor.next();
    if (!id) return {};
    fields_.assign(1, *id);
    const std::size_t index = definitions_.find(*id);
    if (index == Definitions::kNotDefined)
        return fail("expected the number of an event that %EventDef has defined, found `{}`", *id);
    const Definition& definition = definitions_[index];
    if (auto done = split(cursor, definition); !done) return done;
    return dispatch(definition, index);
}

Result<void> Parser::split(FieldCursor cursor, const Definition& definition) {
    while (fields_.size() < definition.looked_at) {
        const auto next = cursor.next();
        if (!next) break;
        fields_.push_back(*next);
    }
    if (fields_.size() < definition.needed)
        return fail("expected {} fields after the number of a {}, found {}", definition.fields - 1,
                    definition.event, fields_.size() - 1);
    std::size_t count = fields_.size();
    while (count <= definition.fields && cursor.next())
        ++count;
    if (count > definition.fields) ++with_surplus_;
    return {};
}

std::string_view Parser::field(const Definition& definition, Role role) const {
    const std::size_t at = definition.at[static_cast<std::size_t>(role)];
    return at == Definition::kNone || at >= fields_.size() ? std::string_view{} : fields_[at];
}

Result<std::uint64_t> Parser::time(const Definition& definition) {
    const std::string_view text = field(definition, Role::time);
    const std::optional<Decimal> decimal = parse_decimal(text);
    if (!decimal || decimal->negative)
        return fail("expected a time in seconds, not negative, found `{}`", text);
    if (scale_ == Facts::kUnknown) [[unlikely]]
        scale_ = producer_.milliseconds() ? 6 : 9;
    decimals_ = std::max(decimals_, decimal->decimals());
    const std::uint64_t ticks = to_ticks(*decimal, scale_);
    if (ticks > last_ || (ticks == kMaxTicks && value_of(*decimal) > value_of(latest_))) {
        last_ = ticks;
        latest_ = *decimal;
    }
    return ticks;
}

Result<void> Parser::dispatch(const Definition& definition, std::size_t index) {
    switch (definition.kind) {
        case EventKind::define_container_type:
        case EventKind::define_state_type:
        case EventKind::define_other_type:
            return define_type(definition);
        case EventKind::define_value:
            return define_value(definition);
        case EventKind::create_container:
            return create_container(definition);
        case EventKind::destroy_container:
            return destroy_container(definition);
        case EventKind::set_state:
        case EventKind::push_state:
        case EventKind::pop_state:
        case EventKind::reset_state:
            return change_state(definition, index);
        case EventKind::other_file:
            ++other_files_;
            break;
        case EventKind::other:
            if (!field(definition, Role::time).empty())
                if (auto passed = time(definition); !passed) return tl::unexpected{passed.error()};
            break;
    }
    return {};
}

Result<void> Parser::define_type(const Definition& definition) {
    const std::string_view parent_name = field(definition, Role::type);
    const std::uint32_t parent = parent_name.empty() ? 0 : entities_.type_names.find(parent_name);
    if (parent == kNoEntity) return fail("expected a type that has been defined, found `{}`", parent_name);
    const std::string_view name = field(definition, Role::name);
    const std::string_view alias = field(definition, Role::alias);
    if (alias.empty() && name.empty()) return fail("expected a name or an alias of the type");
    Type type{.name = std::string{name.empty() ? alias : name}, .parent = parent, .values = {}};
    if (definition.kind == EventKind::define_container_type) producer_.type_defined(alias, name);
    if (producer_.is_starpu()) stacks_.leave_out_empty();
    if (definition.kind == EventKind::define_state_type) {
        type.nature = Type::Nature::state;
        type.is_exported_off_processor = name == "Off the processor" && alias == "O";
        if (type.is_exported_off_processor) producer_.is_export_of_rdam();
    } else if (definition.kind == EventKind::define_other_type) {
        type.nature = Type::Nature::other;
    }
    entities_.add_type(std::move(type), alias);
    return {};
}

Result<void> Parser::define_value(const Definition& definition) {
    const std::string_view type_name = field(definition, Role::type);
    const std::uint32_t type = entities_.type_names.find(type_name);
    if (type == kNoEntity) return fail("expected a type that has been defined, found `{}`", type_name);
    if (entities_.types[type].nature != Type::Nature::state) return {};
    const std::string_view name = field(definition, Role::name);
    const std::string_view alias = field(definition, Role::alias);
    producer_.value_defined(alias, name);
    entities_.add_value(type, alias, name.empty() ? alias : name);
    return {};
}

Result<void> Parser::create_container(const Definition& definition) {
    const auto at = time(definition);
    if (!at) return tl::unexpected{at.error()};
    const std::string_view type_name = field(definition, Role::type);
    const std::uint32_t type = entities_.type_names.find(type_name);
    if (type == kNoEntity || entities_.types[type].nature != Type::Nature::container)
        return fail("expected a type of containers that has been defined, found `{}`", type_name);
    const std::string_view parent_name = field(definition, Role::container);
    const std::uint32_t parent = parent_name.empty() ? 0 : entities_.container_names.find(parent_name);
    if (parent == kNoEntity)
        return fail("expected a container that has been created, found `{}`", parent_name);
    const std::string_view name = field(definition, Role::name);
    const std::string_view alias = field(definition, Role::alias);
    const std::uint32_t known = entities_.container_names.find(alias.empty() ? name : alias);
    if (known != kNoEntity) {
        const Container& same = entities_.containers[known];
        if (!same.destroyed && same.type == type && same.parent == parent && same.name == name) {
            ++created_twice_;
            return {};
        }
    }
    entities_.add_container({.name = std::string{name.empty() ? alias : name},
                             .type = type,
                             .parent = parent,
                             .created = *at,
                             .destroyed = {},
                             .children = {},
                             .stacks = {}},
                            alias);
    return {};
}

/// With the containers inside of it.
Result<void> Parser::destroy_container(const Definition& definition) {
    const auto at = time(definition);
    if (!at) return tl::unexpected{at.error()};
    const std::string_view name = field(definition, Role::name);
    const std::uint32_t first = entities_.container_names.find(name);
    if (first == kNoEntity) return fail("expected a container that has been created, found `{}`", name);
    std::vector<std::uint32_t> left{first};
    while (!left.empty()) {
        Container& container = entities_.containers[left.back()];
        left.pop_back();
        if (container.destroyed) continue;
        container.destroyed = *at;
        for (const std::uint32_t stack : container.stacks)
            stacks_.take(stack, {.time = *at, .change = Change::destroy}, {});
        left.insert(left.end(), container.children.begin(), container.children.end());
    }
    return {};
}

Result<void> Parser::change_state(const Definition& definition, std::size_t index) {
    const auto at = time(definition);
    if (!at) return tl::unexpected{at.error()};
    const std::string_view container_name = field(definition, Role::container);
    const std::uint32_t container = entities_.container_names.find(container_name);
    if (container == kNoEntity)
        return fail("expected a container that has been created, found `{}`", container_name);
    const std::string_view type_name = field(definition, Role::type);
    const std::uint32_t type = entities_.type_names.find(type_name);
    if (type == kNoEntity || entities_.types[type].nature != Type::Nature::state)
        return fail("expected a type of states that has been defined, found `{}`", type_name);
    if (entities_.types[type].is_exported_off_processor) return {};
    const std::uint32_t stack = stack_of(container, type);
    StateEvent event{.time = *at, .change = change_of(definition.kind)};
    words_.clear();
    if (definition.has(Role::value)) {
        const std::uint32_t value = entities_.value_of(type, field(definition, Role::value));
        if (event.change == Change::set || event.change == Change::push) {
            event.function = function_of(value, index);
            put_words(index);
        }
    }
    stacks_.take(stack, event, words_);
    return {};
}

std::uint32_t Parser::stack_of(std::uint32_t container, std::uint32_t type) {
    const auto [found, is_new] = stack_numbers_.try_emplace((std::uint64_t{container} << kHigh) | type, 0);
    if (!is_new) return found->second;
    const std::string& name = entities_.containers[container].name;
    builder_.add_thread(name, producer_.names_are_tids() ? leading_number(name) : 0);
    threads_.push_back({.container = container, .type = type});
    const std::uint32_t stack = found->second = stacks_.add();
    Container& owner = entities_.containers[container];
    owner.stacks.push_back(stack);
    if (owner.destroyed) stacks_.take(stack, {.time = *owner.destroyed, .change = Change::destroy}, {});
    return stack;
}

std::uint32_t Parser::function_of(std::uint32_t value, std::size_t index) {
    const bool extras = !definitions_[index].extras.empty();
    std::uint32_t& function =
        extras ? functions_with_extras_.try_emplace((std::uint64_t{index} << kHigh) | value, kNoEntity)
                     .first->second
               : entities_.values[value].function;
    if (function == kNoEntity) function = add_function(value, index);
    return function;
}

void Parser::put_words(std::size_t index) {
    const std::vector<ExtraField>& extras = definitions_[index].extras;
    for (std::size_t i = 0; i < extras.size(); ++i) {
        const std::string_view text = extras[i].at < fields_.size() ? fields_[extras[i].at] : "";
        Reading reading = reading_of(index, i);
        auto word = parse_word(text, reading);
        while (!word && reading != Reading::text) {
            reading = widened(reading, text);
            word = parse_word(text, reading);
            found_.readings[{index, i}] = reading;
        }
        words_.push_back(word ? *word : builder_.text(text));
    }
}

Reading Parser::reading_of(std::size_t definition, std::size_t extra) const {
    const auto found = found_.readings.find({definition, extra});
    return found == found_.readings.end() ? definitions_[definition].extras[extra].reading : found->second;
}

std::uint32_t Parser::add_function(std::uint32_t value, std::size_t index) {
    const StateValue& state = entities_.values[value];
    trace::FunctionInfo function;
    function.name = function.linkage_name = state.name.empty() ? "(no name)" : state.name;
    const std::vector<ExtraField>& extras = definitions_[index].extras;
    for (std::size_t i = 0; i < extras.size(); ++i) {
        switch (reading_of(index, i)) {
            case Reading::integer:
                function.parameters.push_back(
                    parameter(extras[i].name, ValueKind::signed_integer, "integer"));
                break;
            case Reading::hexadecimal:
                function.parameters.push_back(parameter(extras[i].name, ValueKind::pointer, "hexadecimal"));
                break;
            case Reading::floating:
                function.parameters.push_back(parameter(extras[i].name, ValueKind::floating, "number"));
                break;
            case Reading::text:
                function.parameters.push_back(text_parameter(extras[i].name));
                break;
        }
    }
    function.any_name = !producer_.names_functions();
    functions_.push_back({.value = value, .definition = index});
    return builder_.add_function(std::move(function));
}

}  // namespace rdam::inputs::paje
