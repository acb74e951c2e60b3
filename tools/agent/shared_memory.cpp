#include "tools/agent/shared_memory.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <ctime>

namespace rdam::agent {

Result<SharedMemory> SharedMemory::map(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return fail("descriptor {} is not the memory of a profiled process", fd);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size <= shm::kChunksOffset)
        return fail("descriptor {} is too small for the memory of a profiled process", fd);
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED) return fail("cannot map the event buffers: {}", std::strerror(errno));
    SharedMemory shared(memory, size);
    const shm::Control& control = shared.control();
    if (control.magic != shm::kMagic || control.version != shm::kVersion || control.size != size ||
        shm::kChunksOffset + std::uint64_t{control.chunks} * shm::kChunkSize > size)
        return fail("librdam.so and rdam-agent are not of the same version: install rdam again");
    return shared;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept : memory_(other.memory_), size_(other.size_) {
    other.memory_ = nullptr;
}

SharedMemory::~SharedMemory() {
    if (memory_ != nullptr) munmap(memory_, size_);
}

std::uint8_t* SharedMemory::chunk(std::uint32_t index) const {
    return static_cast<std::uint8_t*>(memory_) + shm::kChunksOffset + std::uint64_t{index} * shm::kChunkSize;
}

std::atomic<std::uint8_t>& SharedMemory::gate(std::uint32_t function) const {
    return reinterpret_cast<std::atomic<std::uint8_t>*>(static_cast<std::uint8_t*>(memory_) +
                                                        shm::kGatesOffset)[function];
}

const shm::PublishedCalls& SharedMemory::published_calls(std::uint32_t slot) const {
    return reinterpret_cast<const shm::PublishedCalls*>(static_cast<const std::uint8_t*>(memory_) +
                                                        shm::kCallsOffset)[slot];
}

shm::ChunkHeader& SharedMemory::chunk_header(std::uint32_t index) const {
    return *reinterpret_cast<shm::ChunkHeader*>(chunk(index));
}

std::span<std::uint8_t> SharedMemory::plan_area() const {
    return {static_cast<std::uint8_t*>(memory_) + shm::kPlanOffset, shm::kPlanSize};
}

std::string_view SharedMemory::request_text(shm::Text text) const {
    if (text.offset > shm::kRequestSize || text.size > shm::kRequestSize - text.offset) return {};
    return {static_cast<const char*>(memory_) + shm::kRequestOffset + text.offset, text.size};
}

ProcessDescription SharedMemory::describe_process() const {
    shm::Request request;
    std::memcpy(&request, static_cast<const char*>(memory_) + shm::kRequestOffset, sizeof request);
    ProcessDescription process;
    process.pid = control().pid;
    process.own_path = request_text(request.own_path);
    process.executable = request_text(request.executable);
    const std::string_view arguments = request_text(request.command);
    for (std::size_t at = 0; at < arguments.size();) {
        const std::size_t end = arguments.find('\0', at);
        if (end == std::string_view::npos) break;
        process.command.emplace_back(arguments.substr(at, end - at));
        at = end + 1;
    }
    process.objects = requested_objects(request.objects);
    process.known = requested_numbers(request.known);
    return process;
}

ObjectChange SharedMemory::describe_change() const {
    shm::Request request;
    std::memcpy(&request, static_cast<const char*>(memory_) + shm::kRequestOffset, sizeof request);
    return {requested_objects(request.objects), requested_numbers(request.gone)};
}

std::vector<ProcessObject> SharedMemory::requested_objects(shm::Text text) const {
    std::vector<ProcessObject> all;
    const std::string_view objects = request_text(text);
    for (std::size_t i = 0; i < objects.size() / sizeof(shm::RequestedObject); ++i) {
        shm::RequestedObject raw;
        std::memcpy(&raw, objects.data() + i * sizeof raw, sizeof raw);
        if (raw.end == 0) continue;
        ProcessObject object;
        object.path = request_text(raw.path);
        for (const char byte : request_text(raw.build_id))
            object.build_id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
        object.base = raw.base;
        object.end = raw.end;
        all.push_back(std::move(object));
    }
    return all;
}

std::vector<std::uint64_t> SharedMemory::requested_numbers(shm::Text text) const {
    const std::string_view bytes = request_text(text);
    std::vector<std::uint64_t> numbers(bytes.size() / sizeof(std::uint64_t));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof numbers[0]);
    return numbers;
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

}  // namespace rdam::agent
