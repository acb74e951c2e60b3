#include "tests/unit/otf2/made_archive.h"

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

void good(OTF2_ErrorCode code) {
    REQUIRE(code == OTF2_SUCCESS);
}

OTF2_FlushType always(void* /*user*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                      bool /*final*/) {
    return OTF2_FLUSH;
}
constexpr OTF2_FlushCallbacks kAlways{always, nullptr};

class StringDefinitions {
  public:
    StringDefinitions(OTF2_GlobalDefWriter* writer, const std::vector<std::string>& first) : writer_(writer) {
        for (const std::string& each : first)
            define(each);
    }
    OTF2_StringRef define(const std::string& text) {
        good(OTF2_GlobalDefWriter_WriteString(writer_, next_, text.c_str()));
        return next_++;
    }

  private:
    OTF2_GlobalDefWriter* writer_;
    OTF2_StringRef next_ = 0;
};

void write_locations(const MadeArchive& made, OTF2_Archive* archive) {
    good(OTF2_Archive_OpenEvtFiles(archive));
    for (const MadeArchive::Location& each : made.locations) {
        OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, each.ref);
        if (each.events) each.events(writer);
        good(OTF2_Archive_CloseEvtWriter(archive, writer));
    }
    good(OTF2_Archive_CloseEvtFiles(archive));
    good(OTF2_Archive_OpenDefFiles(archive));
    for (const MadeArchive::Location& each : made.locations) {
        OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive, each.ref);
        if (each.definitions) each.definitions(writer);
        good(OTF2_Archive_CloseDefWriter(archive, writer));
    }
    good(OTF2_Archive_CloseDefFiles(archive));
}

}  // namespace

void MadeArchive::write(const std::string& folder, const std::string& name) const {
    OTF2_Archive* archive =
        OTF2_Archive_Open(folder.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                          OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    REQUIRE(archive != nullptr);
    good(OTF2_Archive_SetFlushCallbacks(archive, &kAlways, nullptr));
    good(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    if (!creator.empty()) good(OTF2_Archive_SetCreator(archive, creator.c_str()));
    write_locations(*this, archive);
    OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
    good(OTF2_GlobalDefWriter_WriteClockProperties(writer, per_second, 0, 1000, OTF2_UNDEFINED_TIMESTAMP));
    StringDefinitions texts{writer, strings};
    for (const Region& each : regions) {
        const OTF2_StringRef called = texts.define(each.name);
        const OTF2_StringRef file = each.file.empty() ? OTF2_UNDEFINED_STRING : texts.define(each.file);
        good(OTF2_GlobalDefWriter_WriteRegion(
            writer, each.ref, called, called, OTF2_UNDEFINED_STRING,
            each.artificial ? OTF2_REGION_ROLE_ARTIFICIAL : OTF2_REGION_ROLE_FUNCTION,
            each.artificial ? OTF2_PARADIGM_MEASUREMENT_SYSTEM : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
            file, each.line, 0));
    }
    for (std::size_t i = 0; i < attributes.size(); ++i)
        good(OTF2_GlobalDefWriter_WriteAttribute(writer, static_cast<OTF2_AttributeRef>(i),
                                                 texts.define(attributes[i].name), OTF2_UNDEFINED_STRING,
                                                 attributes[i].type));
    for (std::size_t i = 0; i < parameters.size(); ++i)
        good(OTF2_GlobalDefWriter_WriteParameter(writer, static_cast<OTF2_ParameterRef>(i),
                                                 texts.define(parameters[i].name), parameters[i].type));
    for (std::size_t i = 0; i < contexts.size(); ++i)
        good(OTF2_GlobalDefWriter_WriteCallingContext(
            writer, static_cast<OTF2_CallingContextRef>(i), contexts[i], OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
            i == 0 ? OTF2_UNDEFINED_CALLING_CONTEXT : static_cast<OTF2_CallingContextRef>(i - 1)));
    good(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, texts.define("host0"), texts.define("node"),
                                                  OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (std::size_t i = 0; i < locations.size(); ++i) {
        const auto group = static_cast<OTF2_LocationGroupRef>(i);
        good(OTF2_GlobalDefWriter_WriteLocationGroup(writer, group, texts.define(locations[i].group),
                                                     OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
        good(OTF2_GlobalDefWriter_WriteLocation(writer, locations[i].ref, texts.define(locations[i].name),
                                                locations[i].type, 2, group));
    }
    good(OTF2_Archive_Close(archive));
}

}  // namespace rdam::test
