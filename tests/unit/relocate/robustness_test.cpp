// Hostile and damaged code: never read behind its end, and what is moved is moved correctly.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/relocate/correspondence.h"
#include "wrappers/entry/relocate.h"

namespace {

using Random = std::mt19937_64;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kPage = 4096;

/// Memory whose end is followed by nothing: a read behind it is a crash.
class GuardedPage {
  public:
    GuardedPage()
        : pages_(static_cast<std::uint8_t*>(
              mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        mprotect(pages_ + kPage, kPage, PROT_NONE);
    }
    ~GuardedPage() { munmap(pages_, 2 * kPage); }
    GuardedPage(const GuardedPage&) = delete;
    GuardedPage& operator=(const GuardedPage&) = delete;
    GuardedPage(GuardedPage&&) = delete;
    GuardedPage& operator=(GuardedPage&&) = delete;

    std::span<const std::uint8_t> at_end(const Bytes& bytes) {
        std::uint8_t* start = pages_ + kPage - bytes.size();
        std::copy(bytes.begin(), bytes.end(), start);
        return {start, bytes.size()};
    }

  private:
    std::uint8_t* pages_;
};

Bytes random_bytes(Random& random) {
    Bytes result(random() % 64);
    for (auto& byte : result)
        byte = static_cast<std::uint8_t>(random());
    return result;
}

/// Small jumps, loops, calls and RIP-relative operands in any order: far denser in trouble than real code.
Bytes troubled_code(Random& random) {
    static const std::array<Bytes, 16> kPieces{{{0x90},
                                                {0xEB, 0x00},
                                                {0x74, 0x00},
                                                {0xE3, 0x00},
                                                {0xE2, 0x00},
                                                {0x67, 0xE3, 0x00},
                                                {0x55},
                                                {0xFF, 0xD0},
                                                {0xFF, 0x54, 0x24, 0x08},
                                                {0xE8, 0x00, 0x00, 0x00, 0x00},
                                                {0x0F, 0x85, 0x00, 0x00, 0x00, 0x00},
                                                {0x48, 0x8B, 0x05, 0x00, 0x00, 0x00, 0x00},
                                                {0x80, 0x3D, 0x00, 0x00, 0x00, 0x00, 0x07},
                                                {0xC3},
                                                {0xF3, 0x0F, 0x1E, 0xFA},
                                                {0x48, 0x89, 0xF8}}};
    Bytes result;
    const std::size_t pieces = 1 + random() % 24;
    for (std::size_t i = 0; i < pieces; ++i) {
        Bytes piece = kPieces[random() % kPieces.size()];
        const auto distance = static_cast<std::uint8_t>(random() % 48 - 32);
        if (piece.size() >= 2 && piece.back() == 0 && piece.size() < 5)
            piece.back() = distance;
        else if (piece.size() >= 5 && random() % 2 == 0)
            std::fill(piece.end() - 3, piece.end(), distance < 128 ? 0 : 0xFF);
        if (piece.size() >= 5) piece[piece.size() - 4] = distance;
        result.insert(result.end(), piece.begin(), piece.end());
    }
    return result;
}

/// Nops of all lengths, and now and then something else.
Bytes random_padding(Random& random) {
    static const std::array<Bytes, 5> kPieces{{{0x90},
                                               {0xCC},
                                               {0x66, 0x90},
                                               {0x0F, 0x1F, 0x40, 0x00},
                                               {0x66, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0}}};
    Bytes result;
    for (std::size_t i = random() % 20; i > 0; --i) {
        const Bytes& piece = kPieces[random() % kPieces.size()];
        result.insert(result.end(), piece.begin(), piece.end());
    }
    if (!result.empty() && random() % 4 == 0) result.back() = static_cast<std::uint8_t>(random());
    return result;
}

std::size_t count_moved(Random& random, Bytes (*make)(Random&), std::size_t rounds) {
    GuardedPage page;
    GuardedPage padding;
    std::size_t moved_count = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        const auto body = page.at_end(make(random));
        const std::uint64_t address = random() % 8 == 0 ? random() : random() % 0x1000000;
        const std::vector<std::uint64_t> entries(random() % 2, address + random() % 32);
        const Bytes before = random_padding(random);
        const auto moved = rdam::move_prologue(body, address, static_cast<std::uint32_t>(random() % 6),
                                               entries, padding.at_end(before));
        if (!moved) {
            REQUIRE_FALSE(moved.error().message.empty());
            continue;
        }
        ++moved_count;
        REQUIRE(moved->jump_before <= before.size());
        const std::string problem = rdam::test::difference(body, address, *moved);
        if (!problem.empty()) FAIL("round " << i << ": " << problem);
    }
    return moved_count;
}

}  // namespace

TEST_CASE("random bytes are moved correctly or refused") {
    Random random(20180101);
    CHECK(count_moved(random, random_bytes, 100000) > 1000);
}

TEST_CASE("code full of jumps, loops and calls is moved correctly or refused") {
    Random random(20180102);
    CHECK(count_moved(random, troubled_code, 100000) > 1000);
}
