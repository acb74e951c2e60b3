#include "analyzer/inputs/otf2/assemble.h"

#include <otf2/otf2.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/inputs/otf2/definitions.h"
#include "analyzer/inputs/otf2/errors.h"
#include "analyzer/inputs/otf2/events.h"
#include "analyzer/inputs/otf2/functions.h"
#include "analyzer/inputs/otf2/names.h"
#include "analyzer/inputs/otf2/thread_events.h"
#include "tools/base/unmovable.h"

namespace rdam::inputs::otf2 {
namespace {

// An archive as OTF2's library reads it.

/// Not thread-safe; every thread has its own. A thread may take over that of another one in which there was
/// no error. A rdam::otf2::LibraryErrors has to live meanwhile. The library crashes at some malformed
/// archives.
class ArchiveReader : private Unmovable {
  public:
    /// `anchor`: the path of the .otf2 file. Messages call the archive `name`.
    static Result<std::unique_ptr<ArchiveReader>> open(const std::string& anchor, const std::string& name);
    ~ArchiveReader();

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

/// Of the same archive at the same time: a location's events are read by one of them.
constexpr std::size_t kMaxReaders = 4;
/// Events of each location. Nearly always they show all functions and what they are given.
constexpr std::uint64_t kSample = 20'000;

/// How many events have been read, told from one thread.
class Meter {
  public:
    Meter(const Progress& progress, std::uint64_t total) : progress_(progress), total_(total) {}

    void add(std::uint64_t events) { done_ += events; }
    void tell() {
        const std::uint64_t done = done_;
        progress_(done, done <= total_ ? total_ : 0);
    }

  private:
    const Progress& progress_;
    std::uint64_t total_;
    std::atomic<std::uint64_t> done_{0};
};

/// What is done with a location: its events go to a sink of its own.
using EachLocation = std::function<Result<void>(std::size_t index, ArchiveReader& reader,
                                                const std::function<void(std::uint64_t)>& progress)>;

class Reading {
  public:
    Reading(std::string anchor, std::string name) : anchor_(std::move(anchor)), name_(std::move(name)) {}

    Result<void> read_definitions() {
        auto reader = ArchiveReader::open(anchor_, name_);
        if (!reader) return tl::unexpected{reader.error()};
        auto read = (*reader)->definitions();
        if (!read) return tl::unexpected{read.error()};
        definitions_ = std::move(*read);
        std::unordered_set<OTF2_LocationRef> seen;
        for (const Location& each : definitions_.locations) {
            if (each.type != OTF2_LOCATION_TYPE_CPU_THREAD &&
                each.type != OTF2_LOCATION_TYPE_ACCELERATOR_STREAM)
                ++other_locations_;
            else if (has_events(each) && seen.insert(each.ref).second)
                locations_.push_back(each);
        }
        return {};
    }

    const Definitions& definitions() const { return definitions_; }
    const std::vector<Location>& locations() const { return locations_; }
    std::uint64_t other_locations() const { return other_locations_; }

    /// As many at a time as there are processors. The first error in the order of the locations.
    Result<void> for_each_location(const EachLocation& each, Meter& meter) {
        const std::size_t readers = std::clamp<std::size_t>(
            std::min<std::size_t>(std::thread::hardware_concurrency(), locations_.size()), 1, kMaxReaders);
        Shared shared;
        shared.errors.resize(locations_.size() + 1);
        std::vector<std::thread> threads;
        shared.running = readers;
        for (std::size_t i = 0; i < readers; ++i)
            threads.emplace_back([&] { work(each, meter, shared); });
        {
            std::unique_lock lock{shared.mutex};
            while (!shared.ended.wait_for(lock, std::chrono::milliseconds{100},
                                          [&] { return shared.running == 0; })) {
                lock.unlock();
                meter.tell();
                lock.lock();
            }
        }
        for (std::thread& thread : threads)
            thread.join();
        for (const auto& error : shared.errors)
            if (error) return tl::unexpected{*error};
        return {};
    }

  private:
    struct Shared {
        std::vector<std::optional<Error>> errors;  ///< by location; the last: of none
        std::atomic<std::size_t> next{0};
        std::mutex mutex;
        std::condition_variable ended;
        std::size_t running = 0;
    };

    /// Score-P writes no file for a location without events.
    bool has_events(const Location& location) const {
        if (location.events > 0) return true;
        const std::filesystem::path path{anchor_};
        std::error_code error;
        return std::filesystem::exists(path.parent_path() / path.stem() / fmt::format("{}.evt", location.ref),
                                       error);
    }

    void work(const EachLocation& each, Meter& meter, Shared& shared) {
        if (auto worked = try_work(each, meter, shared); !worked) {
            const std::lock_guard guard{shared.mutex};
            if (!shared.errors.back()) shared.errors.back() = worked.error();
        }
        const std::lock_guard guard{shared.mutex};
        --shared.running;
        shared.ended.notify_one();
    }

    Result<void> try_work(const EachLocation& each, Meter& meter, Shared& shared) {
        auto reader = take_reader();
        if (!reader) return tl::unexpected{reader.error()};
        for (std::size_t i = shared.next++; i < locations_.size(); i = shared.next++) {
            auto done = each(i, **reader, [&](std::uint64_t events) { meter.add(events); });
            if (!done) {
                shared.errors[i] = done.error();
                shared.next = locations_.size();
                return {};
            }
        }
        if (rdam::otf2::LibraryErrors::first() == OTF2_SUCCESS) keep_reader(std::move(*reader));
        return {};
    }

    Result<std::unique_ptr<ArchiveReader>> take_reader() {
        {
            const std::lock_guard guard{readers_mutex_};
            if (!readers_.empty()) {
                auto kept = std::move(readers_.back());
                readers_.pop_back();
                return kept;
            }
        }
        auto opened = ArchiveReader::open(anchor_, name_);
        if (!opened) return opened;
        // What the library needs of them, it keeps by itself.
        if (auto read = (*opened)->definitions(); !read) return tl::unexpected{read.error()};
        (*opened)->open_events(definitions_);
        return opened;
    }

    void keep_reader(std::unique_ptr<ArchiveReader> reader) {
        const std::lock_guard guard{readers_mutex_};
        readers_.push_back(std::move(reader));
    }

    std::string anchor_, name_;
    Definitions definitions_;
    std::vector<Location> locations_;
    std::uint64_t other_locations_ = 0;
    std::mutex readers_mutex_;
    std::vector<std::unique_ptr<ArchiveReader>> readers_;  ///< for the next time: they take long to open
};

void add_remarks(const Reading& reading, const Functions& functions, const PassedOver& passed,
                 std::vector<std::string>& remarks) {
    add_remark(
        remarks, reading.other_locations(),
        "location is neither a thread of a processor nor a stream of an accelerator, and was passed over",
        "locations are neither threads of a processor nor streams of an accelerator, and were passed over");
    add_remark(remarks, passed.metrics, "value of a metric was passed over",
               "values of metrics were passed over");
    add_remark(remarks, passed.records,
               "record belongs to no call, or comes after a call inside it, and was passed over",
               "records belong to no call, or come after a call inside it, and were passed over");
    add_remark(remarks, passed.undefined, "call of a region that is not defined was passed over",
               "calls of regions that are not defined were passed over");
    add_remark(remarks, passed.artificial,
               "call of a region that the recorder has made up, which is no function, was passed over",
               "calls of regions that the recorder has made up, which are no functions, were passed over");
    add_remark(remarks, functions.left_out(),
               "attribute of the ends of a function's calls, which have one result, was passed over",
               "attributes of the ends of functions' calls, which have one result, were passed over");
    add_remark(remarks, passed.others, "event that is no call, such as that of a task, was passed over",
               "events that are no calls, such as those of threads and tasks, were passed over");
    add_remark(remarks, passed.earlier,
               "event is earlier than what came before, and counted as of the same time",
               "events are earlier than what came before, and counted as of the same time");
}

Result<FirstPass> take_census(Reading& reading, std::uint64_t most, Meter& meter) {
    std::vector<std::unique_ptr<FirstPass>> censuses(reading.locations().size());
    auto counted = reading.for_each_location(
        [&](std::size_t i, ArchiveReader& reader,
            const std::function<void(std::uint64_t)>& told) -> Result<void> {
            censuses[i] = std::make_unique<FirstPass>();
            const auto read = reader.read(reading.locations()[i], *censuses[i], told, most);
            if (!read) return tl::unexpected{read.error()};
            if (*read == most) censuses[i]->is_sample();
            return {};
        },
        meter);
    if (!counted) return tl::unexpected{counted.error()};
    FirstPass all;
    for (const auto& each : censuses)
        all.add(*each);
    return all;
}

}  // namespace

Result<bool> assemble(const std::string& anchor, Survey survey, TraceBuilder& builder,
                      const Progress& progress) {
    const rdam::otf2::LibraryErrors errors;
    Reading reading{anchor, builder.name()};
    if (auto read = reading.read_definitions(); !read) return tl::unexpected{read.error()};
    const std::uint64_t most = survey == Survey::sample ? kSample : UINT64_MAX;
    std::uint64_t total = 0;
    for (const Location& each : reading.locations()) {
        const std::uint64_t events = std::min(each.events, UINT64_MAX / 4 / reading.locations().size());
        total += events + std::min(events, most);
    }
    Meter meter{progress, total};
    const auto census = take_census(reading, most, meter);
    if (!census) return tl::unexpected{census.error()};

    describe(reading.definitions(), anchor, builder);
    if (std::vector<std::string>& command = builder.info().process.command; command.empty())
        for (const OTF2_StringRef word : census->command())
            command.emplace_back(reading.definitions().text(word));
    const Functions functions{reading.definitions(), *census, builder};
    add_threads(reading.definitions(), reading.locations(), builder);
    PassedOver passed;
    ClockStep step{reading.definitions().ticks_per_second};
    std::mutex mutex;
    std::atomic<bool> surprised{false};
    auto filled = reading.for_each_location(
        [&](std::size_t i, ArchiveReader& reader,
            const std::function<void(std::uint64_t)>& told) -> Result<void> {
            ThreadEvents events{reading.definitions(), functions, builder,
                                builder.thread(static_cast<std::uint32_t>(i)),
                                census->whole() ? nullptr : &surprised};
            const auto read = reader.read(reading.locations()[i], events, told);
            if (!read) return tl::unexpected{read.error()};
            events.finish(*read);
            const std::lock_guard guard{mutex};
            passed.add(events.passed_over());
            step.add(events.clock_step());
            return {};
        },
        meter);
    if (!filled) return tl::unexpected{filled.error()};
    if (surprised) return false;
    builder.info().clock.step_ticks = step.ticks();
    add_remarks(reading, functions, passed, builder.info().remarks);
    return true;
}

}  // namespace rdam::inputs::otf2
