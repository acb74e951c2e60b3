// The reports of LevelDB's db_bench that lie beside the source tree.
#include <filesystem>
#include <iostream>

#include "tests/unit/catch.h"
#include "tests/unit/hot/expected_list.h"

namespace fs = std::filesystem;

namespace {

bool absent() {
    if (fs::exists(SHARED_REPORTS)) return false;
    std::cout << "skipped: there are no reports in ../shared/perf\n";
    return true;
}

ExpectedList list_of(const std::string& file) {
    return hot_list_of(fs::path(SHARED_REPORTS) / file, 1.0);
}

}  // namespace

TEST_CASE("the flat reports of db_bench agree, whatever their columns") {
    if (absent()) return;
    const auto expected = parse_expected(
        "db_bench:leveldb::SkipList<char const*, leveldb::MemTable::KeyComparator>::FindGreaterOrEqual  # "
        "8.65 %\n"
        "libc.so.6:__memcmp_evex_movbe  # 5.66 %\n"
        "libc.so.6:__memmove_avx512_unaligned_erms  # 3.03 %\n"
        "db_bench:leveldb::MemTableIterator::key  # 2.19 %\n");
    for (const auto* file : {"leveldb.flat.default.txt", "leveldb.flat.sep-semicolon.txt",
                             "leveldb.flat.F-overhead-sample-sym.txt", "leveldb.flat.sort-symbol.txt"}) {
        INFO(file);
        CHECK(difference(expected, list_of(file), 0.06).empty());
    }
    CHECK(list_of("leveldb.flat.default.txt").percent.count("libc.so.6:__memcmp_evex_movbe") == 1);
    CHECK(list_of("leveldb.flat.sort-symbol.txt").percent.count("__memcmp_evex_movbe") == 1);
}

TEST_CASE("reports with call chains agree with those without, by the functions' own time") {
    if (absent()) return;
    const auto chains = list_of("leveldb.g.no-children.txt");
    REQUIRE_FALSE(chains.percent.empty());
    CHECK(difference(chains, list_of("leveldb.g.children.gnone.txt"), 0.06).empty());
    for (const auto& [entry, percent] : chains.percent) {
        INFO(entry);
        CHECK(entry.find("0x") == std::string::npos);
        CHECK(entry.find('[') == std::string::npos);
    }
}
