#include "analyzer/inputs/otf2/definitions.h"

namespace rdam::inputs::otf2 {
namespace {

Definitions& definitions(void* user) {
    return *static_cast<Definitions*>(user);
}

OTF2_CallbackCode clock_properties(void* user, std::uint64_t per_second, std::uint64_t offset,
                                   std::uint64_t length, std::uint64_t unix_ns) {
    definitions(user).clock = {
        .per_second = per_second, .offset = offset, .length = length, .unix_ns = unix_ns};
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
         .description = description,
         .file = file,
         .line = begin,
         .artificial = role == OTF2_REGION_ROLE_ARTIFICIAL && paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM});
    return OTF2_CALLBACK_SUCCESS;
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

}  // namespace rdam::inputs::otf2
