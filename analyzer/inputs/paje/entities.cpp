#include "analyzer/inputs/paje/entities.h"

#include <utility>

namespace rdam::inputs::paje {

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

}  // namespace rdam::inputs::paje
