// Writes the trace of a made-up machine: its processors 0 and 1 are near one half of the memory, 2 and 3 near
// the other, and a walk through the first half takes twice as long from there. There are kLists lists to
// walk, one longer than the other. Prints what calls lose on each node, in nanoseconds.
//
//     two_nodes_trace FILE [one]      one: it has a single node
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trace/writer.h"
#include "wrappers/catalogue/catalogue.h"

namespace {

using namespace rdam;

constexpr std::uint32_t kThreads = 4;
constexpr std::uint32_t kCalls = 800;     ///< of each thread
constexpr std::uint32_t kStays = 40;      ///< calls that a thread makes on one processor
constexpr std::uint64_t kNear = 100'000;  ///< ns, at least
constexpr std::uint64_t kFarther = 100'000;
constexpr std::uint64_t kPause = 10'000;
constexpr std::uint32_t kLists = 20;
constexpr std::uint64_t kLonger = 100;  ///< ns, than the list before
constexpr std::uint64_t kFirstList = 0x5000;
constexpr std::uint64_t kListBytes = 0x100;

trace::TraceInfo make_info(bool one) {
    trace::TraceInfo info;
    info.process.pid = 1000;
    info.process.command = {"./made-up"};
    info.process.clean_end = true;
    info.process.nodes = one ? std::vector<trace::NodeInfo>{{0, {0, 1, 2, 3}}}
                             : std::vector<trace::NodeInfo>{{0, {0, 1}}, {1, {2, 3}}};
    info.clock.source = "rdtscp";
    info.clock.ticks_per_second = 1e9;
    trace::FunctionInfo function;
    function.name = function.linkage_name = "walk";
    function.module = "made-up";
    function.enter_words = 1;
    trace::ParameterInfo list;
    list.name = "list";
    list.kind = static_cast<std::uint8_t>(ValueKind::pointer);
    function.parameters = {list};
    info.functions.push_back(function);
    for (std::uint32_t t = 0; t < kThreads; ++t)
        info.threads.push_back({1000 + t, fmt::format("walker-{}", t), 1, 0, 0, 0});
    return info;
}

Result<void> write(const std::string& path, bool one) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return fail("{}: cannot be written", path);
    auto writer = trace::TraceWriter::create(fd, path, 1);
    if (!writer) return tl::unexpected{writer.error()};
    trace::TraceInfo info = make_info(one);
    if (auto done = writer->describe(info); !done) return done;
    std::array<std::uint64_t, 2> lost{};
    for (std::uint32_t t = 0; t < kThreads; ++t) {
        trace::ChunkEncoder events;
        std::uint64_t now = 1000;
        for (std::uint32_t i = 0; i < kCalls; ++i, now += kPause) {
            const auto cpu = static_cast<std::uint16_t>((t + i / kStays) % kThreads);
            const std::uint32_t list = i * 7 % kLists;
            const std::uint64_t more = (cpu >= 2 ? kFarther : 0) + kLonger * list;
            lost.at(cpu / 2) += more;
            const std::array<std::uint64_t, 1> words{kFirstList + kListBytes * list};
            events.enter(now, 0, cpu, 0x401000, false, 0, words);
            now += kNear + more;
            events.leave(now, 0, cpu, false, {});
        }
        info.threads[t].end = now;
        if (auto done = writer->append(t, events); !done) return done;
    }
    fmt::print("{} {}\n", lost[0], lost[1]);
    return writer->finish(info);
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) return 2;
    if (const auto done = write(words[1], count > 2 && std::string_view{words[2]} == "one"); !done) {
        fmt::print(stderr, "two_nodes_trace: {}\n", done.error().message);
        return 1;
    }
    return 0;
}
