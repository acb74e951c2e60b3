#include "analyzer/inputs/otf2/definitions.h"

#include <algorithm>
#include <filesystem>

namespace rdam::inputs::otf2 {
namespace {

Definitions& definitions(void* user) {
    return *static_cast<Definitions*>(user);
}

OTF2_CallbackCode clock_properties(void* user, std::uint64_t per_second, std::uint64_t /*offset*/,
                                   std::uint64_t /*length*/, std::uint64_t /*unix_ns*/) {
    definitions(user).ticks_per_second = per_second;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode string(void* user, OTF2_StringRef self, const char* text) {
    definitions(user).strings.try_emplace(self, text);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name,
                            OTF2_StringRef /*description*/, OTF2_Type type) {
    definitions(user).attributes.try_emplace(self, Described{.name = name, .type = type});
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode parameter_event(void* user, OTF2_ParameterRef self, OTF2_StringRef name,
                                  OTF2_ParameterType type) {
    OTF2_Type value = OTF2_TYPE_UINT64;
    if (type == OTF2_PARAMETER_TYPE_INT64) value = OTF2_TYPE_INT64;
    if (type == OTF2_PARAMETER_TYPE_STRING) value = OTF2_TYPE_STRING;
    definitions(user).parameters.try_emplace(self, Described{.name = name, .type = value});
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode system_tree_node(void* user, OTF2_SystemTreeNodeRef /*self*/, OTF2_StringRef name,
                                   OTF2_StringRef class_name, OTF2_SystemTreeNodeRef /*parent*/) {
    definitions(user).nodes.push_back({.name = name, .class_name = class_name});
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode location_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                 OTF2_LocationGroupType /*type*/, OTF2_SystemTreeNodeRef /*parent*/,
                                 OTF2_LocationGroupRef /*creator*/) {
    definitions(user).groups.try_emplace(self, name);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode location(void* user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                           std::uint64_t events, OTF2_LocationGroupRef group) {
    definitions(user).locations.push_back(
        {.ref = self, .name = name, .type = type, .events = events, .group = group});
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                         OTF2_StringRef /*description*/, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                         OTF2_RegionFlag /*flags*/, OTF2_StringRef file, std::uint32_t begin,
                         std::uint32_t /*end*/) {
    definitions(user).regions.push_back(
        {.ref = self,
         .name = name,
         .canonical = canonical,
         .file = file,
         .line = begin,
         .artificial = role == OTF2_REGION_ROLE_ARTIFICIAL && paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM,
         .of_program = paradigm == OTF2_PARADIGM_USER || paradigm == OTF2_PARADIGM_COMPILER});
    return OTF2_CALLBACK_SUCCESS;
}

std::string name_of(const Definitions& definitions, const Location& location) {
    const auto group = definitions.groups.find(location.group);
    const std::string_view outer =
        group == definitions.groups.end() ? std::string_view{} : definitions.text(group->second);
    const std::string_view inner = definitions.text(location.name);
    if (inner.empty()) return outer.empty() ? fmt::format("location {}", location.ref) : std::string{outer};
    // EZTrace repeats the group: P#0T#1.
    if (outer.empty() || inner.starts_with(outer)) return std::string{inner};
    return fmt::format("{}: {}", outer, inner);
}

}  // namespace

std::string_view Definitions::text(OTF2_StringRef ref) const {
    const auto found = strings.find(ref);
    return found == strings.end() ? std::string_view{} : std::string_view{found->second};
}

OTF2_GlobalDefReaderCallbacks* definition_callbacks() {
    OTF2_GlobalDefReaderCallbacks* made = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(made, clock_properties);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(made, string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(made, attribute);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(made, parameter_event);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(made, system_tree_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(made, location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(made, location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(made, region);
    return made;
}

void add_threads(const Definitions& definitions, std::span<const Location> locations, TraceBuilder& builder) {
    for (const Location& location : locations)
        builder.add_thread(name_of(definitions, location));
}

void describe(const Definitions& definitions, const std::string& anchor, TraceBuilder& builder) {
    trace::TraceInfo& info = builder.info();
    const bool eztrace = std::filesystem::path{anchor}.stem() == "eztrace_log";
    info.process.recorder = eztrace ? "EZTrace" : "OTF2 " + definitions.version;
    if (!definitions.creator.empty())
        info.process.recorder =
            definitions.creator.substr(definitions.is_ours ? rdam::otf2::kExportOf.size() : 0);
    info.process.machine = definitions.machine;
    for (const SystemTreeNode& node : definitions.nodes) {
        if (definitions.text(node.class_name) == "node") info.process.host = definitions.text(node.name);
        // EZTrace's only node is the program.
        if (eztrace) info.process.command = {std::string{definitions.text(node.name)}};
    }
    // The steps in which it moves are not told.
    builder.set_clock("otf2", static_cast<double>(std::max<std::uint64_t>(definitions.ticks_per_second, 1)),
                      1);
    if (definitions.is_ours) note_export(info);
}

}  // namespace rdam::inputs::otf2
