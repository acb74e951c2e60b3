#include "libprobe/agent/memory_limit.h"

#include <fcntl.h>

#include <string_view>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/format/settings.h"

namespace rdam::probe {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The beginning of a file; empty when it cannot be read.
std::string_view read_file(const char* path, char* to, std::size_t room) {
    const long fd = sys::call(SYS_open, sys::word(path), O_RDONLY | O_CLOEXEC);
    if (sys::failed(fd)) return {};
    const long size = sys::call(SYS_read, fd, sys::word(to), static_cast<long>(room));
    sys::call(SYS_close, fd);
    return size > 0 ? std::string_view{to, static_cast<std::size_t>(size)} : std::string_view{};
}

std::string_view line_of(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && rest[end] != '\n')
        ++end;
    const std::string_view line{rest.data(), end};
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    return line;
}

/// A number, or "max".
std::uint64_t limit_in(const char* path) {
    char text[64];
    std::string_view rest = read_file(path, text, sizeof text);
    std::uint64_t value = 0;
    return settings::parse_size(line_of(rest), value) ? value : kNoLimit;
}

/// The limits of a group and of those around it: of `mount` + `group` + `file`, and so on upwards. Where the
/// process sees only a part of the tree (a container), the path need not be there.
std::uint64_t least_limit(std::string_view mount, std::string_view group, std::string_view file) {
    char path[1024];
    std::uint64_t least = kNoLimit;
    while (mount.size() + group.size() + file.size() < sizeof path) {
        copy_bytes(path, mount.data(), mount.size());
        copy_bytes(path + mount.size(), group.data(), group.size());
        copy_bytes(path + mount.size() + group.size(), file.data(), file.size());
        path[mount.size() + group.size() + file.size()] = '\0';
        const std::uint64_t limit = limit_in(path);
        if (limit < least) least = limit;
        if (group.empty()) break;
        while (!group.empty() && group.back() != '/')
            group.remove_suffix(1);
        if (!group.empty()) group.remove_suffix(1);
    }
    return least;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::uint64_t cgroup_memory_limit() {
    char text[4096];
    std::string_view rest = read_file("/proc/self/cgroup", text, sizeof text);
    std::uint64_t least = kNoLimit;
    while (!rest.empty()) {
        // number:controllers:path; version 2 names no controllers.
        std::string_view line = line_of(rest);
        while (!line.empty() && line.front() != ':')
            line.remove_prefix(1);
        std::uint64_t limit = kNoLimit;
        if (take_prefix(line, "::"))
            limit = least_limit("/sys/fs/cgroup", line, "/memory.max");
        else if (take_prefix(line, ":memory:"))
            limit = least_limit("/sys/fs/cgroup/memory", line, "/memory.limit_in_bytes");
        if (limit < least) least = limit;
    }
    return least;
}

}  // namespace rdam::probe
