// Names as perf prints them must come back out of the list as they went in.
#include "tests/unit/catch.h"
#include "wrappers/find/function_list.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/perf/report_text.h"

using namespace rdam;

TEST_CASE("every kind of name goes through the list unchanged") {
    for (const std::string name :
         {"__strcmp_evex",
          "pthread_mutex_lock@@GLIBC_2.2.5",
          "cfree@GLIBC_2.2.5",
          "__GI___pthread_mutex_unlock_usercnt",
          "rhs_._omp_fn.0",
          "f.constprop.0",
          "leveldb::SkipList<char const*, leveldb::MemTable::KeyComparator>::Insert",
          "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_append",
          "leveldb::(anonymous namespace)::BytewiseComparatorImpl::Compare",
          "operator new",
          "operator<<",
          "operator()",
          "main::{lambda(bool)#1}::operator()",
          "core::ops::function::FnOnce::call_once{{vtable.shim}}",
          "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop",
          "app::main::{closure#0}",
          "_RNvCs1234_7mycrate3foo",
          "__lu_MOD_rhs",
          "std::thread::_State_impl<std::tuple<main::{lambda(bool)#1}, bool> >::_M_run",
          "f[abi:cxx11](int)",
          "a<(b)0>::c",
          "operator\"\" _km"}) {
        for (const std::string module : {"", "libc.so.6", "my app (1)", "libstdc++.so.6.0.30"}) {
            const auto text = list_entry_text(module, name);
            INFO(module << " : " << name);
            const auto list = parse_function_list(text + "  # 3.2 %", "hot.txt");
            REQUIRE(list.has_value());
            REQUIRE(list->entries.size() == 1);
            CHECK(list->entries[0].name == name);
            CHECK(list->entries[0].scope == module);
        }
    }
}

TEST_CASE("a module that cannot stand before a colon is left away, a name that cannot be written is none") {
    CHECK(list_entry_text("we:ird.so", "f") == "f");
    CHECK(list_entry_text("app #1", "f") == "f");
    CHECK(list_entry_text("app", "f #2").empty());
    CHECK(list_entry_text("app", "f\x1b[2J").empty());
    CHECK(list_entry_text("app", "f\xff").empty());
    CHECK(list_entry_text("app", "f\u202e").empty());
    CHECK(list_entry_text("app\xff", "f") == "f");
    CHECK(list_entry_text("äpp", "größe") == "äpp:größe");
    CHECK(list_entry_text("app", "").empty());
    CHECK(list_entry_text("~app", "f") == "f");
    CHECK(list_entry_text("", "~f").empty());
}

TEST_CASE("addresses and inlined names are no functions") {
    PerfReport report;
    for (const char* name : {"0x00007f8ba94eda26", "0x737475706e692f73", "0", "0xfeed_me", "x",
                             "std::mutex::unlock (inlined)", "f(inlined)"}) {
        PerfRow& row = report.rows.emplace_back();
        row.self = row.children = 10;
        row.symbol = name;
        row.level = '.';
    }
    const HotFunctions hot = hot_functions(report, {});
    std::vector<std::string> names;
    for (const HotFunction& function : hot.functions)
        names.push_back(function.name);
    CHECK(names == std::vector<std::string>{"0xfeed_me", "f(inlined)", "x"});
    REQUIRE(hot.left_out.size() == 2);
    CHECK(hot.left_out[0].why == LeftOut::unresolved);
    CHECK(hot.left_out[0].rows == 3);
    CHECK(hot.left_out[1].why == LeftOut::inlined);
}

TEST_CASE("glibc's internal names lead to the public ones") {
    const auto& catalogue = Catalogue::builtin();
    CHECK(well_known_name("__GI___libc_write", catalogue) == "write");
    CHECK(well_known_name("pthread_cond_wait@@GLIBC_2.3.2", catalogue) == "pthread_cond_wait");
    CHECK(well_known_name("___pthread_mutex_lock", catalogue) == "pthread_mutex_lock");
    CHECK(well_known_name("__futex_abstimed_wait_common", catalogue) == "__futex_abstimed_wait_common");
    CHECK(well_known_name("__GI___lll_lock_wait", catalogue) == "__lll_lock_wait");
    CHECK(well_known_name("leveldb::DBImpl::Write", catalogue).empty());
    CHECK(well_known_name("", catalogue).empty());
}

TEST_CASE(
    "code that was made at run time is in no file, with names or without, a line for each of its places") {
    PerfReport report;
    const auto add = [&](double self, const char* module, const char* symbol, char level) {
        PerfRow& row = report.rows.emplace_back();
        row.self = row.children = self;
        row.module = module;
        row.symbol = symbol;
        row.level = level;
    };
    for (const char* symbol : {"0x00007f3a5c1d2e40", "0x00007f3a5c1d2e80", "[unknown]"})
        add(5, "[JIT] tid 7", symbol, '.');
    add(4, "perf-7.map", "Interpreter", '.');
    add(3, "app", "0x0000000000001234", '.');
    add(2, "[kernel.kallsyms]", "0xffffffff81000000", 'k');
    add(1.5, "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "do_lookup_x", '.');
    const HotFunctions hot = hot_functions(report, {});
    CHECK(hot.functions.empty());
    REQUIRE(hot.left_out.size() == 5);
    CHECK(hot.left_out[4].why == LeftOut::linker);
    CHECK(hot.left_out[0].why == LeftOut::no_file);
    CHECK(hot.left_out[0].rows == 3);
    CHECK(hot.left_out[0].percent == 15);
    CHECK(hot.left_out[1].why == LeftOut::no_file);
    CHECK(hot.left_out[1].name == "Interpreter");
    CHECK(hot.left_out[2].why == LeftOut::unresolved);
    CHECK(hot.left_out[2].module == "app");
    CHECK(hot.left_out[3].why == LeftOut::unresolved);
}

TEST_CASE("two files of one name have a line each for their addresses without a name") {
    PerfReport report;
    for (const char* module : {"/usr/lib/libx.so", "/opt/lib/libx.so"}) {
        PerfRow& row = report.rows.emplace_back();
        row.self = row.children = 5;
        row.module = module;
        row.symbol = "0x0000000000001234";
        row.level = '.';
    }
    const HotFunctions hot = hot_functions(report, {});
    REQUIRE(hot.left_out.size() == 2);
    CHECK(hot.left_out[0].module == "libx.so");
    CHECK(hot.left_out[1].module == "libx.so");
    CHECK(hot.left_out[0].path != hot.left_out[1].path);
}
