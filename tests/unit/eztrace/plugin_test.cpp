// What of a profile becomes a plug-in for EZTrace, and how it is written.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "wrappers/hot/eztrace_names.h"
#include "wrappers/hot/eztrace_plugin.h"
#include "wrappers/object/object_file.h"

using namespace rdam;
using rdam::test::contains;

namespace {

EztracePlugin plugin_of(const std::string& library, const std::vector<std::string>& functions) {
    HotReport report;
    for (const std::string& name : functions)
        report.hot.functions.push_back({library, name, 12.5, {}});
    report.objects = {FIXTURE_DIR "/" + library};
    return eztrace_plugin(report, Catalogue::builtin());
}

std::string reason_against(const std::string& library, const std::string& function) {
    const EztracePlugin plugin = plugin_of(library, {function});
    CHECK(plugin.text.empty());
    REQUIRE(plugin.left_out.size() == 1);
    return plugin.left_out.front();
}

PrototypeParameter integer_parameter(const std::string& name) {
    PrototypeParameter parameter;
    parameter.name = name;
    parameter.passed.integer_registers = 1;
    parameter.scalar = ScalarType{ValueKind::signed_integer, 4};
    return parameter;
}

}  // namespace

TEST_CASE("a function of a library is written with the types of its debug information") {
    const auto plugin = plugin_of("libdebug.so", {"all_kinds"});
    CHECK(plugin.left_out.empty());
    CHECK(contains(plugin.text,
                   "# 12.5 %, wrapped.c:15\nint32_t all_kinds(int8_t a1, uint64_t a2, double a3, "
                   "float a4, void* a5, void* a6, _Bool a7)\n"));
    CHECK(contains(plugin.text, R"({"small", OTF2_TYPE_INT8}, {"large", OTF2_TYPE_UINT64}, )"
                                R"({"real", OTF2_TYPE_DOUBLE}, {"single", OTF2_TYPE_FLOAT}, )"
                                R"({"text", OTF2_TYPE_UINT64}, {"node", OTF2_TYPE_UINT64}, )"
                                R"({"truth", OTF2_TYPE_UINT8}, )"));
    CHECK(contains(plugin.text,
                   "{.int8 = a1}, {.uint64 = a2}, {.float64 = a3}, {.float32 = a4}, "
                   "{.uint64 = (uintptr_t)a5}, {.uint64 = (uintptr_t)a6}, {.uint8 = a7}, "));
}

TEST_CASE("a result that is a pointer is none of void for eztrace_create_plugin") {
    const auto plugin = plugin_of("libdebug.so", {"returns_pointer", "returns_in_memory"});
    CHECK(contains(plugin.text, "\nuintptr_t returns_pointer(void* a1)\n"));
    CHECK(contains(plugin.text, "\nuintptr_t returns_in_memory(void* result, int64_t a1)\n"));
}

TEST_CASE("what a plug-in cannot wrap is left out with the reason") {
    CHECK(contains(reason_against("libdebug.so", "is_variadic"), "a variable number of arguments"));
    CHECK(contains(reason_against("libdebug.so", "takes_structure"), "takes three by value (by_value)"));
    CHECK(contains(reason_against("libdebug.so", "returns_in_registers"), "returns two by value"));
    CHECK(contains(reason_against("libdebug.so", "is_hidden"), "libdebug.so does not export it"));
    CHECK(contains(reason_against("libdebug.so", "is_nowhere"), "has no such symbol"));
    CHECK(contains(reason_against("libbare.so", "all_kinds"), "no debug information"));
    CHECK(contains(reason_against("eztrace_test", "rdam::eztrace_module_of"), "in the program itself"));
}

TEST_CASE("a small leaf is left out, since EZTrace cannot sample it") {
    HotReport report;
    report.hot.functions.push_back({"libdebug.so", "all_kinds", 12.5, "small leaf (96 bytes)"});
    report.objects = {FIXTURE_DIR "/libdebug.so"};
    const auto plugin = eztrace_plugin(report, Catalogue::builtin());
    CHECK(plugin.text.empty());
    CHECK(plugin.left_out ==
          std::vector<std::string>{"left out of the plug-in: libdebug.so:all_kinds (12.5 %): small leaf "
                                   "(96 bytes): EZTrace cannot sample its calls"});
}

TEST_CASE("what EZTrace's own modules record is left to them") {
    HotReport report;
    report.hot.functions.push_back({"libc.so.6", "__GI___pthread_mutex_lock", 3, {}});
    report.hot.functions.push_back({"libc.so.6", "memcpy", 3, {}});
    report.waits = {"nanosleep", "sem_wait"};
    auto plugin = eztrace_plugin(report, Catalogue::builtin());
    CHECK(plugin.modules == std::vector<std::string>{"pthread"});
    REQUIRE(plugin.left_out.size() == 3);
    CHECK(contains(plugin.left_out[0], "EZTrace's own module pthread records pthread_mutex_lock"));
    CHECK(contains(plugin.left_out[1], "EZTrace itself calls memcpy"));
    CHECK(contains(plugin.text, "\nint32_t nanosleep("));
}

TEST_CASE(
    "EZTrace's modules for MPI and for threads are not used together, because programs hang with both") {
    HotReport report;
    report.waits = {"MPI_Barrier", "read", "sem_wait"};
    auto plugin = eztrace_plugin(report, Catalogue::builtin());
    CHECK(plugin.text.empty());
    CHECK(plugin.modules == std::vector<std::string>{"openmpi", "posixio"});
    CHECK(contains(plugin.left_out.back(), "programs hang with it and MPI's"));
    report.objects = {"/usr/lib/libmpich.so.12"};
    plugin = eztrace_plugin(report, Catalogue::builtin());
    CHECK(plugin.modules == std::vector<std::string>{"mpich", "posixio"});
}

TEST_CASE("the modules of an installed EZTrace record no other functions") {
    const std::vector<std::pair<std::string, std::string>> modules{
        {"pthread", "pthread_"}, {"pthread", "sem_"}, {"openmpi", "MPI_"}, {"openmp", "GOMP_"}};
    for (const auto& [module, prefix] : modules) {
        const auto library = ObjectFile::open("/usr/lib/x86_64-linux-gnu/libeztrace-" + module + ".so");
        if (!library) {
            std::puts("skipped: EZTrace's modules are not installed");
            return;
        }
        std::size_t recorded = 0;
        for (const Symbol& symbol : library->symbols()) {
            if (!symbol.exported || !symbol.is_code() || symbol.size == 0) continue;
            if (symbol.name.substr(0, prefix.size()) != prefix || symbol.name == "MPI_TO_OTF_COMMUNICATOR")
                continue;
            INFO(symbol.name);
            CHECK(eztrace_module_of(symbol.name) == module);
            ++recorded;
        }
        CHECK(recorded > 0);
    }
}

TEST_CASE("functions of MPI are known by their names in C and in Fortran") {
    CHECK(eztrace_module_of("MPI_Sendrecv") == "openmpi");
    CHECK(eztrace_module_of("mpi_sendrecv_") == "openmpi");
    CHECK(eztrace_module_of("mpi_") == "");
    CHECK(eztrace_module_of("MPI_Mrecv") == "");
}

TEST_CASE("a function that headers declare gets a name of its own in the plug-in") {
    Prototype prototype;
    prototype.parameters = {integer_parameter("n")};
    const auto function = plugin_function("usleep", prototype, true);
    REQUIRE(function);
    CHECK(contains(function->definitions,
                   "void rdam_usleep(int32_t a1) __asm__(\"usleep\");\n#define usleep rdam_usleep\n"));
}

TEST_CASE("names from a program cannot leave the quotation marks or the line") {
    Prototype prototype;
    prototype.parameters = {integer_parameter("a\"},\n@MODULE@\\")};
    const auto function = plugin_function("f", prototype, false);
    REQUIRE(function);
    CHECK(contains(function->definitions, "{\"a_},__MODULE__\", OTF2_TYPE_INT32}"));
    CHECK_FALSE(plugin_function("f.cold", prototype, false));
    CHECK_FALSE(plugin_function("f()\nEND_MODULE", prototype, false));
}
