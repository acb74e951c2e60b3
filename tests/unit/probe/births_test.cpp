// What the agent does for fork children of its process that stand where no starter can be reached.
#include "tools/agent/births.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/catch.h"
#include "tests/unit/probe/fresh_memory.h"
#include "tools/agent/process/process_numbers.h"

namespace rdam::agent {
namespace {

TEST_CASE("the numbers of a task are read from its status, the innermost last") {
    using Numbers = std::vector<std::uint32_t>;
    CHECK(parse_numbers("Name:\ta\nNSpid:\t18530\t14\t1\nNSpgid:\t7\n") == Numbers{18530, 14, 1});
    CHECK(parse_numbers("Name:\ta\nNSpid:\t42\n") == Numbers{42});
    CHECK(parse_numbers("Name:\ta\n").empty());
    CHECK(parse_numbers("").empty());
}

TEST_CASE("in its own namespace a process has the same numbers everywhere") {
    const auto own = static_cast<std::uint32_t>(getpid());
    CHECK(shares_pid_namespace(own));
    CHECK(numbers_of(own).back() == own);
    ThreadNumbers numbers(own);
    numbers.look(1);
    CHECK(numbers.here(7) == 7);
}

TEST_CASE("the kernel says that an agent was killed, and the agent that it has ended") {
    const SharedMemory shared = test::fresh_memory(1, static_cast<std::uint32_t>(getpid()));
    const shm::Births& page = shm::births_of(shared.control());
    const pid_t agent = fork();
    REQUIRE(agent >= 0);
    if (agent == 0) {
        const Births births(shared);
        if (page.holder.load() == static_cast<std::uint32_t>(getpid())) raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(agent, &status, 0) == agent);
    REQUIRE(WIFSIGNALED(status));
    CHECK((page.holder.load() & shm::kHolderDied) != 0);
    {
        const Births births(shared);
        CHECK((page.holder.load() & shm::kHolderDied) == 0);
        CHECK(page.holder.load() != 0);
    }
    CHECK(page.holder.load() == 0);
}

TEST_CASE("whoever asks for an agent is answered, and believed in nothing") {
    const SharedMemory shared = test::fresh_memory(1, static_cast<std::uint32_t>(getpid()));
    shm::Births& page = shm::births_of(shared.control());
    Births births(shared);
    shm::Birth& birth = page.children[3];
    // No such process; a descriptor of another kind; memory that is another's.
    for (const auto& [pid, memory] :
         {std::pair{0x7fffffffu, 5}, {1u, -1}, {1u, 0}, {shared.control().pid, 1}}) {
        birth.pid = pid;
        birth.memory = memory;
        birth.nonce = 99;
        birth.state_futex.store(shm::BirthState::asked);
        births.look();
        CHECK(birth.state_futex.load() == shm::BirthState::refused);
    }
    birth.state_futex.store(shm::BirthState::writing);
    births.look();
    CHECK(birth.state_futex.load() == shm::BirthState::writing);
}

}  // namespace
}  // namespace rdam::agent
