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

TEST_CASE("kernel time below write and the futex calls of db_bench counts for them") {
    if (absent()) return;
    const auto chains = list_of("leveldb.g.no-children.txt");
    // The chains of 14.86 % _raw_spin_unlock_irqrestore and 14.77 % finish_task_switch end at 13.13 %
    // and 13.92 %.
    REQUIRE(chains.percent.count("libc.so.6:pthread_cond_signal@@GLIBC_2.3.2") == 1);
    CHECK(chains.percent.at("libc.so.6:pthread_cond_signal@@GLIBC_2.3.2") ==
          Approx(13.13 + 0.23).margin(0.06));
    CHECK(chains.percent.at("libc.so.6:__futex_abstimed_wait_common") == Approx(13.92 + 0.47).margin(0.06));
    CHECK(chains.percent.at("libc.so.6:__GI___libc_write") > 10);

    const auto children = list_of("leveldb.g.children.gnone.txt");
    CHECK(children.percent.at("libc.so.6:__GI___libc_write") == Approx(26.44).margin(0.06));
    CHECK(children.percent.at("libc.so.6:__futex_abstimed_wait_common") == Approx(15.75).margin(0.06));
    CHECK(children.percent.at("libc.so.6:pthread_cond_signal@@GLIBC_2.3.2") == Approx(14.25).margin(0.06));
    for (const auto& list : {chains, children})
        for (const auto& [entry, percent] : list.percent) {
            INFO(entry);
            CHECK(entry.find("0x") == std::string::npos);
            CHECK(entry.find('[') == std::string::npos);
        }
    for (const auto& [entry, percent] : chains.percent)
        CHECK(children.percent.count(entry) == 1);
}
