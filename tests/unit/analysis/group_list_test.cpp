#include "analyzer/score/group_list.h"

#include <random>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"
#include "tools/base/byte_archive.h"

namespace rdam::score {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <class Structure>
Bytes bytes_of(Structure& structure) {
    ByteWriter archive;
    archive(structure);
    return archive.take();
}

struct AddedCall {
    calls::Call call;
    std::uint32_t caller = 0;
};

/// Of a group of which hardly any call is special, or many are.
AddedCall random_call(std::mt19937_64& random, bool plain) {
    const auto one_in = [&](unsigned of) { return !plain && random() % of == 0; };
    AddedCall added{.call = {.duration = random() % (one_in(8) ? UINT64_MAX : 3000)},
                    .caller = static_cast<std::uint32_t>(random() % (one_in(8) ? 300 : 10))};
    added.call.outermost = !one_in(6);
    added.call.self = random() % 3 == 0 ? added.call.duration / 2 : added.call.duration;
    added.call.self_timed = !one_in(20);
    added.call.weight = one_in(20) ? 3 : 1;
    added.call.held = one_in(20) ? 100 : 0;
    return added;
}

void check_without_callers(const GroupTimes& found, const GroupTimes& wanted) {
    Distribution found_times = found.outermost(), wanted_times = wanted.outermost();
    found_times.seal();
    CHECK(bytes_of(found_times) == bytes_of(wanted_times));
    const SelfTimes found_self = found.self(5), wanted_self = wanted.self(5);
    CHECK(found_self.count == wanted_self.count);
    CHECK(found_self.sum == wanted_self.sum);
    CHECK(found_self.squares == wanted_self.squares);
    CHECK(found_self.least.least().min() == wanted_self.least.least().min());
    CHECK(found_self.least.least().second() == wanted_self.least.least().second());
}

/// What a list has of groups is what has been added.
struct Groups {
    GroupList list;
    std::vector<GroupTimes> times;

    explicit Groups(bool all_self_times) : list(all_self_times) {}

    void check(const GroupList& other) {
        REQUIRE(other.size() == times.size());
        GroupTimes scratch;
        for (sequences::GroupId id = 0; id < other.size(); ++id) {
            GroupTimes& wanted = times[id];
            wanted.seal();
            GroupTimes& found = const_cast<GroupTimes&>(other.times(id, scratch));
            found.seal();
            CHECK(bytes_of(found) == bytes_of(wanted));
            check_without_callers(other.times(id, scratch, false), wanted);
            std::vector<std::uint32_t> callers;
            other.for_each_caller(id, [&](std::uint32_t caller) {
                if (std::ranges::find(callers, caller) == callers.end()) callers.push_back(caller);
            });
            std::vector<std::uint32_t> wanted_callers;
            wanted.for_each_caller([&](const CallerEntry& each) { wanted_callers.push_back(each.caller); });
            CHECK(callers == wanted_callers);
        }
    }
};

}  // namespace

TEST_CASE("what a list says of a group is what its calls say", "[groups][random]") {
    for (std::uint64_t seed = 1; seed <= test::rounds(300U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const bool all_self_times = random() % 2 == 0;
        Groups groups{all_self_times};
        const std::size_t count = 1 + random() % 20;
        std::vector<bool> plain;
        for (std::size_t i = 0; i < count; ++i) {
            groups.list.make();
            plain.push_back(random() % 4 != 0);
            GroupTimes& times = groups.times.emplace_back();
            if (all_self_times) times.keep_all_self_times();
        }
        const auto add = [&](std::size_t calls) {
            for (; calls > 0; --calls) {
                // Some have very many, and some none.
                const auto id =
                    static_cast<sequences::GroupId>(random() % count * (random() % count) / count);
                const AddedCall added = random_call(random, plain[id]);
                groups.list.add(id, added.call, added.caller);
                groups.times[id].add(added.call, added.caller);
            }
        };
        add(random() % 600);
        groups.check(groups.list);
        std::vector<sequences::GroupId> order;
        for (sequences::GroupId id = 0; id < count; ++id)
            order.insert(order.begin() + static_cast<std::ptrdiff_t>(random() % (id + 1)), id);
        groups.list.reorder(order);
        std::vector<GroupTimes> times;
        for (const sequences::GroupId id : order)
            times.push_back(std::move(groups.times[id]));
        groups.times = std::move(times);
        groups.list.seal();
        groups.check(groups.list);
        const Bytes kept = bytes_of(groups.list);
        ByteReader archive{kept};
        GroupList read{all_self_times};
        archive(read);
        CHECK((archive.good() && archive.at_end()));
        groups.check(read);
        CHECK(bytes_of(read) == kept);
        add(100);
        groups.list.times(0).add({.duration = 7}, 1);
        groups.times[0].add({.duration = 7}, 1);
        groups.check(groups.list);
        groups.list.seal();
        groups.check(groups.list);
    }
}

TEST_CASE("bytes that are no calls make no groups", "[groups]") {
    GroupList list;
    list.make();
    for (std::uint64_t duration = 1; duration < 40; ++duration)
        list.add(0, {.duration = 50 * duration, .self = duration % 2 == 0 ? 50 * duration : 3}, 7);
    list.make();
    list.add(1, {.duration = 3, .held = 5, .self = 3}, 2);
    list.seal();
    const Bytes kept = bytes_of(list);
    std::mt19937_64 random{1};
    for (int round = 0; round < 20'000; ++round) {
        Bytes bytes = kept;
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
            bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
        if (random() % 8 == 0) bytes.resize(random() % bytes.size());
        ByteReader archive{bytes};
        GroupList read;
        archive(read);
        if (!archive.good()) continue;
        GroupTimes scratch;
        for (sequences::GroupId id = 0; id < read.size(); ++id) {
            const GroupTimes& times = read.times(id, scratch);
            CHECK(times.outermost().count() <= std::uint64_t{1} << 56);
            CHECK((times.outermost().count() == 0 || times.outermost().min() <= times.outermost().max()));
        }
    }
}

}  // namespace rdam::score
