#include "analyzer/inputs/otf2/assemble.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/remarks.h"
#include "analyzer/inputs/otf2/archive_reader.h"
#include "analyzer/inputs/otf2/census.h"
#include "analyzer/inputs/otf2/errors.h"
#include "analyzer/inputs/otf2/functions.h"
#include "analyzer/inputs/otf2/thread_events.h"

namespace rdam::inputs::otf2 {
namespace {

/// Of the same archive at the same time: a location's events are read by one of them.
constexpr std::size_t kMostReaders = 4;
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
            if (each.type != OTF2_LOCATION_TYPE_CPU_THREAD)
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
            std::min<std::size_t>(std::thread::hardware_concurrency(), locations_.size()), 1, kMostReaders);
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
    add_remark(remarks, reading.other_locations(),
               "location is no thread of a processor, and was passed over",
               "locations are no threads of a processor, and were passed over");
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

Result<Census> take_census(Reading& reading, std::uint64_t most, Meter& meter) {
    std::vector<std::unique_ptr<Census>> censuses(reading.locations().size());
    auto counted = reading.for_each_location(
        [&](std::size_t i, ArchiveReader& reader,
            const std::function<void(std::uint64_t)>& told) -> Result<void> {
            censuses[i] = std::make_unique<Census>();
            const auto read = reader.read(reading.locations()[i], *censuses[i], told, most);
            if (!read) return tl::unexpected{read.error()};
            if (*read == most) censuses[i]->is_sample();
            return {};
        },
        meter);
    if (!counted) return tl::unexpected{counted.error()};
    Census all;
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
            return {};
        },
        meter);
    if (!filled) return tl::unexpected{filled.error()};
    if (surprised) return false;
    add_remarks(reading, functions, passed, builder.info().remarks);
    return true;
}

}  // namespace rdam::inputs::otf2
