// Threads that read what one of them has initialised: on machines with several nodes of memory, all of it then
// lies on that thread's node, at which all meet (the arrays of NPB's LU do).
#include <cstdint>
#include <memory>
#include <new>
#include <thread>

#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

MEASURED std::uint64_t read_shared(const std::uint64_t* block, std::size_t words) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < words; ++i)
        sum += block[i];
    KEEP_CALLS();
    return sum;
}

namespace rdam::microbench {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kWords = kBlockBytes / sizeof(std::uint64_t);
constexpr unsigned kBlocksOfMiB = (1U << 20) / kBlockBytes;

struct Options {
    unsigned megabytes = 64;  ///< of each thread
    bool own = false;
};

using Memory = std::unique_ptr<std::uint64_t[]>;

void touch(const Memory& memory, std::size_t first_block, std::size_t blocks) {
    std::uint64_t* const begin = memory.get() + first_block * kWords;
    for (std::size_t i = 0; i < blocks * kWords; ++i)
        begin[i] = i;
}

Result<Outcome> run(const Point& point, const Options& options) {
    const std::size_t blocks = std::size_t{options.megabytes} * kBlocksOfMiB;
    // As a program allocates it: a policy may be given for it.
    const Memory memory{new (std::nothrow) std::uint64_t[point.threads * blocks * kWords]};
    if (memory == nullptr) {
        return fail(
            "there are no {} MiB of memory for each of {} threads; ask for fewer with --threads or less with "
            "--megabytes",
            options.megabytes, point.threads);
    }
    bool is_placed = true;
    if (!options.own) {
        std::jthread first([&] {
            is_placed = take_place(point, 0);
            touch(memory, 0, point.threads * blocks);
        });
    } else {
        for (unsigned number = 0; number < point.threads; ++number)
            std::jthread each([&, number] {
                is_placed = take_place(point, number) && is_placed;
                touch(memory, number * blocks, blocks);
            });
    }
    if (!is_placed) return no_place();
    const Compute pause(point.delay_ns);
    return run_team(point, [&](const Seat& seat) {
        std::uint64_t turn = 0;
        return repeat(point, seat, pause, [&] {
            const std::size_t block = seat.number * blocks + turn++ % blocks;
            read_shared(memory.get() + block * kWords, kWords);
        });
    });
}

Runner add(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("--megabytes", options->megabytes, "Memory that each thread reads, in MiB")
        ->check(CLI::Range(1, 1 << 20))
        ->type_name("N")
        ->capture_default_str();
    app.add_flag("--own", options->own, "Control: each thread initialises what it reads itself");
    return measures("read_shared", [options](const Point& point) { return run(point, *options); });
}

}  // namespace

const Benchmark kPlacement{
    .name = "placement",
    .summary = "Read what one thread has initialised, so that it lies on that thread's node of memory",
    .threads = 2,
    .iterations = 20'000,
    .delay = "2us",
    .add = add,
};

}  // namespace rdam::microbench
