#include "tools/trace/reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "tools/trace/chunk_list.h"
#include "tools/trace/decoded_chunks.h"
#include "tools/trace/decoder.h"
#include "tools/trace/description_reader.h"
#include "tools/trace/expansion_lock.h"
#include "tools/trace/file_input.h"
#include "tools/trace/format.h"
#include "tools/trace/open_frames.h"
#include "tools/trace/side_tables.h"

namespace rdam::trace {
namespace {

tl::unexpected<Error> too_large(const std::string& path) {
    return fail("{} needs more memory than this machine has: analyze it on a larger one", path);
}

}  // namespace

struct TraceReader::State {
    struct Chunk {
        ChunkPlace place;
        bool gap_before = false;
        bool counted_bad = false;  ///< guarded by `lock`
    };
    struct Thread {
        std::vector<Chunk> chunks;
        std::uint64_t events = 0;
        bool innermost = false;       ///< format::kInnermost, in some chunk
        bool switches = false;        ///< format::kSwitches, in some chunk
        std::vector<TimePart> times;  ///< by chunk, from first_tsc to last_tsc; empty: not read yet. Guarded
                                      ///< by `lock`
    };

    struct OffCpuChunks {
        std::vector<Chunk> chunks;
        std::uint64_t expected = 0;  ///< the next sequence number
    };

    void add_chunks(const std::vector<ChunkPlace>& places);
    Result<void> check_thread(std::uint32_t thread) const;
    Result<void> read_chunks(std::uint32_t thread, std::span<const std::size_t> numbers,
                             const ColumnsSink& sink, const Reading& how);
    void add_off_cpu_chunk(const ChunkPlace& place);
    void add_event_chunk(const ChunkPlace& place);
    void read_descriptions(const std::vector<ChunkPlace>& places);
    void read_windows(const std::vector<ChunkPlace>& places);
    void refuse_shared_off_cpu();
    bool is_next(std::uint64_t& next, std::uint32_t sequence, bool& gap);
    Result<bool> decode(const Chunk& chunk, ChunkLoader& loader, ChunkDecoder& decoder) const;
    Result<bool> make_events(ChunkDecoder& decoder) const;
    void count_bad(Chunk& chunk);
    /// From first_tsc to last_tsc; a chunk that is bad reaches nowhere.
    TimePart time_of(const Chunk& chunk) const {
        const auto header = file.record_at<format::ChunkHeader>(chunk.place.offset);
        return format::is_sound(header) ? TimePart{header.first_tsc, header.last_tsc}
                                        : TimePart{UINT64_MAX, 0};
    }
    std::uint64_t begin_of(std::uint32_t thread) const;
    std::uint64_t end_of(std::uint32_t thread) const;
    std::vector<std::size_t> chunks_of_part(std::uint32_t thread, const TimePart& part);
    std::vector<OffCpu> read_off_cpu(std::uint32_t thread);

    FileInput file;
    std::string path;
    bool is_at_path = false;  ///< the file that is called so: TraceReader::identity()
    TraceInfo info;
    std::vector<Thread> threads;
    std::unordered_map<std::uint32_t, OffCpuChunks> off_cpu;  ///< by tid
    std::vector<std::uint64_t> expected;                      ///< by thread, the next sequence number
    std::uint64_t events = 0;
    std::uint64_t stored_bytes = 0;
    /// A thread index beyond is no index: most threads have a chunk, and each takes memory.
    std::size_t max_threads = 0;
    mutable std::mutex lock;
    Damage damage;  ///< guarded by `lock` once the reader is open
};

/// Sequence numbers rise; what is not next is missing (and `gap` set) or a second copy (false).
bool TraceReader::State::is_next(std::uint64_t& next, std::uint32_t sequence, bool& gap) {
    if (sequence < next) {
        ++damage.bad_chunks;
        return false;
    }
    gap = sequence > next;
    damage.missing_chunks += sequence - next;
    next = std::uint64_t{sequence} + 1;
    return true;
}

void TraceReader::State::add_event_chunk(const ChunkPlace& place) {
    if (place.thread >= max_threads || place.events > format::kMaxEvents) {
        ++damage.bad_chunks;
        return;
    }
    if (place.thread >= threads.size()) {
        threads.resize(place.thread + std::size_t{1});
        expected.resize(threads.size());
    }
    Thread& thread = threads[place.thread];
    Chunk chunk{.place = place};
    if (!is_next(expected[place.thread], place.sequence, chunk.gap_before)) return;
    chunk.gap_before = chunk.gap_before || (place.flags & format::kGapBefore) != 0;
    thread.innermost =
        thread.innermost || (place.is(format::ChunkType::packs) && (place.flags & format::kInnermost) != 0);
    thread.switches = thread.switches || (place.flags & format::kSwitches) != 0;
    thread.events += place.events;
    events += place.events;
    stored_bytes += place.stored_size;
    thread.chunks.push_back(chunk);
}

void TraceReader::State::add_off_cpu_chunk(const ChunkPlace& place) {
    if (place.events > format::kMaxEvents) {
        ++damage.bad_chunks;
        return;
    }
    OffCpuChunks& of_thread = off_cpu[place.thread];
    Chunk chunk{.place = place};
    if (is_next(of_thread.expected, place.sequence, chunk.gap_before)) of_thread.chunks.push_back(chunk);
}

void TraceReader::State::read_descriptions(const std::vector<ChunkPlace>& places) {
    ChunkLoader loader;
    DescriptionReader description;
    std::uint64_t next = 0;
    bool gap = false;
    for (const ChunkPlace& place : places) {
        if (!place.is(format::ChunkType::description) || !is_next(next, place.sequence, gap)) continue;
        if (!loader.load(file, place) || !description.add(loader.payload(), place.stored_size))
            ++damage.bad_chunks;
    }
    info = std::move(description).finish(threads.size());
    threads.resize(info.threads.size());
}

void TraceReader::State::read_windows(const std::vector<ChunkPlace>& places) {
    ChunkLoader loader;
    std::uint64_t next = 0;
    bool gap = false;
    for (const ChunkPlace& place : places) {
        if (!place.is(format::ChunkType::windows) || !is_next(next, place.sequence, gap)) continue;
        if (place.events > format::kMaxEvents || !loader.load(file, place) ||
            !decode_windows(loader.header(), loader.payload(), info.windows))
            ++damage.bad_chunks;
    }
}

/// Each thread reads the chunks of its tid from its life. A tid has one thread at a time: a chunk that more
/// than a few threads could read is from a made-up file, and reading it for each of them would not end.
void TraceReader::State::refuse_shared_off_cpu() {
    constexpr std::ptrdiff_t kMaxReaders = 16;
    struct Lives {
        std::vector<std::uint64_t> begins, ends;
    };
    std::unordered_map<std::uint32_t, Lives> lives;
    for (const ThreadInfo& thread : info.threads) {
        if (!off_cpu.contains(thread.tid)) continue;
        lives[thread.tid].begins.push_back(thread.start);
        lives[thread.tid].ends.push_back(thread.end != 0 ? thread.end : UINT64_MAX);
    }
    for (auto& each : lives) {
        Lives& of_tid = each.second;
        if (std::ssize(of_tid.begins) <= kMaxReaders) continue;
        std::ranges::sort(of_tid.begins);
        std::ranges::sort(of_tid.ends);
        damage.bad_chunks += std::erase_if(off_cpu[each.first].chunks, [&](const Chunk& chunk) {
            const auto header = file.record_at<format::ChunkHeader>(chunk.place.offset);
            const auto begun = std::ranges::upper_bound(of_tid.begins, header.last_tsc);
            const auto ended = std::ranges::lower_bound(of_tid.ends, header.first_tsc);
            return (begun - of_tid.begins.begin()) - (ended - of_tid.ends.begin()) > kMaxReaders;
        });
    }
}

void TraceReader::State::add_chunks(const std::vector<ChunkPlace>& places) {
    constexpr std::size_t kThreadsWithoutChunks = 65536;
    max_threads = places.size() + kThreadsWithoutChunks;
    for (const ChunkPlace& place : places) {
        if (format::holds_events(place.type)) add_event_chunk(place);
        if (place.is(format::ChunkType::off_cpu)) add_off_cpu_chunk(place);
    }
    read_descriptions(places);
    read_windows(places);
    refuse_shared_off_cpu();
}

/// False: the chunk is bad.
Result<bool> TraceReader::State::decode(const Chunk& chunk, ChunkLoader& loader,
                                        ChunkDecoder& decoder) const {
    try {
        return loader.load(file, chunk.place) && decoder.decode(loader.header(), loader.payload(), info);
    } catch (const std::bad_alloc&) {
        return too_large(path);
    }
}

Result<bool> TraceReader::State::make_events(ChunkDecoder& decoder) const {
    try {
        decoder.events();
        return true;
    } catch (const std::bad_alloc&) {
        return too_large(path);
    }
}

void TraceReader::State::count_bad(Chunk& chunk) {
    const std::lock_guard guard(lock);
    if (!std::exchange(chunk.counted_bad, true)) ++damage.bad_chunks;
}

/// 0: the thread has no events, and its end was not reported.
std::uint64_t TraceReader::State::end_of(std::uint32_t thread) const {
    if (info.threads[thread].end != 0) return info.threads[thread].end;
    std::uint64_t last = 0;
    for (const Chunk& chunk : threads[thread].chunks)
        last = std::max(last, time_of(chunk).end);
    return last;
}

/// 0: the thread has no events, and its begin was not reported.
std::uint64_t TraceReader::State::begin_of(std::uint32_t thread) const {
    if (info.threads[thread].start != 0) return info.threads[thread].start;
    std::uint64_t first = UINT64_MAX;
    for (const Chunk& chunk : threads[thread].chunks)
        first = std::min(first, time_of(chunk).begin);
    return first == UINT64_MAX ? 0 : first;
}

/// The numbers of the thread's chunks that reach into `part`.
std::vector<std::size_t> TraceReader::State::chunks_of_part(std::uint32_t thread, const TimePart& part) {
    Thread& of = threads[thread];
    const std::lock_guard guard(lock);
    if (of.times.size() != of.chunks.size()) {
        of.times.clear();
        for (const Chunk& chunk : of.chunks)
            of.times.push_back(time_of(chunk));
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < of.times.size(); ++i)
        if (of.times[i].begin <= part.end && of.times[i].end >= part.begin) found.push_back(i);
    return found;
}

std::vector<OffCpu> TraceReader::State::read_off_cpu(std::uint32_t thread) {
    std::vector<OffCpu> all;
    // 0 is no thread's tid, but that of threads whose description is lost.
    const auto found = off_cpu.find(info.threads[thread].tid);
    if (info.threads[thread].tid == 0 || found == off_cpu.end()) return all;
    const std::uint64_t begin = info.threads[thread].start;
    const std::uint64_t end = end_of(thread);
    ChunkLoader loader;
    for (Chunk& chunk : found->second.chunks) {
        const auto known = file.record_at<format::ChunkHeader>(chunk.place.offset);
        if (format::is_sound(known) && (known.first_tsc > end || known.last_tsc < begin)) continue;
        const bool good = loader.load(file, chunk.place);
        const format::ChunkHeader& header = loader.header();
        if (!good || !decode_off_cpu(header, loader.payload(), all)) count_bad(chunk);
    }
    return within_life(std::move(all), begin, end);
}

Result<void> TraceReader::State::check_thread(std::uint32_t thread) const {
    if (thread < threads.size()) return {};
    return fail("{} has {} threads, and none with index {}", path, threads.size(), thread);
}

/// `numbers` rise.
Result<void> TraceReader::State::read_chunks(std::uint32_t thread, std::span<const std::size_t> numbers,
                                             const ColumnsSink& sink, const Reading& how) {
    if (numbers.empty()) return {};
    std::vector<Chunk>& chunks = threads[thread].chunks;
    ExpansionLock own_turn;
    const bool as_columns = sink.columns && !threads[thread].innermost;
    DecodedChunks decoded{
        {.count = numbers.size(),
         .decode = [&](std::size_t i, ChunkLoader& loader, ChunkDecoder& decoder) -> Result<bool> {
             auto good = decode(chunks[numbers[i]], loader, decoder);
             if (good && *good && !as_columns) return make_events(decoder);
             return good;
         },
         .expands_far = [&](std::size_t i) { return expands_far(file, chunks[numbers[i]].place); }},
        how.turn != nullptr ? *how.turn : own_turn,
        how.ahead};
    std::optional<OpenFrames> frames;
    if (threads[thread].innermost) frames.emplace();
    const auto forget = [&] {
        sink.gap();
        if (frames) frames.emplace();
    };
    for (const std::size_t number : numbers) {
        Chunk& chunk = chunks[number];
        if (chunk.gap_before) forget();
        DecodedChunks::Chunk& next = decoded.next();
        if (!next.good) return tl::unexpected(next.good.error());
        if (*next.good) {
            if (frames) frames->name_innermost(next.decoder.events());
            if (as_columns)
                sink.columns(next.decoder.columns());
            else
                sink.events(next.decoder.events());
            if (how.stopped && how.stopped())
                return fail("{}: interrupted before thread {} was read", path, info.threads[thread].tid);
        } else {
            count_bad(chunk);
            forget();
        }
    }
    return {};
}

struct EventStream::State {
    State(TraceReader::State& trace, std::uint32_t its_thread) : of(trace), thread(its_thread) {}

    TraceReader::State& of;
    std::uint32_t thread;
    std::size_t next = 0;
    bool bad = false;  ///< the chunk before was left out
    ChunkLoader loader;
    ChunkDecoder decoder;
};

EventStream::EventStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventStream::~EventStream() = default;
EventStream::EventStream(EventStream&&) noexcept = default;
EventStream& EventStream::operator=(EventStream&&) noexcept = default;

Result<std::optional<EventStream::Part>> EventStream::next() {
    State& state = *state_;
    std::vector<TraceReader::State::Chunk>& chunks = state.of.threads[state.thread].chunks;
    for (; state.next < chunks.size(); state.bad = true) {
        TraceReader::State::Chunk& chunk = chunks[state.next++];
        auto good = state.of.decode(chunk, state.loader, state.decoder);
        if (good && *good) good = state.of.make_events(state.decoder);
        if (!good) return tl::unexpected{good.error()};
        if (*good)
            return Part{.gap = std::exchange(state.bad, false) || chunk.gap_before,
                        .events = state.decoder.events()};
        state.of.count_bad(chunk);
    }
    if (std::exchange(state.bad, false)) return Part{.gap = true, .events = {}};
    return std::nullopt;
}

TraceReader::TraceReader() = default;
TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

Result<TraceReader> TraceReader::open(const std::string& path, const std::function<void()>& waiting) {
    auto file = FileInput::open(path);
    if (!file) return tl::unexpected(file.error());
    if (const auto ended = file->wait_for_recorder(path, waiting); !ended)
        return tl::unexpected(ended.error());
    auto reader = read(std::move(*file), path);
    if (reader) reader->state_->is_at_path = true;
    return reader;
}

Result<TraceReader> TraceReader::open_as_it_is(const std::string& path) {
    auto file = FileInput::open(path);
    if (!file) return tl::unexpected(file.error());
    return read(std::move(*file), path);
}

Result<TraceReader> TraceReader::read_descriptor(int fd, const std::string& name) {
    auto file = FileInput::take_over(fd, name);
    if (!file) return tl::unexpected(file.error());
    return read(std::move(*file), name);
}

Result<TraceReader> TraceReader::read(FileInput file, const std::string& path) {
    TraceReader reader;
    reader.state_ = std::make_unique<State>();
    State& state = *reader.state_;
    state.file = std::move(file);
    state.path = path;
    try {
        const auto good_header = check_header(state.file, path);
        if (!good_header) return tl::unexpected(good_header.error());
        state.damage.bad_header = !*good_header;
        const auto places = list_chunks(state.file, state.damage);
        if (places.empty())
            return fail(
                "{} contains nothing readable: the recorder was stopped too early, or the file is damaged",
                path);
        state.add_chunks(places);
    } catch (const std::bad_alloc&) {
        return too_large(path);
    }
    return reader;
}

Result<EventStream> TraceReader::stream(std::uint32_t thread) const {
    if (auto there = state_->check_thread(thread); !there) return tl::unexpected{there.error()};
    return EventStream{std::make_unique<EventStream::State>(*state_, thread)};
}

bool TraceReader::switches_stacks(std::uint32_t thread) const {
    return thread < state_->threads.size() && state_->threads[thread].switches;
}

void TraceReader::add_damage(const Damage& damage) {
    const std::lock_guard guard(state_->lock);
    Damage& all = state_->damage;
    all.bad_header = all.bad_header || damage.bad_header;
    all.no_index = all.no_index || damage.no_index;
    all.bad_chunks += damage.bad_chunks;
    all.missing_chunks += damage.missing_chunks;
    all.skipped_bytes += damage.skipped_bytes;
}

std::optional<TraceIdentity> TraceReader::identity() const {
    const FileInput& file = state_->file;
    struct stat status {};
    if (!state_->is_at_path || damage().bad_header || damage().no_index || !file.status(status))
        return std::nullopt;
    const auto footer = file.record_at<format::Footer>(file.size() - sizeof(format::Footer));
    const struct {
        format::FileHeader header;
        format::ChunkHeader index;  // with the checksum of what is in it
        format::Footer footer;
        std::int64_t written_s, written_ns;
    } all{file.record_at<format::FileHeader>(0), file.record_at<format::ChunkHeader>(footer.index_offset),
          footer, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    static_assert(std::has_unique_object_representations_v<decltype(all)>);
    std::error_code none;
    const auto path = std::filesystem::canonical(state_->path, none);
    if (none) return std::nullopt;
    return TraceIdentity{.path = path.string(),
                         .hash = format::hash(&all, sizeof all),
                         .mode = status.st_mode,
                         .owner = status.st_uid,
                         .group = status.st_gid};
}

const TraceInfo& TraceReader::info() const {
    return state_->info;
}

Damage TraceReader::damage() const {
    const std::lock_guard guard(state_->lock);
    return state_->damage;
}

std::uint64_t TraceReader::events() const {
    return state_->events;
}

std::uint64_t TraceReader::stored_bytes() const {
    return state_->stored_bytes;
}

std::uint64_t TraceReader::begin_of(std::uint32_t thread) const {
    return state_->begin_of(thread);
}

std::uint64_t TraceReader::end_of(std::uint32_t thread) const {
    return state_->end_of(thread);
}

std::uint64_t TraceReader::events_of(std::uint32_t thread) const {
    return thread < state_->threads.size() ? state_->threads[thread].events : 0;
}

Result<std::vector<OffCpu>> TraceReader::off_cpu(std::uint32_t thread) const {
    if (auto there = state_->check_thread(thread); !there) return tl::unexpected{there.error()};
    try {
        return state_->read_off_cpu(thread);
    } catch (const std::bad_alloc&) {
        return too_large(state_->path);
    }
}

Result<void> TraceReader::read_columns(std::uint32_t thread, const ColumnsSink& sink,
                                       const Reading& how) const {
    if (auto there = state_->check_thread(thread); !there) return there;
    std::vector<std::size_t> all(state_->threads[thread].chunks.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return state_->read_chunks(thread, all, sink, how);
}

Result<void> TraceReader::read_thread(std::uint32_t thread,
                                      const std::function<void(std::span<const Event>)>& sink,
                                      const std::function<void()>& gap, const Reading& how) const {
    return read_columns(thread, {.columns = {}, .events = sink, .gap = gap}, how);
}

Result<void> TraceReader::read_part(std::uint32_t thread, const TimePart& part,
                                    const std::function<void(std::span<const Event>)>& sink,
                                    const std::function<void()>& gap) const {
    if (auto there = state_->check_thread(thread); !there) return there;
    const std::vector<std::size_t> chunks = state_->chunks_of_part(thread, part);
    gap();
    return state_->read_chunks(thread, chunks, {.columns = {}, .events = sink, .gap = gap}, {});
}

std::uint64_t TraceReader::events_of_part(std::uint32_t thread, const TimePart& part) const {
    if (thread >= state_->threads.size()) return 0;
    std::uint64_t events = 0;
    for (const std::size_t chunk : state_->chunks_of_part(thread, part))
        events += state_->threads[thread].chunks[chunk].place.events;
    return events;
}

}  // namespace rdam::trace
