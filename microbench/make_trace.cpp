// Writes a trace of a made-up program: eight threads whose calls are nested in four functions, as in the
// largest trace of the thesis (364.7 million events of one program; M. S. Mosli Bouksiaa, 2018).
//   make_trace FILE [EVENTS [THREADS [SEED]]]
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tools/trace/writer.h"

namespace {

using namespace rdam;

enum Function : std::uint32_t { step, merge, lock, wait };
constexpr std::uint32_t kFunctions = 4;

constexpr std::uint64_t kTicksPerSecond = 2'000'000'000;
constexpr std::size_t kEventsOfChunk = 6000;
constexpr std::uint64_t kLocks = 16;

trace::TraceInfo make_info(std::uint32_t threads) {
    trace::TraceInfo info;
    info.process.pid = 4242;
    info.process.command = {"./made-up"};
    info.process.host = "nowhere";
    info.process.clean_end = true;
    info.clock.source = "rdtscp";
    info.clock.ticks_per_second = kTicksPerSecond;
    info.clock.probe_ticks = 80;
    info.clock.probe_inner_ticks = 40;
    constexpr std::array kNames{"step", "merge", "lock", "wait"};
    for (std::uint32_t f = 0; f < kFunctions; ++f) {
        trace::FunctionInfo function;
        function.name = function.linkage_name = kNames[f];
        function.module = "made-up";
        if (f == lock) {
            function.enter_words = 1;
            function.parameters.push_back({"mutex", 2, 8, 0, true, "mutex*"});
        }
        info.functions.push_back(function);
    }
    for (std::uint32_t t = 0; t < threads; ++t)
        info.threads.push_back({1000 + t, fmt::format("worker-{}", t), 1, 0, 0, 0});
    return info;
}

/// One thread: steps of a few merges, each under a lock that now and then is waited for.
class Thread {
  public:
    Thread(std::uint32_t number, std::uint64_t seed) : number_{number}, random_{seed + number} {}

    std::uint32_t number() const { return number_; }
    std::uint64_t now() const { return now_; }
    std::uint64_t events() const { return events_; }
    trace::ChunkEncoder& encoder() { return encoder_; }

    void run_step() {
        enter(step, 0x401000, 300);
        for (std::uint32_t merges = 3 + random(3); merges > 0; --merges) {
            enter(merge, 0x402000, 100 + random(20));
            const std::uint64_t mutex = 0x7f0000000000 + std::uint64_t{64} * random(kLocks);
            enter(lock, 0x403000, 40, {&mutex, 1});
            if (random(10) == 0) {
                enter(wait, 0x404000, 30);
                leave(wait, 4000 + random(60'000));
            }
            leave(lock, 30 + random(6));
            leave(merge, 700 + random(40));
        }
        leave(step, 200);
    }

  private:
    std::uint32_t random(std::uint32_t below) {
        return static_cast<std::uint32_t>((std::uint64_t{random_()} * below) >> 32);
    }
    void enter(Function function, std::uint64_t caller, std::uint64_t after,
               std::span<const std::uint64_t> words = {}) {
        now_ += after;
        encoder_.enter(now_, function, cpu(), caller, false, 0, words);
        ++events_;
    }
    void leave(Function function, std::uint64_t after) {
        now_ += after;
        encoder_.leave(now_, function, cpu(), false, {});
        ++events_;
    }
    std::uint16_t cpu() const { return static_cast<std::uint16_t>(number_); }

    std::uint32_t number_;
    std::mt19937 random_;
    std::uint64_t now_ = 1000;
    std::uint64_t events_ = 0;
    trace::ChunkEncoder encoder_;
};

Result<void> write(const std::string& path, std::uint64_t events, std::uint32_t threads, std::uint64_t seed) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return fail("cannot write {}", path);
    auto writer = trace::TraceWriter::create(fd, path);
    if (!writer) return tl::unexpected{writer.error()};
    trace::TraceInfo info = make_info(threads);
    if (auto done = writer->describe(info); !done) return done;
    std::vector<Thread> all;
    for (std::uint32_t t = 0; t < threads; ++t)
        all.emplace_back(t, seed);
    for (std::uint64_t written = 0; written < events;) {
        for (Thread& thread : all) {
            while (thread.encoder().events() < kEventsOfChunk)
                thread.run_step();
            written += thread.encoder().events();
            if (auto done = writer->append(thread.number(), thread.encoder()); !done) return done;
        }
    }
    for (const Thread& thread : all)
        info.threads[thread.number()].end = thread.now() + 1000;
    return writer->finish(info);
}

}  // namespace

int main(int count, char** words) {
    const auto number = [&](int at, std::uint64_t otherwise) {
        return at < count ? std::strtoull(words[at], nullptr, 10) : otherwise;
    };
    if (count < 2 || words[1][0] == '-') {
        fmt::print(stderr, "usage: make_trace FILE [EVENTS [THREADS [SEED]]]\n");
        return 2;
    }
    const auto threads = static_cast<std::uint32_t>(number(3, 8));
    const auto done = write(words[1], number(2, 364'700'000), threads == 0 ? 1 : threads, number(4, 1));
    if (done) return 0;
    fmt::print(stderr, "make_trace: {}\n", done.error().message);
    return 1;
}
