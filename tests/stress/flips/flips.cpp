// A program that is recorded and writes into the recorder's memory: two threads call a function with 0, 1, 2,
// …, more begin and end, a library is loaded, and meanwhile bits of the memory that the recorder shares with
// its agent flip, wherever that has pages, in those too that the program may not write to.
//
//   flips SEED CALLS FLIPS COUNTS END [LIBRARY]
//
// Before the first flip each of the two makes CALLS calls, and waits. COUNTS becomes a file of pairs of
// 64-bit numbers, the tid of a thread and how many calls it has begun, and then, behind a pair of zeros, how
// often which area was hit (kAreas). END is `return`, `kill`: by SIGKILL, in the middle of it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libprobe/format/shared.h"

namespace {

using namespace rdam;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxThreads = 64;
constexpr std::size_t kShortThreads = 12;
constexpr std::uint64_t kShortCalls = 50;

struct Count {
    std::uint64_t tid = 0;
    std::atomic<std::uint64_t> begun{0};
};

/// By area: how often it was hit.
constexpr std::array kAreas{"control", "ring",  "threads", "gates", "request",
                            "plan",    "calls", "headers", "chunks"};

struct Counts {
    Count threads[kMaxThreads];
    std::atomic<std::uint64_t> hits[kAreas.size()];
};

Counts* counts = nullptr;
std::atomic<std::uint32_t> next_thread{0};
std::atomic<bool> go{false};
std::atomic<bool> stop{false};
std::atomic<int> waiting{0};

std::size_t area_of(std::uint64_t offset) {
    if (offset >= shm::kChunksOffset)
        return (offset - shm::kChunksOffset) % shm::kChunkSize < shm::kChunkHeader ? 7 : 8;
    if (offset >= shm::kCallsOffset) return 6;
    if (offset >= shm::kPlanOffset) return 5;
    if (offset >= shm::kRequestOffset) return 4;
    if (offset >= shm::kGatesOffset) return 3;
    if (offset >= offsetof(shm::Control, threads)) return 2;
    if (offset >= offsetof(shm::Control, ring)) return 1;
    return 0;
}

/// A second mapping of some of the shared memory, to read and write.
struct Alias {
    std::uint8_t* memory = nullptr;
    std::size_t size = 0;
    std::uint64_t offset = 0;
};

std::vector<Alias> open_aliases() {
    std::vector<Alias> aliases;
    std::ifstream maps("/proc/self/maps");
    std::vector<std::string> lines;
    for (std::string line; std::getline(maps, line);)
        if (line.ends_with("/memfd:rdam (deleted)")) lines.push_back(line);
    for (const std::string& line : lines) {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t offset = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) != 3) continue;
        void* memory = mremap(reinterpret_cast<void*>(begin), 0, end - begin, MREMAP_MAYMOVE);
        if (memory == MAP_FAILED || mprotect(memory, end - begin, PROT_READ | PROT_WRITE) != 0) continue;
        aliases.push_back({static_cast<std::uint8_t*>(memory), end - begin, offset});
    }
    return aliases;
}

/// The pages that are there, by area: flips elsewhere would only make new ones.
class Pages {
  public:
    explicit Pages(const std::vector<Alias>& aliases) {
        for (const Alias& alias : aliases) {
            std::vector<unsigned char> there(alias.size / kPage);
            if (mincore(alias.memory, alias.size, there.data()) != 0) continue;
            for (std::size_t i = 0; i < there.size(); ++i)
                if ((there[i] & 1U) != 0)
                    pages_.push_back({alias.memory + i * kPage, alias.offset + i * kPage});
        }
    }

    /// In any byte of any page; or, with `by_area`, in any area, however small it is.
    void flip(std::mt19937_64& random, bool by_area) const {
        if (pages_.empty()) return;
        constexpr int kTries = 2000;
        const std::size_t wanted = random() % kAreas.size();
        for (int i = 0; i < kTries; ++i) {
            const Page& page = pages_[random() % pages_.size()];
            // Headers are the least part of a page.
            const std::size_t at = random() % (by_area && i % 2 == 0 ? shm::kChunkHeader : kPage);
            const std::size_t area = area_of(page.offset + at);
            if (by_area && area != wanted && i + 1 < kTries) continue;
            counts->hits[area].fetch_add(1);
            __atomic_fetch_xor(page.memory + at, static_cast<std::uint8_t>(1U << random() % 8),
                               __ATOMIC_SEQ_CST);
            return;
        }
    }

  private:
    struct Page {
        std::uint8_t* memory;
        std::uint64_t offset;
    };
    std::vector<Page> pages_;
};

}  // namespace

extern "C" __attribute__((noinline)) std::uint64_t counted(std::uint64_t i) {
    for (int k = 0; k < 40; ++k)
        asm volatile("" : "+r"(i));
    return i;
}

namespace {

Count& begin_count() {
    Count& count = counts->threads[next_thread.fetch_add(1) % kMaxThreads];
    count.tid = static_cast<std::uint64_t>(syscall(SYS_gettid));
    return count;
}

void call(Count& count) {
    const std::uint64_t i = count.begun.load(std::memory_order_relaxed);
    count.begun.store(i + 1, std::memory_order_relaxed);
    if (counted(i) != i) std::abort();
}

void work(std::uint64_t calls) {
    Count& count = begin_count();
    for (std::uint64_t i = 0; i < calls; ++i)
        call(count);
    waiting.fetch_add(1);
    while (!go.load())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (!stop.load(std::memory_order_relaxed))
        call(count);
    for (std::uint64_t i = 0; i < kShortCalls; ++i)
        call(count);
}

void work_shortly() {
    Count& count = begin_count();
    for (std::uint64_t i = 0; i < kShortCalls; ++i)
        call(count);
}

Counts* map_counts(const char* path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(Counts)) != 0) return nullptr;
    void* memory = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<Counts*>(memory);
}

/// Until the agent has taken all that has been handed over, which may take it long where processors are busy.
bool wait_for_agent(const std::vector<Alias>& aliases) {
    constexpr int kMaxLooks = 60000;
    for (const Alias& alias : aliases) {
        if (alias.offset != 0) continue;
        const auto& control = *reinterpret_cast<const shm::Control*>(alias.memory);
        for (int i = 0; i < kMaxLooks; ++i) {
            if (control.ring_head.load() == control.ring_tail.load().value) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    return false;
}

void flip_all(std::mt19937_64& random, std::uint64_t flips, const std::vector<Alias>& aliases,
              const char* library, std::vector<std::thread>& threads) {
    const bool by_area = random() % 2 == 0;
    const std::uint64_t load_at = random() % flips;
    constexpr std::uint64_t kLongest = 400;
    constexpr std::uint64_t kLooks = 20;
    std::vector<Pages> pages;
    for (std::uint64_t i = 0; i < flips; ++i) {
        if (i % kLooks == 0) pages.assign(1, Pages(aliases));
        pages.front().flip(random, by_area);
        if (threads.size() < kShortThreads + 2 && random() % 4 == 0) threads.emplace_back(work_shortly);
        if (library != nullptr && i == load_at && dlopen(library, RTLD_NOW) == nullptr) std::abort();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % kLongest));
    }
}

int run(int argc, char** argv) {
    if (argc < 6) return 2;
    std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
    const std::uint64_t calls = std::strtoull(argv[2], nullptr, 10);
    const std::uint64_t flips = std::strtoull(argv[3], nullptr, 10);
    counts = map_counts(argv[4]);
    if (counts == nullptr || flips == 0) return 2;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
        threads.emplace_back(work, calls);
    while (waiting.load() < 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::vector<Alias> aliases = open_aliases();
    const bool taken = wait_for_agent(aliases);
    go.store(true);
    if (taken) flip_all(random, flips, aliases, argc > 6 ? argv[6] : nullptr, threads);
    if (std::string_view{argv[5]} == "kill") raise(SIGKILL);
    stop.store(true);
    for (std::thread& thread : threads)
        thread.join();
    if (!taken) std::fputs("flips: the agent does not take what is handed over\n", stderr);
    return taken ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv);
}
