#include "tools/agent/process/privileges.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>
#include <utility>

#include "tools/agent/process/process_numbers.h"

namespace rdam::agent {

namespace {

constexpr std::size_t kStatusSize = 1U << 16U;

template <typename Ids>
bool has(const Ids& ids, std::uint32_t id) {
    return std::ranges::find(ids, id) != ids.end();
}

/// In a PID namespace that has no /proc of its own the numbers there are other processes'.
bool proc_is_of_our_namespace() {
    char text[32];
    const ssize_t size = readlink("/proc/self", text, sizeof text);
    return size > 0 && std::to_string(getpid()) == std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

StatusFile::StatusFile(std::uint32_t pid) {
    if (proc_is_of_our_namespace())
        file_ = Descriptor(open(("/proc/" + std::to_string(pid) + "/status").c_str(), O_RDONLY | O_CLOEXEC));
}

std::string StatusFile::text() const {
    std::string text(kStatusSize, '\0');
    const ssize_t size = pread(file_.get(), text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
}

std::optional<Credentials> parse_credentials(const std::string& status) {
    auto users = status_words(status, "Uid:");
    auto groups = status_words(status, "Gid:");
    auto others = status_words(status, "Groups:");
    if (!users || !groups || !others) return {};
    Credentials found;
    for (uid_t& user : found.users)
        if (!(*users >> user)) return {};
    for (gid_t& group : found.groups)
        if (!(*groups >> group)) return {};
    for (gid_t group = 0; *others >> group;)
        found.others.push_back(group);
    return found;
}

Privileges::Privileges(std::uint32_t program, std::function<void()> before)
    : status_(program), user_(geteuid()), group_(getegid()), before_(std::move(before)) {}

bool Privileges::follow() {
    const auto program = parse_credentials(status_.text());
    if (!program || (has(program->users, user_) && has(program->groups, group_))) return true;
    return become(*program);
}

bool Privileges::become(const Credentials& wanted) {
    before_();
    const gid_t group = has(wanted.groups, group_) ? group_ : wanted.groups[1];
    const uid_t user = has(wanted.users, user_) ? user_ : wanted.users[1];
    // Only root can have supplementary groups to give up; other users have none that the program has lost.
    if (user_ == 0 && setgroups(wanted.others.size(), wanted.others.data()) != 0) return false;
    if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return false;
    group_ = group;
    user_ = user;
    return true;
}

std::optional<std::uint32_t> parse_filters(const std::string& status) {
    const auto number = [&](const char* name) -> std::optional<std::uint32_t> {
        auto words = status_words(status, name);
        std::uint32_t value = 0;
        if (!words || !(*words >> value)) return {};
        return value;
    };
    const auto mode = number("Seccomp:");
    if (!mode) return {};
    const auto filters = number("Seccomp_filters:");
    if (*mode == 0) return 0;
    return filters && *filters > 0 ? *filters : 1;
}

bool FilterWatch::more() const {
    const auto now = parse_filters(status_.text());
    return first_ && now && *now > *first_;
}

std::string who_forbids_perf(std::string_view paranoid) {
    // Up to here the kernel lets anybody observe their own threads outside of it.
    constexpr int kHarmless = 2;
    int level = 0;
    const auto read = std::from_chars(paranoid.data(), paranoid.data() + paranoid.size(), level);
    if (read.ec != std::errc{})
        return fmt::format(
            "forbidden by seccomp or a container's rules, or by kernel.perf_event_paranoid, which must be at "
            "most {}",
            kHarmless);
    if (level <= kHarmless) return "forbidden by seccomp or a container's rules";
    return fmt::format(
        "forbidden by kernel.perf_event_paranoid, which is {} and must be at most {}, or by seccomp or a "
        "container's rules",
        level, kHarmless);
}

std::string who_forbids_perf() {
    return who_forbids_perf(first_line("/proc/sys/kernel/perf_event_paranoid"));
}

}  // namespace rdam::agent
