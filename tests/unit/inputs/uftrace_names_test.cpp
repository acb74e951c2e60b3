#include "analyzer/inputs/uftrace/arguments.h"
#include "analyzer/inputs/uftrace/functions.h"
#include "tests/unit/catch.h"

using namespace rdam::inputs::uftrace;

namespace {

/// `arg1:8 fparg1:4`: names and sizes.
std::string sizes(const std::vector<ValueSpec>& values) {
    std::string text;
    for (const ValueSpec& each : values)
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", each.name, each.size);
    return text;
}

std::string arguments_of(const Info& info, std::string_view function, std::string_view module = "prog") {
    Described described;
    described.linkage_name = function;
    described.module = module;
    return sizes(Signatures{info}.of(described).arguments);
}

}  // namespace

TEST_CASE("the last specification of the same argument counts, at the place of the first") {
    CHECK(sizes(parse_values("@arg1/i32,arg2,arg1/s,fparg1/32,arg1/f64,arg3%rdi,arg4/x8%stack+1", true,
                             false)) == "arg1:2 arg2:8 arg1:8 arg3:8 arg4:1");
    CHECK(sizes(parse_values("arg1,retval,arg2/q,arg3", true, false)) == "arg1:8");
    CHECK(sizes(parse_values("retval/f80", true, true)) == "retval:10");
    CHECK(sizes(parse_values("arg1,arg2/u,fparg1", false, false)) == "arg1:4 arg2:4 fparg1:8");
    CHECK(sizes(parse_values("arg1/t24:Big%stack+2,arg2/e:color%rsi", true, false)) == "arg1:24 arg2:8");
}

TEST_CASE("specifications match by name, expression, glob and module") {
    Info info;
    info.arguments = "f@arg1/i8;^get_.*@arg1/i16;g@libm,arg1/i32";
    CHECK(arguments_of(info, "f") == "arg1:1");
    CHECK(arguments_of(info, "ff").empty());
    CHECK(arguments_of(info, "get_size") == "arg1:2");
    CHECK(arguments_of(info, "forget_it").empty());
    CHECK(arguments_of(info, "g", "libm.so.6") == "arg1:4");
    CHECK(arguments_of(info, "g", "prog").empty());
    info.pattern = Pattern::glob;
    info.arguments = "get_*@arg1/i16";
    CHECK(arguments_of(info, "get_size") == "arg1:2");
    CHECK(arguments_of(info, "forget_it").empty());
    CHECK(arguments_of(info, "_ZN2ns5get_xEv").empty());
    info.arguments = "ns::get_x@arg1/i16";
    CHECK(arguments_of(info, "_ZN2ns5get_xEv") == "arg1:2");
}

TEST_CASE("a rule for the linkage table is one for the program's own") {
    Info info;
    info.arguments = "puts@plt,arg1/s";
    Described described;
    described.linkage_name = "puts";
    described.linkage_table = true;
    CHECK(Signatures{info}.of(described).empty());
    described.of_program = true;
    CHECK(sizes(Signatures{info}.of(described).arguments) == "arg1:2");
}

TEST_CASE("expressions that may explode match nothing") {
    for (const char* expression : {"(a{1,255}){1,255}", "(a*)\\1b", "((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)"})
        CHECK(!NamePattern(Pattern::regex, expression).matches("a"));
    CHECK(NamePattern(Pattern::regex, "a+b").matches("xaab"));
    CHECK(NamePattern(Pattern::regex, "operator new").matches("operator new"));
    CHECK(NamePattern(Pattern::regex, "a(").matches("a("));
}

TEST_CASE("uftrace's name of a C++ function has no parameters and template arguments") {
    CHECK(simple_name("_ZNSt6vectorIiSaIiEE9push_backERKi") == "std::vector::push_back");
    CHECK(simple_name("_Znwm") == "operator new");
    CHECK(simple_name("_ZlsRSoi") == "operator<<");
    CHECK(simple_name("main") == "main");
    CHECK(without_arguments("a::f(b<c>, d)::e<g>::operator()<h>") == "a::f::e::operator()");
    CHECK(without_arguments("a<b<c>, d>::operator-><e>") == "a::operator->");
}

TEST_CASE("the segments of an object are one mapping, and anonymous memory is none") {
    const auto mappings = parse_map(
        "2000-3000 r-xp 00000000 00:00 0   /lib/a b.so build-id:12\n3000-4000 rw-p 00000000 00:00 0  /lib/a "
        "b.so\n"
        "5000-6000 rw-p 00000000 00:00 0\n7000-8000 rw-p 00000000 00:00 0  [stack]\n1000-2000 r-xp 0 00:00 0 "
        "/p\nx\n");
    REQUIRE(mappings.size() == 2);
    CHECK(mappings[0].path == "/p");
    CHECK(mappings[1].path == "/lib/a b.so");
    CHECK(mappings[1].build_id == "12");
    CHECK(mappings[1].begin == 0x2000);
    CHECK(mappings[1].end == 0x4000);
}

TEST_CASE("symbols reach to the next where the file has no sizes, and as far as it says where it has") {
    const Module plain =
        Module::parse("/p", "10 P puts\n20 T alias\n20 W real\n40 T last\n50 ? __sym_end\n", "");
    CHECK(plain.find(0x0f) == nullptr);
    CHECK(plain.find(0x1f)->name == "puts");
    CHECK(plain.find(0x3f)->name == "real");
    CHECK(plain.find(0x4f)->name == "last");
    CHECK(plain.find(0x50) == nullptr);
    const Module sized = Module::parse("/p", "10 8 T f\n20 8 T g\nnonsense\n", "");
    CHECK(sized.find(0x17)->name == "f");
    CHECK(sized.find(0x18) == nullptr);
}

TEST_CASE("the symbols of another object with the same name are not taken") {
    const auto folder =
        folder_in_memory({{"a.so.sym", "# path name: /one/a.so\n# build-id: 1111\n10 T one\n20 ? e\n"},
                          {"a.so-2222.sym", "# path name: /two/a.so\n10 T two\n20 ? e\n"},
                          {"a.so-0330.sym", "# path name: /x/a.so\n10 T x\n20 ? e\n"}});
    CHECK(Module::load(*folder, "/one/a.so", "1111")->find(0x10)->name == "one");
    CHECK(Module::load(*folder, "/two/a.so", "2222333")->find(0x10)->name == "two");
    CHECK(Module::load(*folder, "/three/a.so", "333")->find(0x10) == nullptr);
}
