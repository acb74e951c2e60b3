// An archive as OTF2's library reads it.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/otf2/definitions.h"
#include "analyzer/inputs/otf2/events.h"
#include "tools/base/result.h"

namespace rdam::inputs::otf2 {

/// Not thread-safe; every thread has its own. A thread may take over that of another one in which there was
/// no error. A rdam::otf2::LibraryErrors has to live meanwhile. The library crashes at some malformed
/// archives.
class ArchiveReader {
  public:
    /// `anchor`: the path of the .otf2 file. Messages call the archive `name`.
    static Result<std::unique_ptr<ArchiveReader>> open(const std::string& anchor, const std::string& name);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;
    ArchiveReader(ArchiveReader&&) = delete;
    ArchiveReader& operator=(ArchiveReader&&) = delete;

    /// All but what concerns single locations.
    Result<Definitions> definitions();
    /// Once, after definitions(): read() is going to be called for some of their locations.
    void open_events(const Definitions& definitions);
    /// The first `most` events of a location, in global numbers and on the common clock. How many there were,
    /// those that the sink was not told about included. `progress` is told about some of them now and then.
    Result<std::uint64_t> read(const Location& location, EventSink& sink,
                               const std::function<void(std::uint64_t events)>& progress,
                               std::uint64_t most = UINT64_MAX);

  private:
    ArchiveReader(std::filesystem::path anchor, std::string name)
        : anchor_(std::move(anchor)), name_(std::move(name)) {}
    /// An error if the library has told of one; `files` are those that may be missing.
    Result<void> state(const std::string& what, const std::vector<std::filesystem::path>& files) const;
    /// What the definitions of a single location say of its events.
    struct Translation {
        bool numbers = false;  ///< they are local ones
        bool times = false;    ///< they are of a clock of its own
    };
    Translation read_translation(OTF2_LocationRef location);
    Translation translation_of(OTF2_LocationRef location);

    std::filesystem::path anchor_;
    std::string name_;
    OTF2_Reader* reader_ = nullptr;
    std::unordered_map<OTF2_LocationRef, Translation> translations_;
    std::unique_ptr<OTF2_EvtReaderCallbacks, void (*)(OTF2_EvtReaderCallbacks*)> callbacks_{
        nullptr, OTF2_EvtReaderCallbacks_Delete};
};

}  // namespace rdam::inputs::otf2
