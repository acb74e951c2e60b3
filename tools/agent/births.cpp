#include "tools/agent/births.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tools/agent/process/privileges.h"
#include "tools/agent/process/process_numbers.h"
#include "tools/agent/starter.h"

namespace rdam::agent {
namespace {

namespace fs = std::filesystem;

/// What a child asks for, out of its reach.
struct Wish {
    std::uint32_t pid;
    std::int32_t memory;
    std::uint64_t nonce;
};

/// Opens the memory that the child has just made, if it is this process's; -1: it is not.
int open_memory(std::uint32_t process, const Wish& wish) {
    constexpr std::string_view kName = "/memfd:rdam ";
    const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(wish.memory);
    std::error_code error;
    if (!fs::read_symlink(path, error).string().starts_with(kName)) return -1;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    std::uint64_t magic = 0;
    std::uint64_t nonce = 0;
    std::uint32_t pid = 0;
    const auto read_at = [fd](auto& value, std::size_t offset) {
        return pread(fd, &value, sizeof value, static_cast<off_t>(offset)) == sizeof value;
    };
    const bool its_own = read_at(magic, offsetof(shm::Control, magic)) && magic == shm::kMagic &&
                         read_at(nonce, offsetof(shm::Control, nonce)) && nonce == wish.nonce &&
                         read_at(pid, offsetof(shm::Control, pid)) && pid == wish.pid;
    if (its_own) return fd;
    close(fd);
    return -1;
}

/// An agent has the rights of its starter: nobody else gets one of ours by asking for it.
bool is_own_user(std::uint32_t process) {
    const auto theirs = parse_credentials(contents("/proc/" + std::to_string(process) + "/status"));
    const auto all = [](const auto& ids, auto own) {
        return std::ranges::all_of(ids, [own](auto id) { return id == own; });
    };
    return theirs && all(theirs->users, geteuid()) && all(theirs->groups, getegid());
}

struct Child {
    std::uint32_t pid;  ///< here
    int memory;
};

/// Among the parent's children first. A child whose parent has ended by now may be anybody's.
std::optional<Child> find_child(std::uint32_t parent, const Wish& wish) {
    for (const auto& among : {children_of, +[](std::uint32_t) { return all_processes(); }})
        for (const std::uint32_t pid : among(parent)) {
            const auto numbers = numbers_of(pid);
            if (numbers.empty() || numbers.back() != wish.pid || !is_own_user(pid)) continue;
            if (const int memory = open_memory(pid, wish); memory >= 0) return Child{pid, memory};
        }
    return {};
}

}  // namespace

Births::Births(const SharedMemory& shared)
    : parent_(shared.start().pid), page_(shm::births_of(shared.control())) {
    entry_.next = &held_.list;
    held_.list.next = &entry_;
    held_.futex_offset = reinterpret_cast<char*>(&page_.holder) - reinterpret_cast<char*>(&entry_);
    if (syscall(SYS_set_robust_list, &held_, sizeof held_) == 0)
        page_.holder.store(static_cast<std::uint32_t>(gettid()));
}

void Births::end() {
    page_.holder.store(0);
    held_.list.next = &held_.list;
    for (shm::Birth& birth : page_.children)
        futex_wake(&birth.state_futex, INT_MAX);
}

void Births::look() {
    for (shm::Birth& birth : page_.children) {
        if (birth.state_futex.load() != shm::BirthState::asked) continue;
        auto answer = start_agent_for(birth) ? shm::BirthState::started : shm::BirthState::refused;
        auto asked = shm::BirthState::asked;
        if (birth.state_futex.compare_exchange_strong(asked, answer)) futex_wake(&birth.state_futex, INT_MAX);
    }
}

bool Births::start_agent_for(const shm::Birth& birth) const {
    const Wish wish{.pid = birth.pid, .memory = birth.memory, .nonce = birth.nonce};
    const auto child = find_child(parent_, wish);
    if (!child) return false;
    const bool started = ask_for_agent_of(child->pid, child->memory);
    close(child->memory);
    return started;
}

}  // namespace rdam::agent
