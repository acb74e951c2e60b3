#include "microbench/numa/machine.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include "tools/study-native/memory/place.h"

namespace rdam::microbench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string content_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Of a list as 0-3,8.
std::vector<int> numbers_in(const std::string& list) {
    std::vector<int> numbers;
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ',');) {
        int first = 0, last = 0;
        const int found = std::sscanf(part.c_str(), "%d-%d", &first, &last);
        for (int number = first; found > 0 && number <= (found == 2 ? last : first); ++number)
            numbers.push_back(number);
    }
    return numbers;
}

std::vector<int> allowed_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> allowed;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &set)) allowed.push_back(processor);
    return allowed;
}

bool bind_to(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

/// What a processor's caches are: level and bytes, those of instructions left out.
std::vector<std::pair<int, std::size_t>> data_caches() {
    std::vector<std::pair<int, std::size_t>> caches;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/sys/devices/system/cpu/cpu0/cache", error)) {
        int level = 0;
        std::size_t kibibytes = 0;
        if (content_of(entry.path() / "type").starts_with("Instruction")) continue;
        if (std::sscanf(content_of(entry.path() / "level").c_str(), "%d", &level) == 1 &&
            std::sscanf(content_of(entry.path() / "size").c_str(), "%zuK", &kibibytes) == 1)
            caches.emplace_back(level, kibibytes << 10);
    }
    return caches;
}

}  // namespace

std::vector<NumaNode> numa_nodes() {
    static MemoryNodes allowed;
    const std::vector<int> processors = allowed_processors();
    std::vector<NumaNode> nodes;
    if (find_memory_nodes(&allowed, nullptr) == nullptr) {
        for (unsigned place = 0; place < allowed.count; ++place) {
            const unsigned number = allowed.numbers[place];
            NumaNode node{.number = number, .processors = {}, .distances = {}};
            const fs::path folder = fmt::format("/sys/devices/system/node/node{}", number);
            for (const int processor : numbers_in(content_of(folder / "cpulist")))
                if (std::ranges::binary_search(processors, processor)) node.processors.push_back(processor);
            // In the order of the nodes that are online.
            std::istringstream distances(content_of(folder / "distance"));
            std::vector<int> all{std::istream_iterator<int>(distances), {}};
            const std::vector<int> online = numbers_in(content_of("/sys/devices/system/node/online"));
            for (unsigned other = 0; other < allowed.count; ++other) {
                const auto at = std::ranges::find(online, allowed.numbers[other]) - online.begin();
                node.distances.push_back(static_cast<std::size_t>(at) < all.size() ? all[at] : 0);
            }
            if (!node.processors.empty()) nodes.push_back(node);
        }
    }
    if (nodes.empty()) nodes.push_back({.number = 0, .processors = processors, .distances = {10}});
    return nodes;
}

std::size_t cache_bytes(int level) {
    for (const auto& [found, bytes] : data_caches())
        if (found == level) return bytes;
    return 0;
}

std::size_t last_cache_bytes() {
    std::size_t most = 0;
    for (const auto& [level, bytes] : data_caches())
        most = std::max(most, bytes);
    return most;
}

void NumaVector::Unmap::operator()(double* memory) const {
    munmap(memory, bytes);
}

NumaVector::NumaVector(double* memory, std::size_t count)
    : memory_(memory, Unmap{count * sizeof(double)}), count_(count) {}

Result<NumaVector> NumaVector::make(std::size_t elements, const Placing& placing) {
    const std::size_t bytes = elements * sizeof(double);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return fail("there are no {} MiB of memory for a vector; ask for fewer --elements", bytes >> 20);
    NumaVector made(static_cast<double*>(memory), elements);
    // As policies by page have them, beside which the others are compared. Kernels without large pages refuse.
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    static std::mutex one_at_a_time;  // for what find_memory_nodes() fills, which is large
    const std::scoped_lock lock(one_at_a_time);
    static MemoryNodes nodes;
    MemoryRules rules;
    const char* wrong = nullptr;
    if (!parse_memory_rules(placing.policy.c_str(), &rules, &wrong))
        return fail("'{}' is no policy of memory", placing.policy);
    const std::string processors = fmt::format("{}", fmt::join(placing.processors, ","));
    const char* why = find_memory_nodes(&nodes, processors.empty() ? nullptr : processors.c_str());
    PlacedPages found;
    // Where the kernel has no policies there is one node.
    if (why == nullptr) why = place_area(&nodes, rules.rules, memory, bytes, 0, &found);
    if (why != nullptr && numa_nodes().size() > 1)
        return fail("memory cannot be placed by {}: {}", placing.policy, why);
    if (placing.policy != "first-touch" && placing.policy != "local") std::ranges::fill(made.elements(), 0.0);
    return made;
}

Result<double> run_on(const std::vector<int>& processors, const std::function<void(unsigned)>& work) {
    std::atomic<unsigned> missing = static_cast<unsigned>(processors.size());
    std::atomic<bool> go = false;
    std::atomic<bool> are_bound = true;
    std::vector<Clock::time_point> ends(processors.size());
    const auto live = [&](unsigned number) {
        if (!bind_to(processors[number])) are_bound = false;
        --missing;
        while (!go.load(std::memory_order_acquire))
            sched_yield();
        if (are_bound) work(number);
        ends[number] = Clock::now();
    };
    std::vector<std::jthread> threads;
    try {
        for (unsigned number = 0; number < processors.size(); ++number)
            threads.emplace_back(live, number);
    } catch (const std::system_error&) {
        are_bound = false;
        go.store(true, std::memory_order_release);
        return fail("the system refuses {} threads", processors.size());
    }
    while (missing.load() > 0)
        sched_yield();
    const Clock::time_point begin = Clock::now();
    go.store(true, std::memory_order_release);
    threads.clear();
    if (!are_bound) return fail("the system refuses to bind a thread to a processor");
    return std::chrono::duration<double>(*std::ranges::max_element(ends) - begin).count();
}

}  // namespace rdam::microbench
