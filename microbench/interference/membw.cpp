// A thread that reads from memory while a neighbour takes what bandwidth it can get.
#include <emmintrin.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

MEASURED std::uint64_t stream_block(const std::uint64_t* block, std::size_t words) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < words; ++i)
        sum += block[i];
    KEEP_CALLS();
    return sum;
}

namespace rdam::microbench {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kBlocks = 512;  // together more than any cache holds
constexpr std::size_t kWords = kBlockBytes / sizeof(std::uint64_t);

struct Unmap {
    void operator()(std::uint64_t* memory) const { munmap(memory, kBlocks * kBlockBytes); }
};
using Memory = std::unique_ptr<std::uint64_t, Unmap>;

/// In place before anything is measured; null where there is not enough.
Memory memory_of_a_thread() {
    void* const memory = mmap(nullptr, kBlocks * kBlockBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return Memory{memory == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(memory)};
}

std::uint64_t* block_of(const Memory& memory, std::uint64_t turn) {
    return memory.get() + turn % kBlocks * kWords;
}

/// Past the caches: what is written goes straight to the memory controller.
void flood(std::uint64_t* block) {
    auto* const target = reinterpret_cast<__m128i*>(block);
    const __m128i value = _mm_set1_epi32(1);
    for (std::size_t i = 0; i < kBlockBytes / sizeof(__m128i); ++i)
        _mm_stream_si128(target + i, value);
    _mm_sfence();
}

void disturb(const Memory& memory, const Compute& pause, const std::atomic<bool>& end) {
    for (std::uint64_t turn = 0; !end.load(std::memory_order_relaxed); ++turn) {
        flood(block_of(memory, turn));
        pause();
    }
}

Result<Outcome> run(const Point& point, unsigned neighbours) {
    std::vector<Memory> memory;
    for (unsigned i = 0; i < point.threads + neighbours; ++i) {
        memory.push_back(memory_of_a_thread());
        if (memory.back() == nullptr) {
            return fail("there are no {} MiB of memory for each of {} threads; ask for fewer with --threads",
                        kBlocks * kBlockBytes >> 20, point.threads + neighbours);
        }
    }
    const Compute pause(point.delay_ns);
    std::atomic<bool> end = false;
    std::atomic<bool> all_placed = true;
    std::vector<std::jthread> others;
    try {
        for (unsigned i = 0; i < neighbours; ++i)
            others.emplace_back([&, i] {
                if (!take_place(point, point.threads + i)) all_placed = false;
                disturb(memory[point.threads + i], pause, end);
            });
    } catch (const std::system_error&) {
        end = true;
        return fail("the system refuses {} threads; ask for fewer with --neighbours", neighbours);
    }
    Result<Outcome> outcome = run_team(point, [&](const Seat& seat) {
        std::uint64_t turn = 0;
        return repeat(
            point, seat, [] {}, [&] { stream_block(block_of(memory[seat.number], turn++), kWords); });
    });
    end = true;
    others.clear();
    if (!all_placed) return no_place();
    return outcome;
}

Runner add(CLI::App& app) {
    const auto neighbours = std::make_shared<unsigned>(1);
    app.add_option("--neighbours", *neighbours,
                   "Threads that saturate memory, with the delay as their pause; 0: control")
        ->check(CLI::Range(0, 256))
        ->type_name("N")
        ->capture_default_str();
    return measures("stream_block", [neighbours](const Point& point) { return run(point, *neighbours); });
}

}  // namespace

const Benchmark kMembw{
    .name = "membw",
    .summary = "Read from memory beside a neighbour that saturates it and pauses",
    .threads = 1,
    .iterations = 50'000,
    .delay = "2us",
    .add = add,
};

}  // namespace rdam::microbench
