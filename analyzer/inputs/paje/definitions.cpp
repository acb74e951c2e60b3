#include "analyzer/inputs/paje/definitions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace rdam::inputs::paje {

namespace {

struct KnownEvent {
    std::string_view name;
    EventKind kind;
};

constexpr KnownEvent kEvents[] = {
    {"PajeDefineContainerType", EventKind::define_container_type},
    {"PajeDefineStateType", EventKind::define_state_type},
    {"PajeDefineEventType", EventKind::define_other_type},
    {"PajeDefineVariableType", EventKind::define_other_type},
    {"PajeDefineLinkType", EventKind::define_other_type},
    {"PajeDefineEntityValue", EventKind::define_value},
    {"PajeCreateContainer", EventKind::create_container},
    {"PajeDestroyContainer", EventKind::destroy_container},
    {"PajeSetState", EventKind::set_state},
    {"PajePushState", EventKind::push_state},
    {"PajePopState", EventKind::pop_state},
    {"PajeResetState", EventKind::reset_state},
    {"PajeTraceFile", EventKind::other_file},
};

struct KnownField {
    std::string_view name;
    std::optional<Role> role;  ///< none: of the format, but of no use here
};

/// The second name of a role is an old one.
constexpr KnownField kFields[] = {
    {"Time", Role::time},
    {"Name", Role::name},
    {"Alias", Role::alias},
    {"Type", Role::type},
    {"ContainerType", Role::type},
    {"EntityType", Role::type},
    {"Container", Role::container},
    {"Value", Role::value},
    {"Color", std::nullopt},
    {"Key", std::nullopt},
    {"StartContainerType", {}},
    {"EndContainerType", {}},
    {"SourceContainerType", {}},
    {"DestContainerType", {}},
    {"StartContainer", {}},
    {"EndContainer", {}},
    {"SourceContainer", {}},
    {"DestContainer", {}},
    {"Filename", {}},
};

EventKind kind_of(std::string_view event) {
    const auto* found = std::ranges::find(kEvents, event, &KnownEvent::name);
    return found == std::end(kEvents) ? EventKind::other : found->kind;
}

/// A field of type `string` may hold numbers.
Reading reading_of(std::string_view type) {
    if (type == "hex") return Reading::hexadecimal;
    if (type == "float" || type == "double" || type == "date") return Reading::floating;
    if (type == "color") return Reading::text;
    return Reading::integer;
}

bool begins_states(EventKind kind) {
    return kind == EventKind::set_state || kind == EventKind::push_state;
}

struct Needs {
    Role role;
    std::string_view field;
};

/// The fields without which its events cannot be understood.
std::vector<Needs> needs_of(EventKind kind) {
    const Needs time{Role::time, "Time"};
    const Needs name{Role::name, "Name"};
    const Needs type{Role::type, "Type"};
    const Needs container{Role::container, "Container"};
    const Needs value{Role::value, "Value"};
    switch (kind) {
        case EventKind::define_container_type:
        case EventKind::define_other_type:
            return {name};
        case EventKind::define_state_type:
        case EventKind::define_value:
            return {name, type};
        case EventKind::create_container:
            return {time, name, type};
        case EventKind::destroy_container:
            return {time, name};
        case EventKind::set_state:
        case EventKind::push_state:
            return {time, type, container, value};
        case EventKind::pop_state:
        case EventKind::reset_state:
            return {time, type, container};
        case EventKind::other_file:
        case EventKind::other:
            break;
    }
    return {};
}

}  // namespace

constexpr std::size_t Definitions::short_id(std::string_view id) {
    constexpr std::size_t kMaxDigits = 3;
    if (id.empty() || id.size() > kMaxDigits || (id.front() == '0' && id.size() > 1)) return kNotDefined;
    std::size_t number = 0;
    for (const char c : id) {
        if (c < '0' || c > '9') return kNotDefined;
        number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    return number;
}

std::size_t Definitions::find(std::string_view id) const {
    if (const std::size_t number = short_id(id); number != kNotDefined) {
        const std::uint32_t found = of_short_[number];
        return found == 0 ? kNotDefined : found - 1;
    }
    const auto found = of_long_.find(id);
    return found == of_long_.end() ? kNotDefined : found->second;
}

Result<void> Definitions::take(std::string_view line) {
    FieldCursor fields{line};
    std::string_view first = fields.next().value_or("%");
    first.remove_prefix(1);
    if (first.empty()) first = fields.next().value_or("");
    if (first == "EventDef") return begin(fields);
    if (!open_) return fail("expected `%EventDef NAME NUMBER`, found `%{}`", first);
    if (first == "EndEventDef") return end();
    return add_field(first, fields.next().value_or(""));
}

Result<void> Definitions::begin(FieldCursor fields) {
    if (open_)
        return fail("expected %EndEventDef: the definition of {} (event {}) has no end", current_.event,
                    current_.id);
    const auto event = fields.next();
    const auto id = fields.next();
    if (!id) return fail("expected `%EventDef NAME NUMBER`");
    current_ = {};
    current_.event = *event;
    current_.id = *id;
    current_.kind = kind_of(*event);
    open_ = true;
    return {};
}

Result<void> Definitions::add_field(std::string_view name, std::string_view type) {
    if (name.empty()) return fail("expected the name and the type of a field, or %EndEventDef");
    if (current_.fields > Definition::kMaxFields)
        return fail("expected %EndEventDef: {} (event {}) has more than {} fields", current_.event,
                    current_.id, Definition::kMaxFields);
    const std::size_t at = current_.fields++;
    const auto* known = std::ranges::find(kFields, name, &KnownField::name);
    if (known == std::end(kFields)) {
        if (!begins_states(current_.kind)) return {};
        current_.extras.push_back({.name = std::string{name}, .reading = reading_of(type), .at = at});
        current_.looked_at = at + 1;
    } else if (known->role && !current_.has(*known->role)) {
        current_.at[static_cast<std::size_t>(*known->role)] = at;
        current_.looked_at = at + 1;
    }
    return {};
}

Result<void> Definitions::end() {
    // Old producers name what is destroyed in a field of this name.
    if (current_.kind == EventKind::destroy_container && !current_.has(Role::name))
        std::swap(current_.at[static_cast<std::size_t>(Role::name)],
                  current_.at[static_cast<std::size_t>(Role::container)]);
    for (const Needs& each : needs_of(current_.kind)) {
        if (!current_.has(each.role))
            return fail("expected a field {} before %EndEventDef: {} (event {}) has none", each.field,
                        current_.event, current_.id);
        current_.needed = std::max(current_.needed, current_.at[static_cast<std::size_t>(each.role)] + 1);
    }
    open_ = false;
    const std::size_t index = definitions_.size();
    if (const std::size_t number = short_id(current_.id); number != kNotDefined)
        of_short_[number] = static_cast<std::uint32_t>(index + 1);
    else
        of_long_.insert_or_assign(current_.id, index);
    definitions_.push_back(std::move(current_));
    return {};
}

namespace {

std::string first_word(std::string_view text) {
    return std::string{FieldCursor{text}.next().value_or("")};
}

}  // namespace

void Producer::heard(std::string_view comment) {
    constexpr std::string_view kSimGrid = "This file was generated using SimGrid-";
    constexpr std::string_view kPoti = "POTI_GIT_VERSION ";
    constexpr std::size_t kMaxArguments = 1000;
    const bool is_command = command_follows_ && comment.starts_with('[');
    command_follows_ = false;
    if (comment.starts_with(kSimGrid)) {
        tool_ = "SimGrid " + first_word(comment.substr(kSimGrid.size()));
        command_follows_ = true;
    } else if (is_command) {
        comment.remove_prefix(1);
        comment = comment.substr(0, comment.rfind(']'));
        FieldCursor words{comment};
        while (command_.size() < kMaxArguments) {
            const auto word = words.next();
            if (!word) break;
            command_.emplace_back(*word);
        }
    } else if (comment.starts_with(kPoti) && tool_.empty()) {
        tool_ = "poti " + first_word(comment.substr(kPoti.size()));
    }
}

void Producer::type_defined(std::string_view identifier, std::string_view name) {
    // StarPU's first type of containers, since its first release with one.
    if (identifier == "Mn" && name == "Memory Node") {
        tool_ = "StarPU";
        milliseconds_ = names_are_tids_ = true;
    }
}

void Producer::is_export_of_rdam() {
    is_rdam_ = names_are_tids_ = true;
    tool_ = "rdam (exported as Pajé)";
}

void Producer::value_defined(std::string_view identifier, std::string_view name) {
    if (identifier == "STV_FLUSH" || name == "EZTrace Flush" || identifier == "STV_EZTRACE_SYNC") {
        tool_ = "EZTrace 1";
        milliseconds_ = true;
    }
}

std::uint32_t StateStacks::add() {
    const auto number = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back({.thread = number, .pushed = {}, .given = {}, .held = {}, .held_words = {}});
    return number;
}

void StateStacks::take(std::uint32_t index, const StateEvent& event, std::span<const std::uint64_t> words) {
    Stack& stack = stacks_[index];
    if (sorted_) {
        stack.given.push_back(event);
        stack.given.back().words_at = given_words_.size();
        stack.given.back().words = static_cast<std::uint8_t>(words.size());
        given_words_.insert(given_words_.end(), words.begin(), words.end());
        return;
    }
    disordered_ = disordered_ || event.time < stack.last;
    stack.last = event.time;
    if (!disordered_) apply(stack, event, words);
}

void StateStacks::end_all(Stack& stack, std::uint64_t time) {
    ThreadBuilder& thread = builder_.thread(stack.thread);
    for (; !stack.pushed.empty(); stack.pushed.pop_back())
        thread.leave(time);
}

void StateStacks::give_held(Stack& stack) {
    if (!stack.held) return;
    builder_.thread(stack.thread).enter(stack.held->time, stack.held->function, stack.held_words);
    stack.pushed.push_back(false);
    stack.held.reset();
}

void StateStacks::apply(Stack& stack, const StateEvent& event, std::span<const std::uint64_t> words) {
    if (stack.ended) {
        if (event.change != Change::destroy) ++oddities_.too_late;
        return;
    }
    if (event.change == Change::destroy) stack.ended = true;
    ThreadBuilder& thread = builder_.thread(stack.thread);
    if (stack.held && event.change == Change::set && stack.held->time == event.time) {
        ++oddities_.empty;
        stack.held.reset();
    }
    give_held(stack);
    switch (event.change) {
        case Change::set:
            oddities_.never_popped +=
                static_cast<std::uint64_t>(std::count(stack.pushed.begin(), stack.pushed.end(), true));
            end_all(stack, event.time);
            if (leaves_out_empty_) {
                stack.held = event;
                stack.held_words.assign(words.begin(), words.end());
                break;
            }
            thread.enter(event.time, event.function, words);
            stack.pushed.push_back(false);
            break;
        case Change::push:
            thread.enter(event.time, event.function, words);
            stack.pushed.push_back(true);
            break;
        case Change::pop:
            thread.leave(event.time);
            if (!stack.pushed.empty()) stack.pushed.pop_back();
            break;
        case Change::reset:
            end_all(stack, event.time);
            break;
        case Change::destroy:
            // What is open was cut off: as the shortest of its kind it would be what others are compared
            // with.
            stack.pushed = {};
            thread.release();
            break;
    }
}

void StateStacks::end(std::uint64_t time) {
    const auto earlier = [](const StateEvent& a, const StateEvent& b) { return a.time < b.time; };
    for (Stack& stack : stacks_) {
        std::stable_sort(stack.given.begin(), stack.given.end(), earlier);
        for (const StateEvent& event : stack.given)
            apply(stack, event, {given_words_.data() + event.words_at, event.words});
        stack.given = {};
        if (stack.ended || disordered_) continue;
        apply(stack, {.time = time, .change = Change::destroy}, {});
    }
}

}  // namespace rdam::inputs::paje
