#include "analyzer/score/callers.h"

#include <random>
#include <vector>

#include "analyzer/score/batched_groups.h"
#include "tests/unit/catch.h"

namespace rdam::score {
namespace {

struct Sums {
    std::uint64_t calls = 0, outermost = 0, sum = 0;
};

void check(const CallerTable& table, const CallerNumbers& numbers, const std::vector<std::uint64_t>& order,
           const std::vector<Sums>& sums) {
    std::size_t seen = 0;
    table.for_each([&](const CallerEntry& entry) {
        REQUIRE(seen < order.size());
        CHECK(numbers.address(entry.caller) == order[seen]);
        CHECK(entry.calls == sums[seen].calls);
        CHECK(entry.outermost == sums[seen].outermost);
        CHECK(entry.sum == sums[seen].sum);
        ++seen;
    });
    CHECK(seen == order.size());
}

}  // namespace

TEST_CASE("callers are counted by address, in the order of first use", "[callers]") {
    std::mt19937_64 random{1};
    for (const std::size_t addresses : {1U, 4U, 5U, 30U, 128U, 129U, 3000U}) {
        CAPTURE(addresses);
        CallerNumbers numbers;
        CallerTable table, half;
        std::vector<std::uint64_t> order;
        std::vector<Sums> sums;
        for (std::size_t i = 0; i < 20 * addresses; ++i) {
            // Addresses differ in their high bits as well.
            const std::uint64_t address = (random() % addresses) << (random() % 2 == 0 ? 0 : 40);
            const bool outermost = random() % 8 != 0;
            const CallerEntry call{.caller = numbers.of(address),
                                   .calls = 1 + random() % 3,
                                   .outermost = 0,
                                   .sum = outermost ? random() % 1000 : 0};
            std::size_t place = 0;
            while (place < order.size() && order[place] != address)
                ++place;
            if (place == order.size()) {
                order.push_back(address);
                sums.emplace_back();
            }
            CallerEntry added = call;
            if (outermost) added.outermost = added.calls;
            sums[place].calls += added.calls;
            sums[place].outermost += added.outermost;
            sums[place].sum += added.sum;
            table.prefetch(added.caller);
            table.add(added);
            half.add(added);
            half.add(added);
        }
        check(table, numbers, order, sums);
        CallerTable merged;
        merged.add(table);
        merged.add(table);
        for (Sums& each : sums)
            each = {2 * each.calls, 2 * each.outermost, 2 * each.sum};
        check(merged, numbers, order, sums);
        check(half, numbers, order, sums);
    }
}

TEST_CASE("callers of more calls than 32 bits can count are counted", "[callers]") {
    CallerNumbers numbers;
    const std::uint32_t caller = numbers.of(0x401000);
    CallerTable table;
    for (int i = 0; i < 3; ++i)
        table.add({.caller = caller, .calls = UINT32_MAX, .outermost = UINT32_MAX, .sum = UINT64_MAX / 2});
    check(table, numbers, {0x401000},
          {{std::uint64_t{3} * UINT32_MAX, std::uint64_t{3} * UINT32_MAX, UINT64_MAX}});
}

TEST_CASE("queued calls go through all steps in their order, and a step comes before the next one",
          "[callers]") {
    CallQueue queue;
    std::vector<std::vector<std::uint64_t>> done(CallQueue::kSteps);
    const auto step = [&](std::size_t number, const QueuedCall& call) {
        if (number > 0) {
            REQUIRE(done[number].size() < done[number - 1].size());
            CHECK(done[number - 1][done[number].size()] == call.end);
        }
        done[number].push_back(call.end);
    };
    std::uint64_t pushed = 0;
    const auto push = [&] { queue.push().end = pushed++; };
    for (int i = 0; i < 1000; ++i) {
        push();
        if (i % 10 == 0) {
            queue.pop();
            --pushed;
            continue;
        }
        queue.advance(step);
        if (i < 500) CHECK(done.back().size() < pushed);
        if (i == 499) {
            queue.flush(step);
            CHECK(done.back().size() == pushed);
        }
    }
    queue.flush(step);
    for (const std::vector<std::uint64_t>& each : done) {
        REQUIRE(each.size() == pushed);
        for (std::uint64_t i = 0; i < pushed; ++i)
            CHECK(each[i] == i);
    }
}

}  // namespace rdam::score
