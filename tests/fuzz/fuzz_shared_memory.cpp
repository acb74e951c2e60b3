// Any bytes anywhere in the memory that the profiled program shares with its agent, between what the agent
// does with it: it ends, reads nothing that is not there, and what it has written is a trace.
//
// An input is a list of steps of six bytes: what is done, which of it, where, the value. With as many checks
// set right again as there are steps that say so, or nothing behind a check would ever be reached.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libprobe/format/packer.h"
#include "tools/agent/record_loop.h"
#include "tools/agent/sampling/window_sampler.h"
#include "tools/trace/reader.h"
#include "tools/trace/trace_name.h"

namespace {

using namespace rdam;

constexpr std::uint32_t kChunks = 8;
constexpr std::uint64_t kSize = shm::kChunksOffset + kChunks * std::uint64_t{shm::kChunkSize};
constexpr std::uint32_t kThreads = 4;

void require(bool truth) {
    if (!truth) std::abort();
}

struct Step {
    std::uint8_t what;
    std::uint8_t which;
    std::uint16_t where;
    std::uint8_t value;
    std::uint8_t more;
};
static_assert(sizeof(Step) == 6);

/// What a thread has packed: a call of function 1 and one of function 0.
std::vector<std::uint64_t> make_pack() {
    const auto head = [](shm::RecordKind kind, std::uint32_t words, std::uint32_t function) {
        return shm::make_head(kind, words, function);
    };
    const std::vector<std::uint64_t> records{100,
                                             head(shm::RecordKind::enter, 2, 1),
                                             0x401000,
                                             5,
                                             6,
                                             110,
                                             head(shm::RecordKind::leave, 0, 1),
                                             120,
                                             head(shm::RecordKind::enter, 0, 0),
                                             0x401010,
                                             130,
                                             head(shm::RecordKind::leave, 0, 0)};
    const auto packer = std::make_unique<pack::Packer>();
    packer->prepare(1);
    pack::PendingStacks pending;
    const std::uint64_t* at = records.data();
    require(packer->run(at, at + records.size(), pending) == pack::Stop::end);
    std::vector<std::uint64_t> pack(packer->size() / sizeof(std::uint64_t));
    packer->write(pack.data());
    return pack;
}

/// The process's side of the memory.
class Memory {
  public:
    Memory() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
        require(fd_ >= 0 && ftruncate(fd_, kSize) == 0);
        memory_ = static_cast<std::uint8_t*>(
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0));
        require(memory_ != MAP_FAILED);
    }

    /// As after some calls: chunk 0 of packs and chunk 1 of records, of thread 0, are on their way.
    void begin() {
        require(fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kSize) == 0);
        shm::Control& told = control();
        told.magic = shm::kMagic;
        told.layout = shm::kLayout;
        told.chunks = kChunks;
        told.size = kSize;
        told.pid = kNobody;
        told.measured.step = 1;
        told.measured_check = shm::check_of(&told.measured, sizeof told.measured, 0);
        told.has_events.store(1);
        for (std::uint32_t i = 0; i < kThreads; ++i) {
            told.threads[i].begin = {.index = i, .tid = kNobody, .start = 50, .counting = 8, .name = "fuzz"};
            told.threads[i].state.store(shm::ThreadSlotState::live);
            seal_thread(i);
        }
        for (std::uint32_t i = 0; i < kChunks; ++i)
            own(i, i == 1 || i == 3 ? shm::ChunkKind::records : shm::ChunkKind::packed, i / 2);
        fill();
        told.fresh_chunks.store(kChunks);
    }

    /// The checks are as if the process had written what is there.
    void seal_thread(std::uint32_t thread) {
        shm::ThreadSlot& slot = control().threads[thread];
        slot.begin_check = shm::check_of(&slot.begin, sizeof slot.begin, 0);
    }
    void seal_end(std::uint32_t thread) {
        shm::ThreadSlot& slot = control().threads[thread];
        slot.end_check = shm::check_of(&slot.end, sizeof slot.end, slot.begin.index);
        slot.state.store(shm::ThreadSlotState::ended);
    }
    void seal_chunk(std::uint32_t chunk) {
        shm::ChunkHeader& head = header(chunk);
        head.owner_check = shm::check_of(&head.owner, sizeof head.owner, 0);
    }
    void seal_packs(std::uint32_t chunk) {
        std::uint8_t* bytes = place(chunk);
        std::uint32_t number = 0;
        for (std::size_t at = shm::kChunkHeader; at + sizeof(shm::PackHeader) <= shm::kChunkSize;) {
            shm::PackHeader record;
            std::memcpy(&record, bytes + at, sizeof record);
            if (record.size < sizeof record || record.size % 8 != 0 || record.size > shm::kChunkSize - at)
                break;
            if (record.number == 0) record.number = ++number;
            std::memcpy(bytes + at, &record, sizeof record);
            record.check = shm::check_of_pack(bytes + at, record.size);
            std::memcpy(bytes + at, &record, sizeof record);
            at += record.size;
        }
    }
    void seal_region(std::uint32_t number) {
        shm::Region& region = control().regions[number];
        region.check = shm::check_of(&region, offsetof(shm::Region, check), number);
        control().region_count.store(number + 1);
    }
    void store(std::uint32_t chunk, std::uint32_t used, std::uint32_t sequence) {
        header(chunk).used.store(used);
        header(chunk).sequence.store(sequence);
    }
    void push(std::uint32_t entry) {
        control().ring[tail_++ % shm::kRingSize].store(entry);
        control().ring_tail.store(tail_);
    }
    void restart_ring() { tail_ = 0; }

    std::uint8_t* place(std::uint32_t chunk) {
        return memory_ + shm::kChunksOffset + std::uint64_t{chunk} * shm::kChunkSize;
    }
    shm::ChunkHeader& header(std::uint32_t chunk) {
        return *reinterpret_cast<shm::ChunkHeader*>(place(chunk));
    }
    shm::Control& control() { return *reinterpret_cast<shm::Control*>(memory_); }
    std::uint8_t* bytes() { return memory_; }
    int fd() const { return fd_; }

  private:
    static constexpr std::uint32_t kNobody = 0x3fffffff;

    void own(std::uint32_t chunk, shm::ChunkKind kind, std::uint32_t thread) {
        shm::ChunkHeader& head = header(chunk);
        head.owner = {.kind = kind, .thread = thread, .slot = thread, .chunk = chunk};
        head.state.store(shm::ChunkState::full);
        seal_chunk(chunk);
    }

    void fill() {
        static const std::vector<std::uint64_t> pack = make_pack();
        const auto size = static_cast<std::uint32_t>(pack.size() * sizeof pack[0]);
        const std::uint32_t record_size = size + static_cast<std::uint32_t>(sizeof(shm::PackHeader));
        for (const std::uint32_t chunk : {0U, 2U}) {
            std::uint32_t at = shm::kChunkHeader;
            for (std::uint32_t number = 1; number < 4; ++number, at += record_size) {
                const shm::PackHeader record{
                    .size = record_size, .sequence = number, .end = shm::kChunkHeader, .number = number};
                std::memcpy(place(chunk) + at, &record, sizeof record);
                std::memcpy(place(chunk) + at + sizeof record, pack.data(), size);
            }
            store(chunk, at, 0);
            seal_packs(chunk);
        }
        const std::uint64_t records[] = {200, shm::make_head(shm::RecordKind::enter, 2, 1), 0x401000, 5, 6,
                                         210, shm::make_head(shm::RecordKind::leave, 0, 1)};
        for (const std::uint32_t chunk : {1U, 3U}) {
            std::memcpy(place(chunk) + shm::kChunkHeader, records, sizeof records);
            store(chunk, shm::kChunkHeader + sizeof records, 4);
        }
    }

    int fd_;
    std::uint8_t* memory_ = nullptr;
    std::uint32_t tail_ = 0;
};

/// A byte of the places that the agent looks at.
std::uint8_t& byte_at(Memory& memory, const Step& step) {
    constexpr std::uint32_t kNear = 1024;
    const std::size_t where = step.where;
    const std::uint32_t chunk = step.which % kChunks;
    switch (step.which / kChunks % 6) {
        case 0:
            return memory.place(chunk)[where % shm::kChunkHeader];
        case 1:
            return memory.place(chunk)[shm::kChunkHeader + where % kNear];
        case 2:
            return memory.place(chunk)[where];
        case 3:
            return memory
                .bytes()[offsetof(shm::Control, threads) + where % (kThreads * sizeof(shm::ThreadSlot))];
        case 4:
            return memory
                .bytes()[offsetof(shm::Control, agent_futex) +
                         where % (offsetof(shm::Control, calls) - offsetof(shm::Control, agent_futex))];
        default:
            return memory
                .bytes()[offsetof(shm::Control, call_counters) +
                         where % (offsetof(shm::Control, ring) - offsetof(shm::Control, call_counters))];
    }
}

/// Whatever `rdam analyze` does with it: it must be a trace, whole and with sound events.
void read_back(const std::string& path) {
    if (!std::filesystem::exists(path)) return;
    const auto reader = trace::TraceReader::open(path);
    require(reader.has_value());
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread)
        static_cast<void>(reader->read_thread(
            thread, [](std::span<const trace::Event>) {}, [] {}));
    const trace::Damage damage = reader->damage();
    require(!damage.bad_header && !damage.no_index && damage.missing_chunks == 0);
}

/// The agent, with the functions 0 (no words) and 1 (two parameters).
class Agent {
  public:
    Agent(Memory& memory, std::string path) : shared_(map(memory)), path_(std::move(path)) {
        info_.objects.push_back({.path = "/nowhere", .build_id = {}, .base = 0, .end = 4096});
        info_.functions.resize(2);
        info_.functions[1].enter_words = 2;
        info_.clock.ticks_per_second = 1e9;
        info_.clock.step_ticks = 1;
        process_.pid = shared_.start().pid;
        for (std::uint32_t i = 0; i < info_.functions.size(); ++i)
            process_.numbers.set(i, i);
        static_cast<void>(shared_.read_measured());
        // Without a budget it makes no process; what it reads and writes of the memory is the same.
        windows_.emplace(shared_, rate(), [](pid_t) {});
        recording_.emplace(shared_, process_, info_, rate(), numbers_, path_, name_);
        recording_->note_events();
    }

    void look(std::uint8_t how) {
        switch (how % 4) {
            case 0:
                recording_->chunks().take_ring();
                break;
            case 1:
                recording_->chunks().look_again();
                break;
            case 2:
                recording_->chunks().tell_again();
                break;
            default:
                recording_->chunks().functions_left();
                recording_->chunks().take_told();
        }
    }

    void end() {
        while (recording_->chunks().take_ring()) {
        }
        recording_->chunks().take_rest(1000, false);
        windows_->describe(info_, process_.numbers);
        windows_->finish(recording_->file().writer());
        recording_->finish(false, false);
        recording_.reset();
        read_back(path_);
    }

  private:
    static agent::SharedMemory map(Memory& memory) {
        auto shared = agent::SharedMemory::map(memory.fd());
        require(shared.has_value());
        return std::move(*shared);
    }
    static const agent::TickRate& rate() {
        static const agent::TickRate rate(shm::Clock::rdtscp);
        return rate;
    }

    agent::SharedMemory shared_;
    agent::ProcessDescription process_;
    agent::ThreadNumbers numbers_{shared_.start().pid};
    trace::NameLock name_;
    trace::TraceInfo info_;
    std::string path_;
    std::optional<agent::WindowSampler> windows_;
    std::optional<agent::Recording> recording_;
};

void take(Memory& memory, Agent& agent, const Step& step) {
    const std::uint32_t chunk = step.which % kChunks;
    const std::uint32_t thread = step.which % kThreads;
    switch (step.what % 10) {
        case 0:
        case 1:
            byte_at(memory, step) = step.value;
            break;
        case 2:
            byte_at(memory, step) ^= static_cast<std::uint8_t>(1U << step.value % 8);
            break;
        case 3:
            memory.seal_chunk(chunk);
            break;
        case 4:
            memory.seal_packs(chunk);
            break;
        case 5:
            (step.value % 2 == 0) ? memory.seal_thread(thread) : memory.seal_end(thread);
            break;
        case 6:
            memory.push(step.value % 4 == 0 ? shm::kEndedThread | step.where
                                            : 1 + step.where % (2 * kChunks));
            break;
        case 7:
            memory.store(chunk, step.where, step.value);
            break;
        case 8:
            memory.seal_region(step.which % 8);
            break;
        default:
            agent.look(step.value);
    }
}

/// A folder for the traces, in memory where that is possible. It goes with the process.
class Folder {
  public:
    Folder()
        : path_(std::string(std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") +
                "/rdam-fuzz-XXXXXX") {
        require(mkdtemp(path_.data()) != nullptr);
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kMaxSteps = 500;
    static Memory memory;
    static const Folder folder;
    if (size == 0 || size > kMaxSteps * sizeof(Step)) return 0;
    const std::string path = folder.path() + "/trace.bin";
    std::filesystem::remove(path);
    memory.restart_ring();
    memory.begin();
    Agent agent(memory, path);
    for (std::size_t at = 1; at + sizeof(Step) <= size; at += sizeof(Step)) {
        Step step;
        std::memcpy(&step, data + at, sizeof step);
        take(memory, agent, step);
    }
    agent.end();
    return 0;
}
