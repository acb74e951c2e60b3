// Reads any bytes as a Pajé trace, and then all calls of what becomes of it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analyzer/inputs/paje/paje.h"

namespace {

void require(bool truth) {
    if (!truth) std::abort();
}

/// What the analysis relies on.
void read_all(const rdam::trace::TraceReader& reader) {
    const rdam::trace::TraceInfo& info = reader.info();
    for (std::uint32_t thread = 0; thread < info.threads.size(); ++thread) {
        std::uint64_t last = 0;
        const auto check = [&](const rdam::trace::Event& event) {
            require(event.tsc >= last && event.function < info.functions.size());
            last = event.tsc;
        };
        const auto done = reader.read_thread(
            thread,
            [&](std::span<const rdam::trace::Event> events) {
                for (const rdam::trace::Event& event : events)
                    check(event);
            },
            [] {});
        require(done.has_value() && reader.off_cpu(thread).has_value());
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int fd = memfd_create("paje", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size));
    const auto reader =
        rdam::inputs::paje::read("/proc/self/fd/" + std::to_string(fd), [](std::uint64_t, std::uint64_t) {});
    if (reader)
        read_all(*reader);
    else
        require(!reader.error().message.empty() && reader.error().message.find('\n') == std::string::npos);
    close(fd);
    return 0;
}
