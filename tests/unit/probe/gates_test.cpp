// Gates: the code that stands before moved code, and the copies of the pages that it reads.
#include "libprobe/code/gates.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "tests/unit/catch.h"

constinit rdam::probe::Guard rdam_guard = {};

namespace rdam::probe {

constinit Globals globals;

void copy_bytes(void* to, const void* from, std::size_t size) {
    std::memcpy(to, from, size);
}

namespace {

std::uint64_t word(const volatile void* address) {
    return reinterpret_cast<std::uint64_t>(address);
}

void* reserve(std::size_t size) {
    void* place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(place != MAP_FAILED);
    return place;
}

/// Memory as the process shares it with an agent: not inherited by fork children.
class Shared {
  public:
    Shared() {
        const int fd = memfd_create("gates", MFD_CLOEXEC);
        REQUIRE(fd >= 0);
        REQUIRE(ftruncate(fd, kSize) == 0);
        memory_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        close(fd);
        REQUIRE(memory_ != MAP_FAILED);
        REQUIRE(madvise(memory_, kSize, MADV_DONTFORK) == 0);
    }
    ~Shared() { munmap(memory_, kSize); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    Shared(Shared&&) = delete;
    Shared& operator=(Shared&&) = delete;

    shm::Control* control() const { return static_cast<shm::Control*>(memory_); }
    std::uint8_t* gates() const { return static_cast<std::uint8_t*>(memory_) + shm::kGatesOffset; }

  private:
    static constexpr std::size_t kSize = shm::kRequestOffset;
    void* memory_;
};

/// A process as this test's, whose only copy of the gates is at `place`.
struct Copy {
    explicit Copy(const Shared& shared) : place(static_cast<std::uint8_t*>(reserve(shm::kGatesSize))) {
        globals.control = shared.control();
        globals.gate_copies = 0;
        REQUIRE(copy_gates_to(word(place)));
    }
    volatile std::uint8_t* place;
};

/// What a child makes of it: its exit code.
template <class Body>
int in_child(const Body& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/// Code that is to have a gate in front of it, and what the open gate leads to.
struct GatedCode {
    static constexpr std::size_t kPage = 4096;
    std::uint8_t* memory = static_cast<std::uint8_t*>(reserve(2 * kPage));
    std::uint8_t* gate = memory + kPage + 77;
    std::uint8_t* code = memory + 256;

    GatedCode() {
        constexpr std::uint8_t kRecorder[] = {0xb8, 2, 0, 0, 0, 0xc3};  // mov $2, %eax; ret
        std::memcpy(memory, kRecorder, sizeof kRecorder);
    }
    ~GatedCode() { munmap(memory, 2 * kPage); }
    GatedCode(const GatedCode&) = delete;
    GatedCode& operator=(const GatedCode&) = delete;

    /// Writes the gate behind `before` bytes of code, and a function that returns 1.
    void finish(std::size_t before) const {
        constexpr std::uint8_t kFunction[] = {0xb8, 1, 0, 0, 0, 0xc3};
        write_gate(word(code + before), word(gate), word(memory));
        std::memcpy(code + before + kGateCode, kFunction, sizeof kFunction);
        REQUIRE(mprotect(memory, kPage, PROT_READ | PROT_EXEC) == 0);
    }
};

}  // namespace

TEST_CASE("an open gate leads to the recorder, a closed one on to the function", "[gates]") {
    const GatedCode made;
    made.finish(0);
    const auto call = reinterpret_cast<int (*)()>(word(made.code));
    CHECK(call() == 1);
    *made.gate = 1;
    CHECK(call() == 2);
    *made.gate = 0;
    CHECK(call() == 1);
}

TEST_CASE("a call that finds nobody waiting passes by the gate", "[gates]") {
    const GatedCode made;
    write_waiters(word(made.code), {.mask = 0xfffffff8, .offset = 36});
    made.finish(kWaitersCode);
    const auto call = reinterpret_cast<int (*)(const std::uint32_t*)>(word(made.code));
    std::uint32_t object[12] = {};
    *made.gate = 1;
    CHECK(call(object) == 1);
    object[9] = 7;  // which clock, and whom the object is for
    object[8] = object[10] = 8;
    CHECK(call(object) == 1);
    object[9] = 8;
    CHECK(call(object) == 2);
    object[9] = 0x80000000;
    CHECK(call(object) == 2);
    *made.gate = 0;
    CHECK(call(object) == 1);
}

TEST_CASE("calls are counted whether the gate is open or closed", "[gates]") {
    constexpr std::uint8_t kFunction[] = {0x89, 0xf8, 0xc3};  // mov %edi, %eax; ret
    constexpr std::uint8_t kRecorder[] = {0xf7, 0xdf, 0x89, 0xf8, 0xc3};
    constexpr std::size_t kPage = 4096;
    static thread_local std::uint64_t counters[3];
    counters[0] = counters[2] = 7;
    std::uint64_t thread_pointer = 0;
    asm("mov %%fs:0, %0" : "=r"(thread_pointer));
    auto* memory = static_cast<std::uint8_t*>(reserve(2 * kPage));
    std::uint8_t* gate = memory + kPage + 77;
    std::uint8_t* code = memory + 256;
    std::memcpy(memory, kRecorder, sizeof kRecorder);
    write_count(word(code), static_cast<std::uint32_t>(word(&counters[1]) - thread_pointer));
    write_gate(word(code + kCountCode), word(gate), word(memory));
    std::memcpy(code + kCountCode + kGateCode, kFunction, sizeof kFunction);
    REQUIRE(mprotect(memory, kPage, PROT_READ | PROT_EXEC) == 0);
    const auto call = reinterpret_cast<int (*)(int)>(word(code));
    CHECK(call(5) == 5);
    *gate = 1;
    CHECK(call(6) == -6);
    *gate = 0;
    CHECK(call(8) == 8);
    CHECK(*const_cast<volatile std::uint64_t*>(&counters[1]) == 3);
    CHECK(counters[0] == 7);
    CHECK(counters[2] == 7);
    munmap(memory, 2 * kPage);
}

TEST_CASE("a far counter is behind a pointer, and no register is lost", "[gates]") {
    constexpr std::uint8_t kFunction[] = {0x4c, 0x89, 0xd8, 0xc3};  // mov %r11, %rax; ret
    constexpr std::size_t kPage = 4096;
    static thread_local std::uint64_t* pointer = nullptr;
    std::uint64_t counters[3] = {7, 0, 7};
    pointer = counters;
    std::uint64_t thread_pointer = 0;
    asm("mov %%fs:0, %0" : "=r"(thread_pointer));
    auto* memory = static_cast<std::uint8_t*>(reserve(2 * kPage));
    std::uint8_t* gate = memory + kPage + 77;
    write_far_count(word(memory), static_cast<std::uint32_t>(word(&pointer) - thread_pointer),
                    sizeof counters[0]);
    write_gate(word(memory + kFarCountCode), word(gate), word(memory));
    std::memcpy(memory + kFarCountCode + kGateCode, kFunction, sizeof kFunction);
    REQUIRE(mprotect(memory, kPage, PROT_READ | PROT_EXEC) == 0);
    for (int i = 0; i < 3; ++i) {
        std::uint64_t kept = 0;
        asm volatile(
            "mov $0x123456789a, %%r11\n\t"
            "sub $128, %%rsp\n\t"
            "call *%[gate]\n\t"
            "add $128, %%rsp"
            : "=&a"(kept)
            : [gate] "r"(memory)
            : "r11", "memory", "cc");
        CHECK(kept == 0x123456789a);
    }
    CHECK(const_cast<volatile std::uint64_t*>(counters)[1] == 3);
    CHECK(counters[0] == 7);
    CHECK(counters[2] == 7);
    munmap(memory, 2 * kPage);
}

TEST_CASE("a copy shows the gates as they are, and only to look at", "[gates]") {
    const Shared shared;
    open_all_gates(shared.gates());
    const Copy copy{shared};
    CHECK(copy.place[0] == shm::kGateOpen);
    CHECK(copy.place[shm::kGatesSize - 1] == shm::kGateOpen);
    shared.gates()[5] = 0;
    CHECK(copy.place[5] == 0);
    CHECK(copy.place[6] == shm::kGateOpen);
    CHECK(in_child([&] {
              // Writing to it would be a signal; the kernel is asked instead.
              int ends[2];
              if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return 1;
              return read(ends[0], const_cast<std::uint8_t*>(copy.place), 1) < 0 && errno == EFAULT ? 0 : 2;
          }) == 0);
}

TEST_CASE("a copy is found for all code within its reach", "[gates]") {
    const Shared shared;
    const Copy copy{shared};
    const std::uint64_t at = word(const_cast<std::uint8_t*>(copy.place));
    constexpr std::uint64_t kFar = std::uint64_t{1} << 31;
    CHECK(gates_within_reach(at - 4096, at) == at);
    CHECK(gates_within_reach(at + (kFar - 65536), at + (kFar - 4096)) == at);
    CHECK(gates_within_reach(at + kFar, at + kFar + 4096) == 0);
    CHECK(gates_within_reach(at - kFar, at - kFar + 4096) == 0);
}

TEST_CASE("a fork child has its parent's gates until it has its own, at the same place", "[gates]") {
    const Shared shared;
    open_all_gates(shared.gates());
    const Copy copy{shared};
    shared.gates()[7] = 0;
    CHECK(in_child([&] { return copy.place[7] == 0 && copy.place[8] == shm::kGateOpen ? 0 : 1; }) == 0);
    CHECK(in_child([&] {
              forget_parents_gates();
              if (copy.place[7] != shm::kGateOpen) return 1;  // its next call must be seen
              const Shared own;
              open_all_gates(own.gates());
              own.gates()[9] = 0;
              globals.control = own.control();
              if (!adopt_gates() || copy.place[9] != 0 || copy.place[7] != shm::kGateOpen) return 2;
              own.gates()[9] = shm::kGateOpen;
              return copy.place[9] == shm::kGateOpen ? 0 : 3;
          }) == 0);
    CHECK(copy.place[7] == 0);
}

TEST_CASE("there are no more copies than there is room to remember", "[gates]") {
    const Shared shared;
    const Copy copy{shared};
    globals.gate_copies = kMaxGateCopies;
    CHECK_FALSE(copy_gates_to(word(reserve(shm::kGatesSize))));
    globals.gate_copies = 1;
}

}  // namespace rdam::probe
