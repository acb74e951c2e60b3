// A data directory of uftrace, made in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/uftrace/uftrace.h"

namespace rdam::test {

/// The bytes of a value, as this machine has them.
template <class Plain>
std::string bytes_of(Plain value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

/// One program, `/prog` at 0x1000, with the functions f, g and h at 0x1100, 0x1200 and 0x1300.
struct UftraceFolder {
    std::uint32_t version = 4;
    std::uint8_t endian = 1;
    std::uint64_t features = 0;
    std::string info_lines =
        "exename:/prog\ncmdline:uftrace record -d x ./prog 5\nuftrace_version:v0.13 ( x86_64 )\n";
    std::map<std::string, std::string> files = {
        {"task.txt",
         "SESS timestamp=0.000000005 pid=10 sid=a exename=\"/prog\"\nTASK timestamp=0.000000007 tid=10 "
         "pid=10\n"},
        {"sid-a.map", "1000-2000 r-xp 00000000 00:00 0   /prog\n"},
        {"prog.sym", "# path name: /prog\n100 T f\n200 T g\n300 T h\n400 ? __sym_end\n"}};

    std::string info() const {
        const std::uint16_t header_size = 40;
        return std::string{"Ftrace!\0", 8} + bytes_of(version) + bytes_of(header_size) + bytes_of(endian) +
               bytes_of(std::uint8_t{2}) + bytes_of(features) + std::string(16, '\0') + info_lines;
    }

    Result<trace::TraceReader> read() const {
        auto all = files;
        all.try_emplace("info", info());
        const auto folder = inputs::uftrace::folder_in_memory(std::move(all));
        return inputs::read_uftrace(*folder, "x", [](std::uint64_t, std::uint64_t) {});
    }

    std::string error() const {
        const auto reader = read();
        return reader ? "no error" : reader.error().message;
    }
};

/// `data`, if any, as it stands behind the record: filled up to 8 bytes.
inline std::string record(unsigned kind, std::uint64_t time, std::uint64_t address, unsigned depth = 0,
                          std::string data = {}) {
    constexpr std::uint64_t kMagic = 5;
    const std::uint64_t more = data.empty() ? 0 : 1;
    data.resize((data.size() + 7) / 8 * 8);
    return bytes_of(time) +
           bytes_of(kind | more << 2U | kMagic << 3U | std::uint64_t{depth} << 6U | address << 16U) + data;
}

inline std::string entry(std::uint64_t time, std::uint64_t address, unsigned depth = 0,
                         std::string data = {}) {
    return record(0, time, address, depth, std::move(data));
}
inline std::string exit(std::uint64_t time, std::uint64_t address, unsigned depth = 0,
                        std::string data = {}) {
    return record(1, time, address, depth, std::move(data));
}
inline std::string lost(std::uint64_t count) {
    return record(2, 0, count);
}
inline std::string event(std::uint64_t time, std::uint64_t number, std::string data = {}) {
    return record(3, time, number, 0, std::move(data));
}

/// A text as it stands among arguments.
inline std::string text_value(std::string_view text) {
    std::string bytes = bytes_of(static_cast<std::uint16_t>(text.size())) + std::string{text};
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return bytes;
}

/// A record of perf: the switch of a thread.
inline std::string thread_switch(std::uint64_t time, std::uint32_t tid, bool out, bool preempted = false) {
    const auto misc = static_cast<std::uint16_t>((out ? 1U << 13U : 0U) | (preempted ? 1U << 14U : 0U));
    return bytes_of(std::uint32_t{14}) + bytes_of(misc) + bytes_of(std::uint16_t{24}) + bytes_of(tid) +
           bytes_of(tid) + bytes_of(time);
}

/// The function `f` of the folder's symbols.
inline constexpr std::uint64_t kF = 0x1100;

/// What the reader says of the folder, or its error.
inline std::vector<std::string> remarks_of(const UftraceFolder& folder) {
    const auto reader = folder.read();
    if (!reader) return {reader.error().message};
    return reader->info().remarks;
}

}  // namespace rdam::test
