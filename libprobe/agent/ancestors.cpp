#include "libprobe/agent/ancestors.h"

#include <fcntl.h>

#include <cstddef>
#include <string_view>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

/// A file of a process, from its beginning; what cannot be read is empty.
template <std::size_t Size>
std::string_view read_file_of(std::uint32_t pid, std::string_view name, char (&text)[Size]) {
    constexpr std::string_view kBegin = "/proc/";
    constexpr std::size_t kMaxName = 16;
    char path[kBegin.size() + 21 + kMaxName] = {};
    char number[21];
    put_number(number, pid);
    const std::size_t digits = text_size(number);
    copy_bytes(path, kBegin.data(), kBegin.size());
    copy_bytes(path + kBegin.size(), number, digits);
    copy_bytes(path + kBegin.size() + digits, name.data(), name.size());
    const long fd = sys::call(SYS_open, sys::word(path), O_RDONLY | O_CLOEXEC);
    if (sys::failed(fd)) return {};
    const long size = sys::call(SYS_read, fd, sys::word(text), Size);
    sys::call(SYS_close, fd);
    return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// The decimal number that begins there; 0: none does.
std::uint64_t number_at(std::string_view text) {
    std::uint64_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') break;
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
}

}  // namespace

std::uint32_t parent_of(std::uint32_t pid) {
    // pid (name) state parent
    constexpr std::string_view kState = ") S ";
    char buffer[512];
    const std::string_view text = read_file_of(pid, "/stat", buffer);
    std::size_t at = text.size();
    while (at > 0 && text[at - 1] != ')')
        --at;
    if (at == 0 || at + kState.size() - 1 > text.size()) return 0;
    return static_cast<std::uint32_t>(number_at(text.substr(at - 1 + kState.size())));
}

std::uint64_t lock_limit_of(std::uint32_t pid) {
    constexpr std::string_view kName = "Max file locks";
    char buffer[4096];
    std::string_view text = read_file_of(pid, "/limits", buffer);
    while (!text.empty() && !text.starts_with(kName))
        text.remove_prefix(1);
    if (text.empty()) return 0;
    text.remove_prefix(kName.size());
    while (text.starts_with(' '))
        text.remove_prefix(1);
    return number_at(text);
}

}  // namespace rdam::probe
