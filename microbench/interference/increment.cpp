#include "microbench/interference/increment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "microbench/interference/least_time.h"
#include "microbench/interference/time_option.h"

namespace rdam::microbench {

std::uint64_t Work::count(Update update) const {
    if (!nanoseconds) return updates;
    constexpr std::uint64_t kSample = 50'000;
    std::array<volatile std::uint64_t, kWordsOfAThread> words{};
    const double each = least_time([&] { update(words.data(), kSample); }) / double{kSample};
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(*nanoseconds / each)));
}

void add_work(CLI::App& app, Work& work) {
    CLI::Option* const updates = app.add_option("--updates", work.updates, "Increments in one call")
                                     ->check(CLI::Range(1, 1 << 30))
                                     ->type_name("N")
                                     ->capture_default_str();
    add_time(
        app, "--work", [&work](double time) { work.nanoseconds = time; },
        "Instead: as many increments as take this long when nobody interferes (500ns, 25us)")
        ->excludes(updates);
}

}  // namespace rdam::microbench
