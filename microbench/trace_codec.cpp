// What the trace format costs: nanoseconds an event to encode (compression included) and to decode, bytes a
// call. The times in the events jitter as those of an empty function do.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tools/trace/reader.h"
#include "tools/trace/writer.h"

namespace {

using namespace rdam::trace;

constexpr std::size_t kCallsInChunk = 16384;
constexpr std::uint32_t kFunctions = 5;

/// Times between and within calls, made before anything is measured.
struct Calls {
    std::array<std::uint32_t, kCallsInChunk> outside{};
    std::array<std::uint32_t, kCallsInChunk> inside{};
};

Calls jittery_calls() {
    Calls calls;
    std::mt19937 random(1);
    std::normal_distribution<double> inside(90, 12);
    std::normal_distribution<double> outside(140, 25);
    for (std::size_t i = 0; i < kCallsInChunk; ++i) {
        const bool disturbed = random() % 1000 == 0;
        calls.inside[i] =
            static_cast<std::uint32_t>(std::max(40.0, inside(random))) + (disturbed ? 20000 : 0);
        calls.outside[i] = static_cast<std::uint32_t>(std::max(50.0, outside(random)));
    }
    return calls;
}

TraceInfo info_with(std::uint16_t words) {
    TraceInfo info;
    info.functions.resize(kFunctions);
    for (FunctionInfo& function : info.functions) {
        function.enter_words = words;
        function.leave_words = words == 0 ? 0 : 1;
    }
    info.threads.resize(1);
    return info;
}

/// A file in memory, so that the disk is not measured; it has a name as long as it is open.
struct MemoryFile {
    int fd = memfd_create("trace_codec", MFD_CLOEXEC);
    std::string path = "/proc/self/fd/" + std::to_string(fd);
    MemoryFile() = default;
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    MemoryFile(MemoryFile&&) = delete;
    MemoryFile& operator=(MemoryFile&&) = delete;
    ~MemoryFile() { close(fd); }
};

std::uint64_t encode_chunk(ChunkEncoder& encoder, const Calls& calls, std::uint64_t tsc,
                           std::uint16_t words) {
    std::array<std::uint64_t, 6> enter_words{3, 0x7fffdeadb000, 4096, 0, 1, 2};
    std::array<std::uint64_t, 1> leave_words{4096};
    for (std::size_t i = 0; i < kCallsInChunk; ++i) {
        const auto function = static_cast<std::uint32_t>(i % kFunctions);
        tsc += calls.outside[i];
        enter_words[1] = 0x7fffdeadb000 + (i % 8) * 4096;
        encoder.enter(tsc, function, 1, 0x401000 + function * 64, false, 0,
                      std::span(enter_words).first(words));
        tsc += calls.inside[i];
        encoder.leave(tsc, function, 1, false, std::span(leave_words).first(words == 0 ? 0 : 1));
    }
    return tsc;
}

void encode(benchmark::State& state) {
    const auto words = static_cast<std::uint16_t>(state.range(0));
    const Calls calls = jittery_calls();
    const MemoryFile file;
    auto writer = TraceWriter::create(dup(file.fd), "memory");
    if (!writer) return state.SkipWithError(writer.error().message.c_str());
    ChunkEncoder encoder;
    std::uint64_t tsc = 1;
    for ([[maybe_unused]] auto _ : state) {
        tsc = encode_chunk(encoder, calls, tsc, words);
        if (auto done = writer->append(0, encoder); !done)
            return state.SkipWithError(done.error().message.c_str());
    }
    const auto calls_made = static_cast<double>(writer->events()) / 2;
    state.counters["bytes/call"] = static_cast<double>(writer->bytes()) / calls_made;
    state.counters["time/event"] =
        benchmark::Counter(2 * calls_made, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(encode)->Arg(0)->Arg(3)->ArgName("parameters");

void decode(benchmark::State& state) {
    const auto words = static_cast<std::uint16_t>(state.range(0));
    constexpr int kChunks = 64;
    const Calls calls = jittery_calls();
    const MemoryFile file;
    {
        auto writer = TraceWriter::create(open(file.path.c_str(), O_RDWR | O_CLOEXEC), "memory");
        if (!writer) return state.SkipWithError(writer.error().message.c_str());
        ChunkEncoder encoder;
        std::uint64_t tsc = 1;
        for (int i = 0; i < kChunks; ++i) {
            tsc = encode_chunk(encoder, calls, tsc, words);
            if (!writer->append(0, encoder)) return state.SkipWithError("cannot write");
        }
        if (!writer->finish(info_with(words))) return state.SkipWithError("cannot finish");
    }
    const auto reader = TraceReader::open(file.path);
    if (!reader) return state.SkipWithError(reader.error().message.c_str());
    std::uint64_t events = 0;
    for ([[maybe_unused]] auto _ : state) {
        const auto done = reader->read_thread(
            0,
            [&](std::span<const Event> some) {
                events += some.size();
                benchmark::DoNotOptimize(some.data());
            },
            [] {});
        if (!done) return state.SkipWithError(done.error().message.c_str());
    }
    state.counters["time/event"] = benchmark::Counter(
        static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(decode)->Arg(0)->Arg(3)->ArgName("parameters");

}  // namespace

BENCHMARK_MAIN();
