#include "tools/agent/chunks/chunk_queue.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "libprobe/format/events.h"
#include "libprobe/format/packer.h"
#include "tests/unit/catch.h"

using namespace rdam;
using namespace rdam::agent;

namespace {

constexpr std::uint32_t kChunks = 64;
constexpr std::uint64_t kSize = shm::kChunksOffset + kChunks * std::uint64_t{shm::kChunkSize};

/// How many events came of each thread, and which threads have ended.
class Sink : public PackSink {
  public:
    void append(std::uint32_t thread, const trace::Packs& packs) override { events[thread] += packs.events; }

    std::map<std::uint32_t, std::uint64_t> events;
    std::vector<std::uint32_t> ended;
};

/// The process's side of the memory.
class Memory {
  public:
    Memory() : fd_(memfd_create("test", MFD_CLOEXEC)) {
        REQUIRE(ftruncate(fd_, kSize) == 0);
        memory_ = static_cast<std::uint8_t*>(
            mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0));
        shm::Control& told = control();
        told.magic = shm::kMagic;
        told.layout = shm::kLayout;
        told.chunks = kChunks;
        told.size = kSize;
        told.pid = kNobody;
        told.fresh_chunks.store(kChunks);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
        munmap(memory_, kSize);
        close(fd_);
    }

    /// What it takes of the machine.
    std::int64_t bytes() const {
        constexpr std::int64_t kBlock = 512;
        struct stat status {};
        REQUIRE(fstat(fd_, &status) == 0);
        return status.st_blocks * kBlock;
    }

    void begin_thread(std::uint32_t thread) {
        shm::ThreadSlot& slot = control().threads[thread];
        slot.begin = {.index = thread, .tid = kNobody, .start = 50, .counting = 8, .name = "test"};
        slot.begin_check = shm::check_of(&slot.begin, sizeof slot.begin, 0);
        slot.state.store(shm::ThreadSlotState::live);
    }
    void end_thread(std::uint32_t thread) {
        shm::ThreadSlot& slot = control().threads[thread];
        slot.end = {.end = 900, .numbers = 0};
        slot.end_check = shm::check_of(&slot.end, sizeof slot.end, thread);
        slot.state.store(shm::ThreadSlotState::ended);
        push(shm::kEndedThread | thread);
    }

    /// A call of function 0 in a chunk of the thread that is full, behind a record that is reserved if
    /// `unwritten`.
    void fill(std::uint32_t chunk, std::uint32_t thread, bool unwritten) {
        shm::ChunkHeader& head = header(chunk);
        head.owner = {.kind = shm::ChunkKind::records, .thread = thread, .slot = thread, .chunk = chunk};
        head.owner_check = shm::check_of(&head.owner, sizeof head.owner, 0);
        head.state.store(shm::ChunkState::full);
        const std::uint32_t from = shm::kChunkHeader + (unwritten ? kReserved : 0);
        const std::uint64_t call[] = {100, shm::make_head(shm::RecordKind::enter, 0, 0), 0x401000, 110,
                                      shm::make_head(shm::RecordKind::leave, 0, 0)};
        std::memcpy(place(chunk) + from, call, sizeof call);
        head.used.store(static_cast<std::uint32_t>(from + sizeof call));
        head.sequence.store(chunk);
        head.number.store(0);
    }
    /// A pack with the same call, or a call stack of it, in a packed chunk.
    void put_pack(std::uint32_t chunk, std::uint32_t thread) {
        fill(chunk, thread, false);
        std::uint64_t records[5];
        std::memcpy(records, place(chunk) + shm::kChunkHeader, sizeof records);
        const auto packer = std::make_unique<pack::Packer>();
        packer->prepare(1);
        pack::PendingStacks pending;
        const std::uint64_t* at = records;
        REQUIRE(packer->run(at, at + std::size(records), pending) == pack::Stop::end);
        std::memset(place(chunk) + shm::kChunkHeader, 0, sizeof records);
        put_part(chunk, shm::PackKind::pack, packer->size());
        packer->write(place(chunk) + shm::kChunkHeader + sizeof(shm::PackHeader));
    }
    void put_stack(std::uint32_t chunk, std::uint32_t thread) {
        fill(chunk, thread, false);
        std::memset(place(chunk) + shm::kChunkHeader, 0, shm::kChunkSize - shm::kChunkHeader);
        put_part(chunk, shm::PackKind::stack, sizeof(shm::StackCopy));
        const shm::StackCopy copy{.function = 0, .number = 1, .caller = 0x401000, .registers = {}};
        std::memcpy(place(chunk) + shm::kChunkHeader + sizeof(shm::PackHeader), &copy, sizeof copy);
    }
    void write_late(std::uint32_t chunk) {
        const std::uint64_t enter[] = {90, shm::make_head(shm::RecordKind::enter, 0, 0), 0x401000};
        static_assert(sizeof enter == kReserved);
        std::memcpy(place(chunk) + shm::kChunkHeader, enter, sizeof enter);
    }
    void push(std::uint32_t entry) {
        control().ring[tail_++].store(entry);
        control().ring_tail.store(tail_);
    }
    void hand_over(std::uint32_t chunk) { push(1 + chunk); }

    shm::Control& control() { return *reinterpret_cast<shm::Control*>(memory_); }
    shm::ChunkHeader& header(std::uint32_t chunk) {
        return *reinterpret_cast<shm::ChunkHeader*>(place(chunk));
    }
    int fd() const { return fd_; }

  private:
    static constexpr std::uint32_t kNobody = 0x3fffffff;
    static constexpr std::uint32_t kReserved = 24;

    void put_part(std::uint32_t chunk, shm::PackKind kind, std::size_t size) {
        const shm::PackHeader head{.size = static_cast<std::uint32_t>(sizeof(shm::PackHeader) + size),
                                   .kind = kind};
        std::memcpy(place(chunk) + shm::kChunkHeader, &head, sizeof head);
        header(chunk).owner.kind = shm::ChunkKind::packed;
    }
    std::uint8_t* place(std::uint32_t chunk) {
        return memory_ + shm::kChunksOffset + std::uint64_t{chunk} * shm::kChunkSize;
    }

    int fd_;
    std::uint8_t* memory_ = nullptr;
    std::uint32_t tail_ = 0;
};

SharedMemory map(const Memory& memory) {
    auto shared = std::move(*SharedMemory::map(memory.fd()));
    shared.read_measured();
    return shared;
}

trace::TraceInfo one_function() {
    trace::TraceInfo info;
    info.functions.resize(1);
    info.clock.step_ticks = 1;
    return info;
}

struct Queue {
    explicit Queue(const Memory& memory) : shared(map(memory)) {
        process.pid = shared.start().pid;
        process.numbers.set(0, 0);
        translator.add_objects({});
    }

    SharedMemory shared;
    ProcessDescription process;
    trace::TraceInfo info = one_function();
    Sink sink;
    EventTranslator translator{shared, process, info, sink};
    ThreadNumbers numbers{process.pid};
    ThreadTable table{shared, process, numbers, info};
    ChunkQueue chunks{shared, table, translator};
};

}  // namespace

TEST_CASE("a chunk that was handed over is translated and goes back to the process") {
    Memory memory;
    memory.begin_thread(0);
    memory.fill(3, 0, false);
    memory.hand_over(3);
    Queue queue(memory);
    CHECK(queue.chunks.take_ring());
    CHECK_FALSE(queue.chunks.take_ring());
    CHECK(queue.sink.events[0] == 2);
    CHECK(memory.header(3).state.load() == shm::ChunkState::free);
    CHECK(static_cast<std::uint32_t>(memory.control().free_chunks.load()) == 1 + 3);
    CHECK(queue.info.threads.at(0).name == "test");
    CHECK(queue.chunks.damaged() == 0);
}

TEST_CASE("chunks wait for a record that is not written yet, and those behind it in their thread, too") {
    Memory memory;
    memory.begin_thread(0);
    memory.begin_thread(1);
    memory.fill(0, 0, true);
    memory.fill(1, 0, false);
    memory.fill(2, 1, false);
    for (const std::uint32_t chunk : {0U, 1U, 2U})
        memory.hand_over(chunk);
    Queue queue(memory);
    queue.chunks.take_told();
    CHECK(queue.sink.events[0] == 0);
    CHECK(queue.sink.events[1] == 2);
    CHECK(memory.control().held.load() == 2);
    CHECK(queue.chunks.look_again());
    memory.write_late(0);
    CHECK_FALSE(queue.chunks.look_again());
    CHECK(queue.sink.events[0] == 5);
    CHECK(memory.control().held.load() == 0);
    CHECK(queue.info.threads[0].unwritten == 0);
}

TEST_CASE("a chunk whose unwritten record was given up is kept until its thread has ended") {
    Memory memory;
    memory.begin_thread(0);
    memory.fill(0, 0, true);
    memory.hand_over(0);
    memory.control().waiters.store(1);
    Queue queue(memory);
    queue.chunks.take_told();
    CHECK_FALSE(queue.chunks.look_again());
    CHECK(queue.sink.events[0] == 2);
    CHECK(queue.info.threads[0].unwritten == 1);
    CHECK(memory.header(0).state.load() == shm::ChunkState::spent);
    memory.end_thread(0);
    queue.chunks.take_told();
    CHECK(memory.header(0).state.load() == shm::ChunkState::free);
    CHECK(queue.info.threads[0].end == 900);
    CHECK(memory.control().threads[0].state.load() == shm::ThreadSlotState::free);
}

TEST_CASE("entries of the ring that cannot be are damage, and take nothing") {
    Memory memory;
    memory.begin_thread(0);
    memory.fill(0, 0, false);
    memory.header(0).state.store(shm::ChunkState::owned);
    memory.hand_over(0);
    memory.hand_over(kChunks);
    memory.push(shm::kEndedThread | shm::kMaxThreads);
    Queue queue(memory);
    queue.chunks.take_told();
    CHECK(queue.chunks.damaged() == 3);
    CHECK(queue.sink.events.empty());
    queue.chunks.take_rest(1000, false);
    CHECK(queue.sink.events[0] == 2);
    CHECK(queue.info.threads[0].end == 1000);
}

TEST_CASE("the threads left are found wherever their slots are, and slots of nobody get no memory") {
    Memory memory;
    memory.control().fresh_chunks.store(0);
    Queue queue(memory);
    const std::uint32_t last = shm::kMaxThreads - 1;
    for (const std::uint32_t thread : {0U, 1U, shm::kMaxThreads / 2, last})
        memory.begin_thread(thread);
    const std::int64_t before = memory.bytes();
    queue.chunks.take_rest(1000, false);
    CHECK(memory.bytes() == before);
    REQUIRE(queue.info.threads.size() == last + 1);
    for (const std::uint32_t thread : {0U, 1U, shm::kMaxThreads / 2, last})
        CHECK(queue.info.threads[thread].end == 1000);
    CHECK(queue.info.threads[2].end == 0);
}

TEST_CASE("a function has left something as long as a chunk of any kind has it and nobody has read that") {
    Memory memory;
    memory.begin_thread(0);
    Queue queue(memory);
    CHECK_FALSE(queue.chunks.functions_left().has(0));
    SECTION("in records that their thread has not packed, behind one that is not written") {
        memory.fill(0, 0, true);
        memory.header(0).state.store(shm::ChunkState::owned);
        CHECK(queue.chunks.functions_left().has(0));
    }
    SECTION("in a pack of a chunk that is not full") {
        memory.put_pack(0, 0);
        memory.header(0).state.store(shm::ChunkState::owned);
        CHECK(queue.chunks.functions_left().has(0));
    }
    SECTION("in a call stack") {
        memory.put_stack(0, 0);
        memory.header(0).state.store(shm::ChunkState::owned);
        CHECK(queue.chunks.functions_left().has(0));
    }
    SECTION("in a chunk that waits for a record") {
        memory.fill(0, 0, true);
        memory.hand_over(0);
        CHECK(queue.chunks.functions_left().has(0));
        memory.write_late(0);
        queue.chunks.look_again();
        CHECK_FALSE(queue.chunks.functions_left().has(0));
    }
    SECTION("but not in one that has been handed over, which is read") {
        memory.fill(0, 0, false);
        memory.hand_over(0);
        CHECK_FALSE(queue.chunks.functions_left().has(0));
        CHECK(queue.sink.events[0] == 2);
    }
    CHECK_FALSE(queue.chunks.functions_left().has(4000));
}
