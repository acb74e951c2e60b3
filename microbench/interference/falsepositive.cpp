// Work that depends on a parameter: calls vary though nobody disturbs them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "microbench/interference/numbers.h"
#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

namespace {

struct Node {
    const Node* next;
    std::uint64_t key;
};

}  // namespace

MEASURED const Node* search_list(const Node* list, std::uint64_t key) {
    while (list != nullptr && list->key != key)
        list = list->next;
    KEEP_CALLS();
    return list;
}

/// A row of the triangular loop (listing 5.5 of the thesis): for (row = 0 … size) for (column = row … size).
MEASURED void triangle_row(std::uint64_t row, std::uint64_t size, const rdam::microbench::Compute* element) {
    for (std::uint64_t column = row; column < size; ++column)
        (*element)();
}

namespace rdam::microbench {
namespace {

constexpr unsigned kLengths = 16;  // different keys that are looked for
constexpr std::uint64_t kRows = 32;
constexpr double kElementNs = 500;

/// Keys 1, 2, 3 … behind each other; where they lie in memory is random.
class List {
  public:
    explicit List(std::uint64_t length) : nodes_(length) {
        std::vector<std::size_t> place(length);
        std::iota(place.begin(), place.end(), std::size_t{0});
        std::minstd_rand random(1);
        std::shuffle(place.begin(), place.end(), random);
        for (std::uint64_t i = 0; i < length; ++i) {
            const Node* const next = i + 1 < length ? &nodes_[place[i + 1]] : nullptr;
            nodes_[place[i]] = {.next = next, .key = i + 1};
        }
        first_ = &nodes_[place[0]];
    }
    const Node* first() const { return first_; }

  private:
    std::vector<Node> nodes_;
    const Node* first_;
};

Result<Outcome> search(const Point& point, std::uint64_t length) {
    const List list(length);
    const Compute pause(point.delay_ns);
    return run_team(point, [&](const Seat& seat) {
        std::mt19937 random = numbers_of(seat.number);
        std::uniform_int_distribution<std::uint64_t> part(1, kLengths);
        return repeat(point, seat, pause,
                      [&] { search_list(list.first(), length * part(random) / kLengths); });
    });
}

Result<Outcome> triangle(const Point& point) {
    const Compute pause(point.delay_ns);
    const Compute element(kElementNs);
    return run_team(point, [&](const Seat& seat) {
        std::uint64_t row = 0;
        return repeat(point, seat, pause, [&] { triangle_row(row++ % kRows, kRows, &element); });
    });
}

struct Options {
    std::string kind = "list";
    std::uint64_t length = 4096;
};

Runner add(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("--kind", options->kind, "What depends on a parameter: list (a search), triangle (a loop)")
        ->check(CLI::IsMember({"list", "triangle"}))
        ->type_name("KIND")
        ->capture_default_str();
    app.add_option("--length", options->length, "Nodes of the list")
        ->check(CLI::Range(int{kLengths}, 1 << 24))
        ->type_name("N")
        ->capture_default_str();
    return {[options] { return options->kind == "list" ? "search_list" : "triangle_row"; },
            [options](const Point& point) {
                return options->kind == "list" ? search(point, options->length) : triangle(point);
            }};
}

}  // namespace

const Benchmark kFalsepositive{
    .name = "falsepositive",
    .summary = "Work that depends on a parameter and on nothing else",
    .threads = 1,
    .iterations = 50'000,
    .delay = "1us",
    .add = add,
};

}  // namespace rdam::microbench
