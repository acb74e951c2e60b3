#include "tools/agent/memory/shared_memory.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

namespace rdam::agent {

Result<SharedMemory> SharedMemory::map(int fd, std::uint32_t pid) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return fail("descriptor {} is not the memory of a profiled process", fd);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size <= shm::kChunksOffset)
        return fail("descriptor {} is too small for the memory of a profiled process", fd);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED) return fail("cannot map the event buffers: {}", std::strerror(errno));
    SharedMemory shared(memory, size, fcntl(fd, F_DUPFD_CLOEXEC, 3));
    const shm::Control& control = shared.control();
    shared.measured_.step = 1;
    shared.start_ = {.pid = pid == 0 ? control.pid : pid,
                     .chunks = control.chunks,
                     .clock = control.clock,
                     .settings = control.settings,
                     .forked = control.forked != 0};
    if (control.magic != shm::kMagic || control.layout != shm::kLayout || control.size != size ||
        shared.start_.chunks > shm::kMaxChunks ||
        static_cast<std::uint32_t>(shared.start_.clock) >= shm::kClocks ||
        shm::kChunksOffset + std::uint64_t{shared.start_.chunks} * shm::kChunkSize > size)
        return fail("librdam.so and rdam-agent have different versions: reinstall rdam");
    return shared;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      size_(other.size_),
      fd_(std::exchange(other.fd_, -1)),
      start_(other.start_),
      measured_(other.measured_) {}

bool SharedMemory::read_measured() {
    shm::Measured copy;
    std::memcpy(&copy, &control().measured, sizeof copy);
    if (shm::check_of(&copy, sizeof copy, 0) != control().measured_check || copy.step == 0) return false;
    measured_ = copy;
    return true;
}

void SharedMemory::drop_chunks() const {
    madvise(static_cast<char*>(memory_) + shm::kChunksOffset, size_ - shm::kChunksOffset, MADV_REMOVE);
}

SharedMemory::~SharedMemory() {
    if (memory_ != nullptr) munmap(memory_, size_);
    if (fd_ >= 0) close(fd_);
}

std::vector<std::uint32_t> SharedMemory::slots_with_memory() const {
    constexpr auto kBegin = static_cast<off_t>(offsetof(shm::Control, threads));
    constexpr auto kSlot = static_cast<off_t>(sizeof(shm::ThreadSlot));
    constexpr off_t kEnd = kBegin + off_t{shm::kMaxThreads} * kSlot;
    std::vector<std::uint32_t> slots;
    for (off_t at = kBegin; at < kEnd;) {
        off_t from = lseek(fd_, at, SEEK_DATA);
        if (from < 0 && errno == ENXIO) break;
        off_t to = from < 0 ? -1 : lseek(fd_, from, SEEK_HOLE);
        // Where nobody can say, all are looked at.
        if (to < 0) {
            from = at;
            to = kEnd;
        }
        for (off_t slot = (from - kBegin) / kSlot; slot < shm::kMaxThreads && kBegin + slot * kSlot < to;
             ++slot)
            slots.push_back(static_cast<std::uint32_t>(slot));
        at = to;
    }
    return slots;
}

std::uint8_t* SharedMemory::chunk(std::uint32_t index) const {
    return static_cast<std::uint8_t*>(memory_) + shm::kChunksOffset + std::uint64_t{index} * shm::kChunkSize;
}

std::atomic<std::uint8_t>& SharedMemory::gate(std::uint32_t function) const {
    return shm::gate_of(memory_, function);
}

const shm::PublishedCalls& SharedMemory::published_calls(std::uint32_t block) const {
    return reinterpret_cast<const shm::PublishedCalls*>(static_cast<const std::uint8_t*>(memory_) +
                                                        shm::kCallsOffset)[block];
}

shm::ChunkHeader& SharedMemory::chunk_header(std::uint32_t index) const {
    return *reinterpret_cast<shm::ChunkHeader*>(chunk(index));
}

std::span<std::uint8_t> SharedMemory::plan_area() const {
    return {static_cast<std::uint8_t*>(memory_) + shm::kPlanOffset, shm::kPlanSize};
}

namespace {

/// The request area, out of the program's reach.
class RequestCopy {
  public:
    explicit RequestCopy(const void* area) {
        std::memcpy(&request_, area, sizeof request_);
        if (request_.bytes < sizeof request_ || request_.bytes > shm::kRequestSize ||
            request_.bytes % sizeof(std::uint64_t) != 0)
            return;
        bytes_.assign(static_cast<const char*>(area), request_.bytes);
        std::memcpy(bytes_.data(), &request_, sizeof request_);
        whole_ = shm::check_of_request(bytes_.data(), request_.bytes, request_.serial) == request_.check;
    }

    bool answers(std::uint32_t serial) const { return whole_ && request_.serial == serial; }
    const shm::Request& request() const { return request_; }

    std::string text(shm::Text text) const {
        if (text.offset > bytes_.size() || text.size > bytes_.size() - text.offset) return {};
        return bytes_.substr(text.offset, text.size);
    }
    std::vector<std::string> texts(shm::Text from) const;
    std::vector<ProcessObject> objects(shm::Text from) const;
    std::vector<std::uint64_t> numbers(shm::Text from) const;

  private:
    shm::Request request_;
    std::string bytes_;
    bool whole_ = false;
};

std::vector<std::string> RequestCopy::texts(shm::Text from) const {
    std::vector<std::string> all;
    const std::string bytes = text(from);
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t end = bytes.find('\0', at);
        if (end == std::string::npos) break;
        all.push_back(bytes.substr(at, end - at));
        at = end + 1;
    }
    return all;
}

std::vector<ProcessObject> RequestCopy::objects(shm::Text from) const {
    std::vector<ProcessObject> all;
    const std::string bytes = text(from);
    for (std::size_t i = 0; i < bytes.size() / sizeof(shm::RequestedObject); ++i) {
        shm::RequestedObject raw;
        std::memcpy(&raw, bytes.data() + i * sizeof raw, sizeof raw);
        if (raw.end == 0) continue;
        ProcessObject object;
        object.path = text(raw.path);
        for (const char byte : text(raw.build_id))
            object.build_id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
        object.base = raw.base;
        object.end = raw.end;
        all.push_back(std::move(object));
    }
    return all;
}

std::vector<std::uint64_t> RequestCopy::numbers(shm::Text from) const {
    const std::string bytes = text(from);
    std::vector<std::uint64_t> numbers(bytes.size() / sizeof(std::uint64_t));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof numbers[0]);
    return numbers;
}

}  // namespace

Result<ProcessDescription> SharedMemory::describe_process() const {
    const RequestCopy copy(static_cast<const char*>(memory_) + shm::kRequestOffset);
    if (!copy.answers(0)) return fail("the request of process {} is invalid", start_.pid);
    const shm::Request& request = copy.request();
    std::vector<std::uint8_t> inherited;
    if (request.inherited.size > 0) {
        const std::span<const std::uint8_t> area = plan_area();
        if (request.inherited.size > area.size())
            return fail("the request of process {} is invalid", start_.pid);
        inherited.assign(area.begin(), area.begin() + request.inherited.size);
        if (shm::check_of(inherited.data(), inherited.size(), 0) != request.inherited_check)
            return fail("the data that process {} has from its parent is invalid", start_.pid);
    }
    return ProcessDescription{.pid = start_.pid,
                              .own_path = copy.text(request.own_path),
                              .executable = copy.text(request.executable),
                              .command = copy.texts(request.command),
                              .objects = copy.objects(request.objects),
                              .inherited = std::move(inherited)};
}

std::optional<ObjectChange> SharedMemory::describe_change(std::uint32_t serial) const {
    const RequestCopy copy(static_cast<const char*>(memory_) + shm::kRequestOffset);
    if (!copy.answers(serial)) return {};
    return ObjectChange{copy.objects(copy.request().objects), copy.numbers(copy.request().gone)};
}

void SharedMemory::announce(shm::AgentState state) const {
    control().agent_futex.store(state);
    futex_wake(&control().agent_futex, INT_MAX);
}

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, int milliseconds) {
    const timespec timeout{milliseconds / 1000, milliseconds % 1000 * 1000000L};
    syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void futex_wake(const void* word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

std::optional<FunctionNumbers::Given> FunctionNumbers::give(std::uint32_t function) {
    if (end() < kAll) {
        const std::uint32_t fresh = end();
        set(fresh, function);
        return Given{.number = fresh, .anew = false};
    }
    // What was released may have been set since.
    while (taken_ < released_.size()) {
        const std::uint32_t number = released_[taken_++];
        if (functions_[number] != kNone) continue;
        set(number, function);
        return Given{.number = number, .anew = true};
    }
    released_.clear();
    taken_ = 0;
    return {};
}

void FunctionNumbers::set(std::uint32_t number, std::uint32_t function) {
    if (number >= functions_.size()) functions_.resize(number + 1, kNone);
    if (function >= numbers_.size()) numbers_.resize(function + 1, kNone);
    if (const std::uint32_t before = functions_[number]; before != kNone) numbers_[before] = kNone;
    functions_[number] = function;
    numbers_[function] = number;
}

void FunctionNumbers::release(std::uint32_t number) {
    if (const std::uint32_t before = function(number); before != kNone) numbers_[before] = kNone;
    functions_[number] = kNone;
    released_.push_back(number);
}

}  // namespace rdam::agent
