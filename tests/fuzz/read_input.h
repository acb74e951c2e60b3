// Gives bytes to a reader of files, and reads all of the trace that comes of them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/trace/reader.h"

namespace rdam::fuzz {

inline void require(bool truth) {
    if (!truth) std::abort();
}

/// What the analysis relies on.
inline void read_all(const trace::TraceReader& reader) {
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread) {
        std::uint64_t last = 0;
        const auto check = [&](std::span<const trace::Event> events) {
            for (const trace::Event& event : events) {
                require(event.tsc >= last && event.function < reader.info().functions.size());
                last = event.tsc;
            }
        };
        require(reader.read_thread(thread, check, [] {}).has_value());
        const auto off = reader.off_cpu(thread);
        require(off.has_value());
        for (const trace::OffCpu& each : *off)
            require(each.out < each.in);
    }
    const trace::Damage damage = reader.damage();
    require(damage.bad_chunks == 0 && damage.missing_chunks == 0);
}

template <class Recognizes, class Read>
void recognizes_and_reads(const std::uint8_t* data, std::size_t size, Recognizes recognizes, Read read) {
    static_cast<void>(recognizes(std::string_view{reinterpret_cast<const char*>(data), size}));
    const int fd = memfd_create("input", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size));
    const auto reader = read("/proc/self/fd/" + std::to_string(fd), inputs::Progress{});
    if (reader)
        read_all(*reader);
    else
        require(!reader.error().message.empty() && reader.error().message.find('\n') == std::string::npos);
    close(fd);
}

}  // namespace rdam::fuzz
