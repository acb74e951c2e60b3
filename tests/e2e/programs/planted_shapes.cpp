// Planted programs whose calls vary by themselves, in ways that look like interference.
//
// triangle      two threads share rows, each once; the work is proportional to those left; element() is hot
// insert        a sorted list grows; where the second parameter belongs decides how far a call walks
// insert_hidden … where a number belongs that is no parameter
// counter       as phase, and the second parameter counts the calls
// first_touch   four of ten calls are given a page that nobody has touched
// addresses     a third parameter that is another one in each call, and work of random size
// two_times     a third of the calls have six times as much to do, whatever their parameters are
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "planted.h"

extern "C" __attribute__((noinline)) void element() {
    planted::compute(30);
}

namespace planted {
namespace {

void triangle(std::uint64_t rows) {
    static std::atomic<unsigned> next;
    task = [rows](unsigned row) {
        for (std::uint64_t column = row; column < rows; ++column)
            element();
        return 0;
    };
    const auto run = [rows] {
        for (unsigned row = next++; row < rows; row = next++)
            work(0, row, nullptr);
    };
    std::thread other(run);
    run();
    other.join();
}

/// Ascending.
class SortedList {
  public:
    explicit SortedList(std::size_t most) { nodes_.reserve(most); }

    void insert(std::uint32_t key) {
        Node** place = &first_;
        while (*place != nullptr && (*place)->key < key)
            place = &(*place)->next;
        nodes_.push_back({*place, key});
        *place = &nodes_.back();
    }

  private:
    struct Node {
        Node* next;
        std::uint32_t key;
    };

    std::vector<Node> nodes_;  // never moves
    Node* first_ = nullptr;
};

void insert(std::uint64_t calls) {
    stay_here();
    SortedList list(calls);
    task = [&](unsigned key) {
        list.insert(key);
        return 0;
    };
    std::mt19937 random(5);
    for (std::uint64_t i = 0; i < calls; ++i)
        work(0, static_cast<unsigned>(random()), nullptr);
}

void insert_hidden(std::uint64_t calls) {
    stay_here();
    SortedList list(calls);
    std::mt19937 keys(5), random(6);
    task = [&](unsigned) {
        list.insert(static_cast<std::uint32_t>(keys()));
        return 0;
    };
    for (std::uint64_t i = 0; i < calls; ++i)
        work(0, static_cast<unsigned>(random() % kSome), nullptr);
}

void counter(std::uint64_t calls) {
    static Line line;
    static Line elsewhere;
    static std::atomic<std::uint64_t> done;
    const auto count = [calls] {
        for (std::uint64_t i = 0; i < calls; ++i)
            work(0, static_cast<unsigned>(i), nullptr);
    };
    share(line, done, count, [calls] {
        const double share = static_cast<double>(done.load()) / static_cast<double>(calls);
        add(share > 0.4 && share < 0.7 ? line.other : elsewhere.other, 1000);
    });
}

constexpr std::size_t kPage = 4096;

char* untouched(std::uint64_t pages) {
    void* memory = mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, pages * kPage, MADV_NOHUGEPAGE) != 0) std::abort();
    return static_cast<char*>(memory);
}

void first_touch(std::uint64_t calls) {
    stay_here();
    char* const pages = untouched(calls);
    static char* page;
    task = [](unsigned) {
        std::memset(page, 1, kPage);
        return 0;
    };
    std::mt19937 random(7);
    std::uint64_t touched = 0;
    for (std::uint64_t i = 0; i < calls; ++i) {
        const bool first = touched == 0 || random() % 10 < 4;
        page = pages + (first ? touched++ : random() % touched) * kPage;
        work(0, static_cast<unsigned>(random() % kSome), page);
    }
}

void addresses(std::uint64_t calls) {
    stay_here();
    std::mt19937 random(8), sizes(9);
    std::lognormal_distribution<double> size(0, 1);
    task = [&](unsigned) {
        compute(static_cast<std::uint64_t>(kRounds * size(sizes)));
        return 0;
    };
    constexpr std::uintptr_t kSomewhere = std::uintptr_t{1} << 32;
    for (std::uint64_t i = 0; i < calls; ++i)
        work(0, static_cast<unsigned>(random() % kSome),
             reinterpret_cast<const void*>(kSomewhere + std::uintptr_t{random()} * kSome));
}

void two_times(std::uint64_t calls) {
    stay_here();
    std::mt19937 random(10), coins(11);
    task = [&](unsigned) {
        compute(coins() % 3 == 0 ? 6 * kRounds : kRounds);
        return 0;
    };
    for (std::uint64_t i = 0; i < calls; ++i)
        work(static_cast<int>(random() % kSome), static_cast<unsigned>(random() % kSome), nullptr);
}

}  // namespace

const std::map<std::string, Program> kShapes{
    {"triangle", triangle},   {"insert", insert},           {"insert_hidden", insert_hidden},
    {"counter", counter},     {"first_touch", first_touch}, {"addresses", addresses},
    {"two_times", two_times},
};

}  // namespace planted
