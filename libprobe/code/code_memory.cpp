#include "libprobe/code/code_memory.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

/// Whether a writable page may become executable. To be known before any of the program's pages is made
/// writable: there would be no way back.
bool may_gain_execution() {
    static std::uint8_t known = 0;
    if (known == 0) {
        const long page =
            sys::mmap(0, sys::kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (sys::failed(page)) return false;
        const bool may = sys::call(SYS_mprotect, page, sys::kPage, PROT_READ | PROT_EXEC) == 0;
        sys::call(SYS_munmap, page, sys::kPage);
        known = may ? 2 : 1;
    }
    return known == 2;
}

/// Maps the same content from a file: such a mapping is executable from its beginning.
bool replace_by_file(std::uint64_t address, std::uint64_t size) {
    const long fd = sys::call(SYS_memfd_create, sys::word("rdam code"), MFD_CLOEXEC);
    if (sys::failed(fd)) return false;
    const auto written = sys::write(static_cast<int>(fd), reinterpret_cast<const void*>(address), size);
    const bool done = written == static_cast<long>(size) &&
                      !sys::failed(sys::mmap(address, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
                                             static_cast<int>(fd), 0));
    sys::call(SYS_close, fd);
    return done;
}

/// The kernel writes for us, as it does for a debugger. Half a jump would be worse than none.
bool write_through_proc(std::uint64_t address, const void* bytes, std::uint64_t size) {
    std::uint8_t before[512];
    if (size > sizeof before) return false;
    const long fd = sys::call(SYS_open, sys::word("/proc/self/mem"), O_RDWR | O_CLOEXEC);
    if (sys::failed(fd)) return false;
    copy_bytes(before, reinterpret_cast<const void*>(address), size);
    const long written =
        sys::call(SYS_pwrite64, fd, sys::word(bytes), static_cast<long>(size), static_cast<long>(address));
    const bool whole = written == static_cast<long>(size);
    if (written > 0 && !whole)
        sys::call(SYS_pwrite64, fd, sys::word(before), written, static_cast<long>(address));
    sys::call(SYS_close, fd);
    return whole;
}

}  // namespace

bool make_executable(std::uint64_t address, std::uint64_t size) {
    if (!may_gain_execution()) return replace_by_file(address, size);
    return sys::call(SYS_mprotect, static_cast<long>(address), static_cast<long>(size),
                     PROT_READ | PROT_EXEC) == 0;
}

bool write_code(std::uint64_t address, const void* bytes, std::uint64_t size) {
    if (!may_gain_execution()) return write_through_proc(address, bytes, size);
    constexpr auto kPage = static_cast<long>(sys::kPage);
    const auto first = static_cast<long>(address & ~(sys::kPage - 1));
    const auto length = static_cast<long>((address + size + sys::kPage - 1) & ~(sys::kPage - 1)) - first;
    if (sys::call(SYS_mprotect, first, length, PROT_READ | PROT_WRITE) == 0) {
        copy_bytes(reinterpret_cast<void*>(address), bytes, size);
        return sys::call(SYS_mprotect, first, length, PROT_READ | PROT_EXEC) == 0;
    }
    // Sealed pages (mseal) keep their protection. Those in front of a sealed one have lost theirs by now.
    for (long page = first; page < first + length; page += kPage)
        sys::call(SYS_mprotect, page, kPage, PROT_READ | PROT_EXEC);
    return write_through_proc(address, bytes, size);
}

}  // namespace rdam::probe
