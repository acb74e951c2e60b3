#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "microbench/numa/kernels.h"
#include "tests/unit/catch.h"

using namespace rdam::microbench;

namespace {

constexpr std::size_t kPage = 512;  // elements

/// Aligned as the kernels want it.
struct Vector {
    explicit Vector(std::size_t count)
        : memory(new (std::align_val_t{4096}) double[count]()), elements(memory.get(), count) {}

    struct Delete {
        void operator()(double* from) const { operator delete[](from, std::align_val_t{4096}); }
    };

    std::unique_ptr<double[], Delete> memory;
    std::span<double> elements;
};

}  // namespace

TEST_CASE("reading looks at all elements, and writing reaches them", "[numa]") {
    for (const std::size_t count : {2UL, 16UL, 18UL, 46UL, 4096UL}) {
        Vector vector(count);
        CHECK(read_all(vector.elements) == 0);
        for (std::size_t i = 0; i < count; ++i) {
            vector.elements[i] = std::bit_cast<double>(std::uint64_t{1} << i % 60);
            CHECK(read_all(vector.elements) == std::uint64_t{1} << i % 60);
            vector.elements[i] = 0;
        }
        write_all(vector.elements, 2.5);
        CHECK(std::ranges::count(vector.elements, 2.5) == static_cast<long>(count));
    }
}

TEST_CASE("a triad is a sum with a product", "[numa]") {
    const std::vector<double> one{1, 2, 3}, other{10, 20, 30};
    std::vector<double> to(3);
    triad(to, one, other, 3);
    CHECK(to == std::vector<double>{31, 62, 93});
}

TEST_CASE("a ring goes through each cache line once", "[numa]") {
    Vector vector(800);
    make_ring(vector.elements);
    std::set<std::uint64_t> lines;
    for (std::size_t steps = 1; steps <= 100; ++steps)
        lines.insert(follow(vector.elements, steps));
    CHECK(lines.size() == 100);
    CHECK(std::ranges::all_of(lines, [](std::uint64_t at) { return at % 8 == 0 && at < 800; }));
    CHECK(follow(vector.elements, 100) == 0);
}

TEST_CASE("accesses in every order reach each element once", "[numa]") {
    constexpr std::size_t kCount = 5 * kPage + 7;
    for (const Order order : {Order::regular, Order::irregular, Order::random}) {
        const Accesses accesses(kCount, order);
        Vector one(kCount), other(kCount);
        for (std::size_t i = 0; i < kCount; ++i)
            other.elements[i] = static_cast<double>(i);
        // One by one, so that the order is seen.
        std::vector<std::size_t> reached;
        for (std::size_t j = 0; j < kCount; ++j) {
            accesses.run(Action::write, one.elements, other.elements, j, j + 1);
            reached.push_back(std::ranges::find(one.elements, 1.0) - one.elements.begin());
            one.elements[reached.back()] = 0;
        }
        CHECK(std::set<std::size_t>(reached.begin(), reached.end()).size() == kCount);
        CHECK(*std::ranges::max_element(reached) == kCount - 1);
        if (order == Order::regular) CHECK(std::ranges::is_sorted(reached));
        if (order == Order::irregular) CHECK(std::ranges::is_sorted(reached, std::ranges::greater{}));
        if (order == Order::random)
            for (std::size_t j = 1; j < 5 * kPage; ++j)
                REQUIRE(reached[j] / kPage != reached[j - 1] / kPage);
        accesses.run(Action::both, one.elements, other.elements, 0, kCount);
        CHECK(std::ranges::equal(one.elements, other.elements));
        CHECK(accesses.run(Action::read, one.elements, other.elements, 0, kCount) ==
              Approx(kCount * (kCount - 1) / 2.0));
    }
}
