#include "analyzer/inputs/otf2/archive_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "analyzer/inputs/otf2/errors.h"
#include "analyzer/inputs/otf2/names.h"

namespace rdam::inputs::otf2 {
namespace {

using rdam::otf2::LibraryErrors;

constexpr std::uint64_t kAtATime = 100'000;

/// Takes over what the library has allocated.
std::string own_text(char* text) {
    std::string result = text == nullptr ? "" : text;
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): the library's documentation demands it
    return result;
}

std::string text_of(OTF2_Reader* reader, OTF2_ErrorCode (*get)(OTF2_Reader*, char**)) {
    char* text = nullptr;
    LibraryErrors::note(get(reader, &text));
    return own_text(text);
}

/// What the library does not say of a file of the archive `name` that it could not open. Nothing: nothing is
/// wrong with it.
std::optional<Error> fault_of(const std::filesystem::path& file, const std::string& name) {
    if (access(file.c_str(), R_OK) == 0) return {};
    const int error = errno;
    if (error == ENOENT)
        return Error{
            fmt::format("{}: the OTF2 archive has no {}; copy the whole archive again", name, file.string())};
    return Error{fmt::format("{}: cannot read {}: {}; check its permissions and those of its directory", name,
                             file.string(), std::strerror(error))};
}

}  // namespace

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(const std::string& anchor,
                                                           const std::string& name) {
    std::unique_ptr<ArchiveReader> made{new ArchiveReader{anchor, name}};
    made->reader_ = OTF2_Reader_Open(anchor.c_str());
    if (made->reader_ == nullptr) {
        LibraryErrors::note(OTF2_ERROR_INVALID_DATA);
        return tl::unexpected{made->state("its anchor file", {anchor}).error()};
    }
    LibraryErrors::note(OTF2_Reader_SetSerialCollectiveCallbacks(made->reader_));
    made->callbacks_.reset(event_callbacks());
    return made;
}

ArchiveReader::~ArchiveReader() {
    // After an error the library may use what it has freed.
    if (reader_ != nullptr && LibraryErrors::first() == OTF2_SUCCESS) OTF2_Reader_Close(reader_);
}

Result<void> ArchiveReader::state(const std::string& what,
                                  const std::vector<std::filesystem::path>& files) const {
    const OTF2_ErrorCode error = LibraryErrors::first();
    if (error == OTF2_SUCCESS) return {};
    for (const std::filesystem::path& file : files)
        if (const auto fault = fault_of(file, name_)) return tl::unexpected{*fault};
    return fail("{}: OTF2 cannot read {}: {}; copy the whole archive again, or record it anew", name_, what,
                OTF2_Error_GetDescription(error));
}

Result<Definitions> ArchiveReader::definitions() {
    Definitions result;
    result.creator = text_of(reader_, OTF2_Reader_GetCreator);
    result.is_ours = result.creator.starts_with(rdam::otf2::kExportOf);
    result.machine = text_of(reader_, OTF2_Reader_GetMachineName);
    std::uint8_t major = 0, minor = 0, bugfix = 0;
    LibraryErrors::note(OTF2_Reader_GetVersion(reader_, &major, &minor, &bugfix));
    result.version = fmt::format("{}.{}.{}", major, minor, bugfix);
    OTF2_GlobalDefReader* reader = OTF2_Reader_GetGlobalDefReader(reader_);
    if (reader == nullptr) LibraryErrors::note(OTF2_ERROR_INVALID_DATA);
    const std::unique_ptr<OTF2_GlobalDefReaderCallbacks, void (*)(OTF2_GlobalDefReaderCallbacks*)> callbacks{
        definition_callbacks(), OTF2_GlobalDefReaderCallbacks_Delete};
    std::uint64_t read = 0;
    if (auto good = state("its definitions", {std::filesystem::path{anchor_}.replace_extension(".def")});
        !good)
        return tl::unexpected{good.error()};
    LibraryErrors::note(OTF2_Reader_RegisterGlobalDefCallbacks(reader_, reader, callbacks.get(), &result));
    LibraryErrors::note(OTF2_Reader_ReadAllGlobalDefinitions(reader_, reader, &read));
    if (auto good = state("its definitions", {std::filesystem::path{anchor_}.replace_extension(".def")});
        !good)
        return tl::unexpected{good.error()};
    return result;
}

void ArchiveReader::open_events(const Definitions& definitions) {
    for (const Location& location : definitions.locations)
        LibraryErrors::note(OTF2_Reader_SelectLocation(reader_, location.ref));
    // Archives without definitions of single locations have no such files.
    if (OTF2_Reader_OpenDefFiles(reader_) != OTF2_SUCCESS) {
    }
    LibraryErrors::note(OTF2_Reader_OpenEvtFiles(reader_));
}

// The library keeps what it reads here. It looks for it at each number and time of an event as long as that
// is not switched off.
ArchiveReader::Translation ArchiveReader::read_translation(OTF2_LocationRef location) {
    Translation found;
    OTF2_DefReader* reader = OTF2_Reader_GetDefReader(reader_, location);
    if (reader == nullptr) return found;
    const std::unique_ptr<OTF2_DefReaderCallbacks, void (*)(OTF2_DefReaderCallbacks*)> callbacks{
        OTF2_DefReaderCallbacks_New(), OTF2_DefReaderCallbacks_Delete};
    OTF2_DefReaderCallbacks_SetMappingTableCallback(
        callbacks.get(), [](void* user, OTF2_MappingType /*type*/, const OTF2_IdMap* /*map*/) {
            static_cast<Translation*>(user)->numbers = true;
            return OTF2_CALLBACK_SUCCESS;
        });
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(
        callbacks.get(),
        [](void* user, OTF2_TimeStamp /*time*/, std::int64_t /*offset*/, double /*deviation*/) {
            static_cast<Translation*>(user)->times = true;
            return OTF2_CALLBACK_SUCCESS;
        });
    LibraryErrors::note(OTF2_Reader_RegisterDefCallbacks(reader_, reader, callbacks.get(), &found));
    std::uint64_t read = 0;
    LibraryErrors::note(OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read));
    LibraryErrors::note(OTF2_Reader_CloseDefReader(reader_, reader));
    return found;
}

// To read them again would be an error.
ArchiveReader::Translation ArchiveReader::translation_of(OTF2_LocationRef location) {
    const auto [at, is_new] = translations_.try_emplace(location);
    if (is_new) at->second = read_translation(location);
    return at->second;
}

Result<std::uint64_t> ArchiveReader::read(const Location& location, EventSink& sink,
                                          const std::function<void(std::uint64_t)>& progress,
                                          std::uint64_t most) {
    const std::string what = fmt::format("location {}", location.ref);
    const auto state_of = [&](const std::string& part) {
        const std::filesystem::path folder = std::filesystem::path{anchor_}.replace_extension();
        return state(part, {folder / fmt::format("{}.evt", location.ref),
                            folder / fmt::format("{}.def", location.ref)});
    };
    const Translation translation = translation_of(location.ref);
    if (auto good = state_of(what); !good) return tl::unexpected{good.error()};
    OTF2_EvtReader* reader = OTF2_Reader_GetEvtReader(reader_, location.ref);
    if (reader == nullptr) LibraryErrors::note(OTF2_ERROR_INVALID_DATA);
    if (auto good = state_of(what); !good) return tl::unexpected{good.error()};
    LibraryErrors::note(OTF2_EvtReader_ApplyMappingTables(reader, translation.numbers));
    LibraryErrors::note(OTF2_EvtReader_ApplyClockOffsets(reader, translation.times));
    Listener listener{.sink = sink};
    LibraryErrors::note(OTF2_Reader_RegisterEvtCallbacks(reader_, reader, callbacks_.get(), &listener));
    std::uint64_t events = 0, wanted = 0, some = 0;
    do {
        wanted = std::min(kAtATime, most - events);
        LibraryErrors::note(OTF2_Reader_ReadLocalEvents(reader_, reader, wanted, &some));
        events += some;
        progress(some);
    } while (some == wanted && events < most && sink.goes_on() && LibraryErrors::first() == OTF2_SUCCESS);
    if (LibraryErrors::first() == OTF2_SUCCESS)
        LibraryErrors::note(OTF2_Reader_CloseEvtReader(reader_, reader));
    if (auto good = state_of(fmt::format("{} after {} events", what, events)); !good)
        return tl::unexpected{good.error()};
    return events;
}

}  // namespace rdam::inputs::otf2
