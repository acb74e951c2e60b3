#include "tests/unit/otf2/archive_contents.h"

#include <memory>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

ArchiveContents& contents(void* user) {
    return *static_cast<ArchiveContents*>(user);
}

OTF2_CallbackCode clock(void* user, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length,
                        std::uint64_t /*unix_ns*/) {
    CHECK(resolution == 1'000'000'000);
    CHECK(offset == 0);
    contents(user).length = length;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode string(void* user, OTF2_StringRef self, const char* text) {
    CHECK(contents(user).strings.emplace(self, text).second);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef /*text*/,
                            OTF2_Type /*type*/) {
    CHECK(contents(user).attributes.emplace(self, contents(user).strings.at(name)).second);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef /*canonical*/,
                         OTF2_StringRef /*text*/, OTF2_RegionRole /*role*/, OTF2_Paradigm /*paradigm*/,
                         OTF2_RegionFlag /*flags*/, OTF2_StringRef /*file*/, std::uint32_t /*begin*/,
                         std::uint32_t /*end*/) {
    CHECK(contents(user).regions.emplace(self, contents(user).strings.at(name)).second);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode location(void* user, OTF2_LocationRef self, OTF2_StringRef /*name*/,
                           OTF2_LocationType /*type*/, std::uint64_t /*events*/,
                           OTF2_LocationGroupRef /*group*/) {
    CHECK(contents(user).events.emplace(self, std::vector<ArchiveContents::Event>{}).second);
    return OTF2_CALLBACK_SUCCESS;
}

void add(void* user, bool is_enter, OTF2_LocationRef location, OTF2_TimeStamp time,
         const OTF2_AttributeList* list, OTF2_RegionRef region) {
    ArchiveContents& all = contents(user);
    ArchiveContents::Event event{is_enter, time, all.regions.at(region), {}};
    for (std::uint32_t i = 0; i < OTF2_AttributeList_GetNumberOfElements(list); ++i) {
        OTF2_AttributeRef ref = 0;
        ArchiveContents::Attribute found;
        REQUIRE(OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &found.type, &found.value) ==
                OTF2_SUCCESS);
        found.name = all.attributes.at(ref);
        event.attributes.push_back(found);
    }
    all.events.at(location).push_back(std::move(event));
}

OTF2_CallbackCode enter(OTF2_LocationRef location, OTF2_TimeStamp time, void* user, OTF2_AttributeList* list,
                        OTF2_RegionRef region) {
    add(user, true, location, time, list, region);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode leave(OTF2_LocationRef location, OTF2_TimeStamp time, void* user, OTF2_AttributeList* list,
                        OTF2_RegionRef region) {
    add(user, false, location, time, list, region);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_ErrorCode complain(void* user, const char* /*file*/, std::uint64_t /*line*/, const char* function,
                        OTF2_ErrorCode code, const char* /*format*/, va_list /*values*/) {
    *static_cast<std::string*>(user) += std::string{function} + ": " + OTF2_Error_GetDescription(code) + "\n";
    return code;
}

void read_definitions(OTF2_Reader* reader, ArchiveContents& all) {
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, attribute);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, region);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, location);
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, &all);
    std::uint64_t read = 0;
    CHECK(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read) == OTF2_SUCCESS);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
}

void read_events(OTF2_Reader* reader, ArchiveContents& all) {
    for (const auto& [ref, none] : all.events)
        OTF2_Reader_SelectLocation(reader, ref);
    OTF2_Reader_OpenEvtFiles(reader);
    for (const auto& [ref, none] : all.events)
        REQUIRE(OTF2_Reader_GetEvtReader(reader, ref) != nullptr);
    OTF2_GlobalEvtReaderCallbacks* callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, leave);
    OTF2_GlobalEvtReader* events = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, &all);
    std::uint64_t read = 0;
    CHECK(OTF2_Reader_ReadAllGlobalEvents(reader, events, &read) == OTF2_SUCCESS);
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    OTF2_Reader_CloseGlobalEvtReader(reader, events);
    OTF2_Reader_CloseEvtFiles(reader);
}

}  // namespace

ArchiveContents read_archive(const std::string& anchor) {
    std::string complaints;
    const OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(complain, &complaints);
    ArchiveContents all;
    OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
    REQUIRE(reader != nullptr);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    read_definitions(reader, all);
    read_events(reader, all);
    CHECK(OTF2_Reader_Close(reader) == OTF2_SUCCESS);
    OTF2_Error_RegisterCallback(before, nullptr);
    CHECK(complaints.empty());
    return all;
}

}  // namespace rdam::test
