// What the process reads of a plan.
#include "tools/agent/plan/plan_area.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

/// Shared memory without chunks, as a process that has just started makes it.
SharedMemory fresh_memory() {
    constexpr std::uint64_t kSize = shm::kChunksOffset + shm::kChunkSize;
    const int fd = memfd_create("plan_area_test", MFD_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(ftruncate(fd, kSize) == 0);
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(memory != MAP_FAILED);
    auto* control = static_cast<shm::Control*>(memory);
    control->magic = shm::kMagic;
    control->version = shm::kVersion;
    control->size = kSize;
    munmap(memory, kSize);
    auto shared = SharedMemory::map(fd);
    close(fd);
    REQUIRE(shared.has_value());
    return std::move(*shared);
}

std::vector<shm::PlannedFunction> functions_in(const SharedMemory& shared) {
    const auto area = shared.plan_area();
    shm::PlanReply reply;
    std::memcpy(&reply, area.data(), sizeof reply);
    std::vector<shm::PlannedFunction> functions(reply.functions.size / sizeof(shm::PlannedFunction));
    std::memcpy(functions.data(), area.data() + reply.functions.offset, reply.functions.size);
    return functions;
}

}  // namespace

TEST_CASE("the process is told which functions are sampled") {
    const SharedMemory shared = fresh_memory();
    ProcessDescription process;
    process.objects.push_back({"/usr/bin/app", {}, 0x10000, 0x20000});
    FunctionPlan every;
    every.address = 0x100;
    FunctionPlan some;
    some.address = 0x200;
    some.sampled = true;
    REQUIRE(
        write_plan(shared, process, {{0, &every}, {1, &some}}, {.message = "said", .wrapped = "wrapped"}, 0));
    const auto functions = functions_in(shared);
    REQUIRE(functions.size() == 2);
    CHECK(functions[0].address == 0x10100);
    CHECK(functions[0].sampled == 0);
    CHECK(functions[1].address == 0x10200);
    CHECK(functions[1].sampled == 1);
}

}  // namespace rdam::agent
