// Which recorded functions a name, or a source line, of another tool means.
#include "analyzer/causes/function_names.h"
#include "tests/unit/catch.h"

using namespace rdam;
using causes::FunctionNames;
using causes::same_source_file;
using causes::without_parameters;

namespace {

using Found = std::vector<std::uint32_t>;

trace::FunctionInfo function(const std::string& linkage_name, const std::string& name,
                             const std::string& module = "app") {
    trace::FunctionInfo info;
    info.linkage_name = linkage_name;
    info.name = name;
    info.module = module;
    return info;
}

const std::vector<trace::FunctionInfo> kFunctions = {
    function("plain", "plain"),
    function("_ZN2ns6updateEi", "ns::update(int)"),
    function("_ZN2ns6updateEl", "ns::update(long)"),
    function("_ZNK2ns3boxIiE3getEv", "ns::box<int>::get"),
    function("pthread_mutex_lock", "pthread_mutex_lock", "libc.so.6"),
    function("plain", "plain", "libx.so"),
    function("_ZN12_GLOBAL__N_16hiddenEv", "(anonymous namespace)::hidden"),
    function("work.constprop.0", "work.constprop.0"),
};

}  // namespace

TEST_CASE("a name finds its function however it is spelled") {
    const FunctionNames names{kFunctions};
    CHECK(names.find("plain", "app") == Found{0});
    CHECK(names.find("plain", "/usr/lib/libx.so") == Found{5});
    CHECK(names.find("plain", "") == Found{0, 5});
    CHECK(names.find("plain", "other").empty());
    CHECK(names.find("_ZN2ns6updateEi", "") == Found{1});
    CHECK(names.find("ns::update(int)", "app") == Found{1});
    CHECK(names.find("ns::update", "app") == Found{1, 2});
    CHECK(names.find("ns::update(char)", "app").empty());
    CHECK(names.find("ns::box<int>::get() const", "") == Found{3});
    CHECK(names.find("ns::box<int>::get", "") == Found{3});
    CHECK(names.find("ns::box< int >::get", "") == Found{3});
    CHECK(names.find("(anonymous namespace)::hidden()", "") == Found{6});
    CHECK(names.find("(anonymous namespace)::hidden", "") == Found{6});
    CHECK(names.find("hidden", "").empty());
}

TEST_CASE("what tools add to a name is no part of it") {
    const FunctionNames names{kFunctions};
    CHECK(names.find("ns::update(int)'2", "") == Found{1});
    CHECK(names.find("ns::update (inlined)", "") == Found{1, 2});
    CHECK(names.find("ns::update(long) [clone .cold]", "") == Found{2});
    CHECK(names.find("plain.part.0", "app") == Found{0});
    CHECK(names.find("work", "") == Found{7});
    CHECK(names.find("work.constprop.0", "") == Found{7});
}

TEST_CASE("parameters are cut off a name, and nothing else") {
    CHECK(without_parameters("f(int)") == "f");
    CHECK(without_parameters("ns::f<void (int)>(char*) const") == "ns::f<void (int)>");
    CHECK(without_parameters("(anonymous namespace)::f") == "(anonymous namespace)::f");
    CHECK(without_parameters("(anonymous namespace)::f(int (*)(int))") == "(anonymous namespace)::f");
    CHECK(without_parameters("A::operator()") == "A::operator()");
    CHECK(without_parameters("A::operator()(int)") == "A::operator()");
    CHECK(without_parameters("f(int)::{lambda()#1}::operator()") == "f(int)::{lambda()#1}::operator()");
    CHECK(without_parameters("(below main)") == "(below main)");
    CHECK(without_parameters("f") == "f");
    CHECK(without_parameters(")") == ")");
}

TEST_CASE("source files are the same if one path is the end of the other") {
    CHECK(same_source_file("/home/me/app/src/a.c", "src/a.c"));
    CHECK(same_source_file("a.c", "../src/a.c"));
    CHECK(same_source_file("./src/../src/a.c", "/home/me/app/src/a.c"));
    CHECK_FALSE(same_source_file("b/a.c", "src/a.c"));
    CHECK_FALSE(same_source_file("ba.c", "a.c"));
    CHECK_FALSE(same_source_file("", "a.c"));
}
