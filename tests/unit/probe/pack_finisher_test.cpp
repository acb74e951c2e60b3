// What threads leave in shared memory, as the agent finishes it: in order, and when the program has written
// into it.
#include "tools/agent/chunks/pack_finisher.h"

#include <cstring>
#include <memory>
#include <random>

#include "tests/unit/catch.h"
#include "tools/trace/decoder.h"

namespace rdam::agent {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Function 0 has nothing, function 1 two parameters; both lie in one object.
struct Fixture {
    Fixture() {
        info.objects.push_back({.path = "/nowhere", .build_id = {}, .base = 0, .end = 4096});
        info.functions.resize(2);
        info.functions[1].enter_words = 2;
        process.numbers.set(0, 0);
        process.numbers.set(1, 1);
        finisher = std::make_unique<PackFinisher>(process, *control, 1, info);
    }
    /// As the process does it.
    void add_region(const char* name) {
        const std::uint32_t number = control->region_count.load().value;
        shm::Region& region = control->regions[number];
        std::strcpy(region.name, name);
        region.check = shm::check_of(&region, offsetof(shm::Region, check), number);
        control->region_count.store(number + 1);
    }

    std::unique_ptr<shm::Control> control = std::make_unique<shm::Control>();
    ProcessDescription process;
    trace::TraceInfo info;
    std::unique_ptr<PackFinisher> finisher;
    trace::Packs packs;
};

void append(Bytes& bytes, const void* data, std::size_t size) {
    const auto* from = static_cast<const std::uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + size);
}

/// As the thread writes it.
void seal(Bytes& pack_with_header, std::uint32_t number) {
    std::memcpy(pack_with_header.data() + offsetof(shm::PackHeader, number), &number, sizeof number);
    const auto size = static_cast<std::uint32_t>(pack_with_header.size());
    const std::uint64_t check = shm::check_of_pack(pack_with_header.data(), size);
    std::memcpy(pack_with_header.data() + offsetof(shm::PackHeader, check), &check, sizeof check);
}

Bytes pack_with_header(std::uint32_t number, shm::PackKind kind, const Bytes& content,
                       std::uint32_t sequence = 0, std::uint32_t end = shm::kChunkHeader) {
    const shm::PackHeader head{.size = static_cast<std::uint32_t>(sizeof(shm::PackHeader) + content.size()),
                               .kind = kind,
                               .sequence = sequence,
                               .end = end};
    Bytes bytes;
    append(bytes, &head, sizeof head);
    append(bytes, content.data(), content.size());
    seal(bytes, number);
    return bytes;
}

Bytes pack_of(const std::vector<std::uint64_t>& records) {
    const auto packer = std::make_unique<pack::Packer>();
    packer->prepare(1);
    pack::PendingStacks pending;
    const std::uint64_t* at = records.data();
    REQUIRE(packer->run(at, at + records.size(), pending) == pack::Stop::end);
    std::vector<std::uint64_t> words(packer->size() / 8);
    packer->write(words.data());
    Bytes bytes;
    append(bytes, words.data(), packer->size());
    return bytes;
}

std::uint64_t head(shm::RecordKind kind, std::uint32_t words, std::uint32_t function) {
    return shm::make_head(kind, words, function);
}

/// A call of function 1 and one of `function`.
std::vector<std::uint64_t> two_calls(std::uint32_t function) {
    return {100,
            head(shm::RecordKind::enter, 2, 1),
            0x401000,
            5,
            6,
            110,
            head(shm::RecordKind::leave, 0, 1),
            120,
            head(shm::RecordKind::enter, 0, function),
            0x401010,
            130,
            head(shm::RecordKind::leave, 0, function)};
}

Bytes stack_copy(std::uint32_t number) {
    shm::StackCopy copy;
    copy.function = 1;
    copy.number = number;
    copy.caller = 0x401000;
    copy.stack_bytes = 16;
    Bytes bytes;
    append(bytes, &copy, sizeof copy);
    bytes.resize(bytes.size() + 16);
    return bytes;
}

}  // namespace

TEST_CASE("packs become what a trace can hold: with the numbers of stacks and regions", "[packs]") {
    Fixture f;
    f.add_region("row");
    f.finisher->note_regions();
    std::vector<std::uint64_t> records{90, head(shm::RecordKind::stack, 0, 1), 95, 0x401000, 7};
    const auto calls = two_calls(shm::kFirstRegion);
    records.insert(records.end(), calls.begin(), calls.end());
    Bytes packed = pack_with_header(1, shm::PackKind::stack, stack_copy(7));
    const Bytes pack = pack_with_header(2, shm::PackKind::pack, pack_of(records), 3, 400);
    packed.insert(packed.end(), pack.begin(), pack.end());
    f.finisher->add_packed(0, packed, f.packs);
    CHECK(f.finisher->damaged() == 0);
    CHECK(f.finisher->any_calls());
    CHECK(f.finisher->last_packed(0).sequence == 3);
    CHECK(f.finisher->last_packed(0).end == 400);
    CHECK(f.finisher->last_packed(1).sequence == shm::kNone);
    trace::ChunkDecoder decoder;
    REQUIRE(decoder.decode(f.packs, f.info));
    const auto events = decoder.events();
    REQUIRE(events.size() == 5);
    CHECK(events[0].kind == trace::EventKind::pause);
    CHECK(events[1].stack == 1);
    CHECK(f.info.functions[events[3].function].name == "row");
    REQUIRE(f.info.stacks.size() == 1);
    CHECK(f.info.stacks[0].caller == 0x401000);
}

TEST_CASE("records that their thread has not packed become packs as well", "[packs]") {
    Fixture f;
    const auto records = two_calls(0);
    const std::span<const std::uint64_t> all(records);
    std::size_t at = 0;
    for (const std::size_t size : {5, 2, 3, 2}) {
        f.finisher->add_record(0, all.subspan(at, size), f.packs);
        at += size;
    }
    f.finisher->flush(0, f.packs);
    trace::ChunkDecoder decoder;
    REQUIRE(decoder.decode(f.packs, f.info));
    const auto events = decoder.events();
    REQUIRE(events.size() == 4);
    CHECK(events[0].words[1] == 6);
    CHECK(events[3].tsc == 130);
}

TEST_CASE("what was packed before the damage is kept, and the damage is counted", "[packs]") {
    Fixture f;
    Bytes packed = pack_with_header(1, shm::PackKind::pack, pack_of(two_calls(0)));
    Bytes bad = pack_with_header(2, shm::PackKind::pack, pack_of(two_calls(0)));
    SECTION("a function that does not exist") {
        bad = pack_with_header(2, shm::PackKind::pack, pack_of(two_calls(5)));
    }
    SECTION("a pack_with_header of no size") {
        std::memset(bad.data(), 0, 4);
    }
    SECTION("a pack_with_header that is longer than the chunk") {
        std::memset(bad.data(), 0x70, 4);
    }
    SECTION("a bit that is not as it was") {
        bad[GENERATE(sizeof(shm::PackHeader) + 3, offsetof(shm::PackHeader, sequence),
                     offsetof(shm::PackHeader, check))] ^= 4;
    }
    SECTION("a kind that does not exist") {
        bad[4] = 9;
        seal(bad, 2);
    }
    SECTION("a pack that says more than there is") {
        bad[sizeof(shm::PackHeader) + 32] ^= 0xff;
        seal(bad, 2);
    }
    SECTION("a call stack that is larger than its pack_with_header") {
        bad = pack_with_header(2, shm::PackKind::stack, stack_copy(1));
        const std::uint32_t huge = 0xfffffff8;
        std::memcpy(bad.data() + sizeof(shm::PackHeader) + offsetof(shm::StackCopy, stack_bytes), &huge,
                    sizeof huge);
        seal(bad, 2);
    }
    SECTION("a pack_with_header that has been there") {
        bad = packed;
    }
    append(packed, bad.data(), bad.size());
    CHECK(f.finisher->add_packed(0, packed, f.packs) == packed.size());
    CHECK(f.finisher->damaged() == 1);
    CHECK(f.packs.events == 4);
    trace::ChunkDecoder decoder;
    CHECK(decoder.decode(f.packs, f.info));
}

TEST_CASE("what is missing between two packed is a gap before the second", "[packs]") {
    Fixture f;
    Bytes packed = pack_with_header(1, shm::PackKind::pack, pack_of(two_calls(0)));
    const std::size_t first = packed.size();
    const Bytes third = pack_with_header(3, shm::PackKind::pack, pack_of(two_calls(0)));
    append(packed, third.data(), third.size());
    REQUIRE(f.finisher->add_packed(0, packed, f.packs) == first);
    CHECK_FALSE(f.packs.gap);
    CHECK(f.finisher->damaged() == 0);
    f.packs.clear();
    const std::span<const std::uint8_t> rest = std::span<const std::uint8_t>(packed).subspan(first);
    REQUIRE(f.finisher->add_packed(0, rest, f.packs) == rest.size());
    CHECK(f.packs.gap);
    CHECK(f.packs.events == 4);
    CHECK(f.finisher->damaged() == 1);
    // A thread that comes back goes on counting.
    f.finisher->note_end(0, 3);
    f.finisher->forget(0);
    CHECK(f.finisher->note_number(0, 4));
    CHECK(f.finisher->damaged() == 1);
    f.finisher->note_end(0, 7);
    CHECK(f.finisher->damaged() == 2);
}

TEST_CASE("a region whose description is damaged has a number for a name", "[packs]") {
    Fixture f;
    f.add_region("row");
    f.add_region("column");
    f.control->regions[0].name[1] ^= 1;
    f.finisher->note_regions();
    REQUIRE(f.info.functions.size() == 4);
    CHECK(f.info.functions[2].name == "region 1");
    CHECK(f.info.functions[3].name == "column");
    CHECK(f.finisher->damaged() == 1);
}

TEST_CASE("whatever bytes a packed chunk holds, finishing ends, and the reader is given nothing impossible",
          "[packs]") {
    std::vector<Bytes> good;
    good.push_back(pack_with_header(1, shm::PackKind::stack, stack_copy(1)));
    for (std::uint32_t number = 2; number < 6; ++number)
        good.push_back(pack_with_header(number, shm::PackKind::pack, pack_of(two_calls(0))));
    std::mt19937_64 random(42);
    for (int round = 0; round < 3000; ++round) {
        Fixture f;
        Bytes bytes;
        std::uint32_t number = 0;
        for (Bytes each : good) {
            for (std::uint64_t flips = random() % 8; flips > 0; --flips)
                each[random() % each.size()] = static_cast<std::uint8_t>(random());
            // Else the check would hide the rest.
            std::uint32_t size = 0;
            std::memcpy(&size, each.data(), sizeof size);
            if (size == each.size() && random() % 8 != 0) seal(each, ++number);
            append(bytes, each.data(), each.size());
        }
        for (std::span<const std::uint8_t> left(bytes); !left.empty(); f.packs.clear()) {
            left = left.subspan(f.finisher->add_packed(0, left, f.packs));
            trace::ChunkDecoder decoder;
            if (f.packs.events == 0 || !decoder.decode(f.packs, f.info)) continue;
            for (const trace::Event& event : decoder.events())
                REQUIRE((event.kind == trace::EventKind::pause || event.function == pack::kInnermost ||
                         event.function < f.info.functions.size()));
        }
    }
}

}  // namespace rdam::agent
