#include "analyzer/columns/npy_file.h"

#include <fstream>
#include <memory>
#include <random>

#include "tests/unit/catch.h"
#include "tests/unit/columns/folder.h"

namespace rdam::test {

using columns::Column;
using columns::Folder;

TEST_CASE("a column is what was appended and set, wherever the element was by then", "[npy]") {
    std::mt19937_64 random{1};
    for (const std::size_t window : {0U, 1U, 2U, 3U, 7U, 64U, 5000U}) {
        const TemporaryPlace place;
        auto folder = Folder::create(place.path().string());
        REQUIRE(folder);
        Column<std::uint32_t> column{*folder, "a.npy", window};
        std::vector<std::uint32_t> expected;
        for (int i = 0; i < 2000; ++i) {
            const auto value = static_cast<std::uint32_t>(random());
            if (random() % 2 == 0 || expected.empty()) {
                column.append(value);
                expected.push_back(value);
            } else {
                const std::size_t index = random() % expected.size();
                column.set(index, value);
                expected[index] = value;
            }
            REQUIRE(column.size() == expected.size());
        }
        column.finish();
        REQUIRE_FALSE(folder->error());
        CHECK(read_column<std::uint32_t>(place.path() / "a.npy") == expected);
    }
}

TEST_CASE("a column may be empty", "[npy]") {
    const TemporaryPlace place;
    auto folder = Folder::create(place.path().string());
    REQUIRE(folder);
    Column<double> column{*folder, "none.npy", 10};
    column.finish();
    CHECK(read_column<double>(place.path() / "none.npy").empty());
}

TEST_CASE("more columns than a process may have descriptors", "[npy]") {
    constexpr std::int64_t kColumns = 1500;
    const TemporaryPlace place;
    auto folder = Folder::create(place.path().string());
    REQUIRE(folder);
    std::vector<std::unique_ptr<Column<std::int64_t>>> columns;
    for (std::int64_t c = 0; c < kColumns; ++c)
        columns.push_back(std::make_unique<Column<std::int64_t>>(*folder, fmt::format("{}.npy", c), 2));
    for (std::int64_t row = 0; row < 5; ++row) {
        for (std::int64_t c = 0; c < kColumns; ++c)
            columns[static_cast<std::size_t>(c)]->append(c * row);
    }
    for (const auto& column : columns) {
        column->set(0, -1);
        column->finish();
    }
    REQUIRE_FALSE(folder->error());
    for (const std::int64_t c : {std::int64_t{0}, kColumns / 2, kColumns - 1})
        CHECK(read_column<std::int64_t>(place.path() / fmt::format("{}.npy", c)) ==
              std::vector<std::int64_t>{-1, c, 2 * c, 3 * c, 4 * c});
}

TEST_CASE("a folder with something in it is left alone", "[npy]") {
    const TemporaryPlace place;
    std::filesystem::create_directory(place.path());
    std::ofstream(place.path() / "mine") << "text";
    const auto folder = Folder::create(place.path().string());
    REQUIRE_FALSE(folder);
    CHECK(folder.error().message ==
          place.path().string() + ": exists and is not empty: remove it, or give another directory");
    CHECK(std::filesystem::exists(place.path() / "mine"));
    CHECK_FALSE(Folder::create((place.path() / "mine").string()));
    CHECK_FALSE(Folder::create((place.path() / "no" / "such").string()));
}

TEST_CASE("what cannot be written is said once, and nothing more is written", "[npy]") {
    const TemporaryPlace place;
    auto folder = Folder::create(place.path().string());
    REQUIRE(folder);
    Column<std::uint8_t> lost{*folder, "nowhere/a.npy", 2};
    for (int i = 0; i < 10; ++i)
        lost.append(1);
    REQUIRE(folder->error());
    CHECK(folder->error()->message.find("nowhere/a.npy: No such file or directory; ") != std::string::npos);
    Column<std::uint8_t> later{*folder, "b.npy", 2};
    later.append(1);
    later.finish();
    CHECK_FALSE(std::filesystem::exists(place.path() / "b.npy"));
    folder->discard();
    CHECK_FALSE(std::filesystem::exists(place.path()));
}

}  // namespace rdam::test
