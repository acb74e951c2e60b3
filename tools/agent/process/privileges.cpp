#include "tools/agent/process/privileges.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace rdam::agent {

namespace {

constexpr std::size_t kStatusSize = 1U << 16U;

/// The words behind `name` in the line that it begins.
std::optional<std::istringstream> words_of(const std::string& status, const std::string& name) {
    const std::size_t at = status.find("\n" + name);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 1 + name.size();
    return std::istringstream(status.substr(begin, status.find('\n', begin) - begin));
}

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

int open_status(std::uint32_t pid) {
    if (!proc_is_of_our_namespace()) return -1;
    return open(("/proc/" + std::to_string(pid) + "/status").c_str(), O_RDONLY | O_CLOEXEC);
}

std::optional<Credentials> parse_credentials(const std::string& status) {
    auto users = words_of(status, "Uid:");
    auto groups = words_of(status, "Gid:");
    auto others = words_of(status, "Groups:");
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
    : status_(open_status(program)), user_(geteuid()), group_(getegid()), before_(std::move(before)) {}

Privileges::~Privileges() {
    if (status_ >= 0) close(status_);
}

bool Privileges::follow() {
    if (status_ < 0) return true;
    std::string text(kStatusSize, '\0');
    const ssize_t size = pread(status_, text.data(), text.size(), 0);
    if (size <= 0) return true;
    text.resize(static_cast<std::size_t>(size));
    const auto program = parse_credentials(text);
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

namespace {

constexpr std::size_t kStatusBytes = 1U << 16U;

std::optional<std::uint32_t> number_of(const std::string& status, const std::string& name) {
    const std::size_t at = status.find("\n" + name + ":");
    if (at == std::string::npos) return {};
    std::istringstream line(status.substr(at + name.size() + 2));
    std::uint32_t number = 0;
    if (!(line >> number)) return {};
    return number;
}

}  // namespace

std::optional<std::uint32_t> parse_filters(const std::string& status) {
    const auto mode = number_of(status, "Seccomp");
    if (!mode) return {};
    const auto filters = number_of(status, "Seccomp_filters");
    if (*mode == 0) return 0;
    return filters && *filters > 0 ? *filters : 1;
}

FilterWatch::FilterWatch(std::uint32_t program) : status_(open_status(program)), first_(count()) {}

FilterWatch::~FilterWatch() {
    if (status_ >= 0) close(status_);
}

bool FilterWatch::more() const {
    if (!first_) return false;
    const auto now = count();
    return now && *now > *first_;
}

std::optional<std::uint32_t> FilterWatch::count() const {
    if (status_ < 0) return {};
    std::string text(kStatusBytes, '\0');
    const ssize_t size = pread(status_, text.data(), text.size(), 0);
    if (size <= 0) return {};
    text.resize(static_cast<std::size_t>(size));
    return parse_filters(text);
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
    std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
    std::string paranoid;
    std::getline(file, paranoid);
    return who_forbids_perf(paranoid);
}

}  // namespace rdam::agent
