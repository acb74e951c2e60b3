// Damaged files: errors or less knowledge, never a crash.
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "wrappers/object/inlined_copies.h"
#include "wrappers/object/object_file.h"
#include "wrappers/prototype/dwarf_prototype.h"

namespace {

std::vector<char> read(const std::string& file) {
    std::ifstream stream{std::string{FIXTURE_DIR} + "/" + file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Looks at everything there is; the counts are of no interest.
void walk(std::vector<char> bytes) {
    const auto object = rdam::ObjectFile::from_bytes(std::move(bytes), "damaged");
    if (!object) {
        CHECK_FALSE(object.error().message.empty());
        return;
    }
    auto dwarf = rdam::DwarfFile::open(*object);
    std::size_t used = 0;
    for (const rdam::Symbol& symbol : object->symbols()) {
        const auto extent = object->extent(symbol.address);
        if (extent) used += object->code(extent->begin, extent->size()).size();
        if (dwarf) used += rdam::describe_function(*dwarf, symbol.address, symbol.name).has_value();
    }
    if (dwarf) used += rdam::find_inlined_copies(*dwarf, {{"inlined_often", ""}}).size();
    CHECK(used < (std::size_t{1} << 40));
}

}  // namespace

TEST_CASE("truncated files") {
    const auto bytes = read("libsymbols.so");
    REQUIRE(bytes.size() > 4096);
    for (std::size_t size = 0; size < bytes.size(); size += 509)
        walk({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
}

TEST_CASE("files with changed bytes") {
    const auto bytes = read("libsymbols.so");
    std::mt19937 random{20260101};
    for (int round = 0; round < 300; ++round) {
        auto damaged = bytes;
        for (int change = 0; change < 40; ++change)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        walk(std::move(damaged));
    }
}

TEST_CASE("files with changed headers") {
    const auto bytes = read("libsymbols.so");
    std::mt19937 random{7};
    for (int round = 0; round < 500; ++round) {
        auto damaged = bytes;
        // The ELF header, and the section headers at the end of the file.
        const std::size_t first = round % 2 == 0 ? 4 : damaged.size() - 2500;
        const std::size_t span = round % 2 == 0 ? 600 : 2500;
        for (int change = 0; change < 4; ++change)
            damaged[first + random() % span] = static_cast<char>(random());
        walk(std::move(damaged));
    }
}
