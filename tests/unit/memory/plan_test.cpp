// The plans against the formulas of RR-7330, table 5, written down anew here.
#include "tools/study-native/memory/plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/unit/catch.h"

namespace {

using Nodes = std::vector<int>;
using Places = std::vector<std::uint16_t>;

Nodes nodes_of(const PagePlan& plan) {
    Nodes nodes;
    for (std::uint64_t page = 0; page < plan.pages; ++page)
        nodes.push_back(node_of_page(&plan, page));
    return nodes;
}

PagePlan plan_of(PagePolicy policy, unsigned nodes, std::uint64_t pages) {
    PagePlan plan{};
    plan.policy = policy;
    plan.nodes = nodes;
    plan.pages = pages;
    return plan;
}

Nodes nodes_of(PagePolicy policy, unsigned nodes, std::uint64_t pages) {
    return nodes_of(plan_of(policy, nodes, pages));
}

PagePlan blocks_of(std::uint64_t pages, const Places& threads) {
    PagePlan plan = plan_of(page_bind_block, 4, pages);
    plan.places = threads.data();
    plan.place_count = static_cast<unsigned>(threads.size());
    return plan;
}

}  // namespace

TEST_CASE("cyclic puts page i on node i mod M", "[plan]") {
    CHECK(nodes_of(page_cyclic, 2, 5) == Nodes{0, 1, 0, 1, 0});
    CHECK(nodes_of(page_cyclic, 4, 10) == Nodes{0, 1, 2, 3, 0, 1, 2, 3, 0, 1});
    CHECK(nodes_of(page_cyclic, 8, 10) == Nodes{0, 1, 2, 3, 4, 5, 6, 7, 0, 1});
}

TEST_CASE("skew_mapp begins each row of M pages one node further on", "[plan]") {
    CHECK(nodes_of(page_skew_mapp, 2, 8) == Nodes{1, 0, 0, 1, 1, 0, 0, 1});
    CHECK(nodes_of(page_skew_mapp, 4, 20) ==
          Nodes{1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2, 0, 1, 2, 3, 1, 2, 3, 0});
    CHECK(nodes_of(page_skew_mapp, 8, 24) ==
          Nodes{1, 2, 3, 4, 5, 6, 7, 0, 2, 3, 4, 5, 6, 7, 0, 1, 3, 4, 5, 6, 7, 0, 1, 2});
}

TEST_CASE("prime_mapp is cyclic over P banks, whose surplus is cyclic over the nodes", "[plan]") {
    CHECK(nodes_of(page_prime_mapp, 4, 25) ==
          Nodes{0, 1, 2, 3, 0, 0, 1, 2, 3, 1, 0, 1, 2, 3, 2, 0, 1, 2, 3, 3, 0, 1, 2, 3, 0});
    // P = 11: three of eleven pages are surplus.
    CHECK(nodes_of(page_prime_mapp, 8, 44) == Nodes{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 0, 1, 2, 3,
                                                    4, 5, 6, 7, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 7,
                                                    6, 7, 0, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3});
}

TEST_CASE("with a prime number of nodes prime_mapp is cyclic", "[plan]") {
    for (const unsigned nodes : {2U, 3U, 5U, 7U})
        CHECK(nodes_of(page_prime_mapp, nodes, 100) == nodes_of(page_cyclic, nodes, 100));
}

TEST_CASE("the least prime number from a number on", "[plan]") {
    const std::vector<std::pair<unsigned, unsigned>> expected{
        {0, 2}, {1, 2}, {2, 2}, {3, 3}, {4, 5}, {6, 7}, {8, 11}, {16, 17}, {24, 29}, {1024, 1031}};
    for (const auto& [number, prime] : expected)
        CHECK(prime_from(number) == prime);
}

TEST_CASE("bind_block gives each thread's block to the thread's node", "[plan]") {
    CHECK(nodes_of(blocks_of(8, {0, 1, 2, 3})) == Nodes{0, 0, 1, 1, 2, 2, 3, 3});
    CHECK(nodes_of(blocks_of(8, {3, 3, 0, 1})) == Nodes{3, 3, 3, 3, 0, 0, 1, 1});
    CHECK(nodes_of(blocks_of(10, {0, 1, 2, 3})) == Nodes{0, 0, 0, 1, 1, 2, 2, 2, 3, 3});
    CHECK(nodes_of(blocks_of(4, {0, 0, 1, 1, 2, 2, 3, 3})) == Nodes{0, 1, 2, 3});
    CHECK(nodes_of(blocks_of(5, {2})) == Nodes{2, 2, 2, 2, 2});
}

TEST_CASE("a page of bind_block is its thread's to whom its first byte belongs", "[plan]") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t pages = 1 + random() % 500;
        Places threads(1 + random() % 40);
        for (auto& place : threads)
            place = static_cast<std::uint16_t>(random() % 4);
        const PagePlan plan = blocks_of(pages, threads);
        // A static schedule of so many bytes: thread t has those from t * bytes / T on.
        const std::uint64_t bytes = pages * 4096;
        std::vector<std::uint64_t> owners;
        for (std::uint64_t page = 0; page < pages; ++page) {
            std::uint64_t owner = 0;
            while (owner + 1 < threads.size() && (owner + 1) * bytes <= page * 4096 * threads.size())
                ++owner;
            owners.push_back(owner);
            REQUIRE(node_of_page(&plan, page) == threads[owner]);
        }
        for (unsigned thread = 0; thread <= threads.size(); ++thread) {
            const auto first = std::ranges::lower_bound(owners, thread) - owners.begin();
            REQUIRE(begin_of_block(&plan, thread) == static_cast<std::uint64_t>(first));
        }
    }
}

TEST_CASE("blocks of the largest area that there could be do not overflow", "[plan]") {
    const Places threads(8192, 1);
    const PagePlan plan = blocks_of(std::uint64_t{1} << 52, threads);
    CHECK(begin_of_block(&plan, 8192) == std::uint64_t{1} << 52);
    CHECK(begin_of_block(&plan, 4096) == std::uint64_t{1} << 51);
    CHECK(node_of_page(&plan, (std::uint64_t{1} << 52) - 1) == 1);
}

TEST_CASE("random draws all nodes alike, for each page anew, and the same from the same seed", "[plan]") {
    for (const unsigned nodes : {2U, 4U, 8U}) {
        PagePlan plan = plan_of(page_random, nodes, 80'000);
        const Nodes first = nodes_of(plan);
        CHECK(first == nodes_of(plan));
        std::vector<std::uint64_t> counts(nodes);
        std::vector<std::uint64_t> pairs(std::size_t{nodes} * nodes);
        for (std::size_t page = 0; page < first.size(); ++page) {
            ++counts.at(first[page]);
            if (page > 0) ++pairs.at(first[page - 1] * nodes + first[page]);
        }
        // Nearly six standard deviations.
        for (const std::uint64_t count : counts)
            CHECK(static_cast<double>(count) == Approx(80'000.0 / nodes).epsilon(0.06));
        for (const std::uint64_t count : pairs)
            CHECK(static_cast<double>(count) == Approx(80'000.0 / (nodes * nodes)).epsilon(0.17));
        plan.seed = 1;
        const Nodes second = nodes_of(plan);
        std::uint64_t same = 0;
        for (std::size_t page = 0; page < first.size(); ++page)
            same += first[page] == second[page];
        CHECK(static_cast<double>(same) == Approx(80'000.0 / nodes).epsilon(0.06));
    }
}

TEST_CASE("the kernel interleaves by the page's number in the address space", "[plan]") {
    PagePlan plan = plan_of(page_interleave, 4, 6);
    plan.first_page = 0x7f0003;
    CHECK(nodes_of(plan) == Nodes{3, 0, 1, 2, 3, 0});
}

TEST_CASE("bind has one node for all pages, or lets the kernel choose among several", "[plan]") {
    const Places one{2};
    const Places several{0, 3};
    PagePlan plan = plan_of(page_bind, 4, 3);
    plan.places = one.data();
    plan.place_count = 1;
    CHECK(nodes_of(plan) == Nodes{2, 2, 2});
    plan.places = several.data();
    plan.place_count = 2;
    CHECK(nodes_of(plan) == Nodes{page_anywhere, page_anywhere, page_anywhere});
}

TEST_CASE("first touch leaves all pages to the threads that use them", "[plan]") {
    CHECK(nodes_of(page_first_touch, 4, 2) == Nodes{page_anywhere, page_anywhere});
}

TEST_CASE("on one node every policy puts all pages there", "[plan]") {
    for (const PagePolicy policy :
         {page_cyclic, page_skew_mapp, page_prime_mapp, page_random, page_interleave})
        CHECK(nodes_of(policy, 1, 7) == Nodes(7, 0));
}

TEST_CASE("only policies whose neighbouring pages lie apart are placed page by page", "[plan]") {
    for (const PagePolicy policy : {page_cyclic, page_skew_mapp, page_prime_mapp, page_random})
        CHECK(is_by_page(policy) != 0);
    for (const PagePolicy policy : {page_first_touch, page_interleave, page_bind, page_bind_block})
        CHECK(is_by_page(policy) == 0);
}
