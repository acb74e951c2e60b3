#include "wrappers/find/function_list.h"

#include "tests/unit/catch.h"

using rdam::parse_function_list;
using rdam::parse_function_names;

namespace {

rdam::ListEntry only(std::string_view text) {
    const auto list = parse_function_list(text, "hot.txt");
    INFO(text);
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 1);
    return list->entries[0];
}

std::vector<std::string> names(std::string_view text) {
    const auto list = parse_function_names(text, "RDAM_FUNCTIONS");
    REQUIRE(list.has_value());
    std::vector<std::string> result;
    for (const auto& entry : list->entries)
        result.push_back(entry.scope.empty() ? entry.name : entry.scope + " | " + entry.name);
    return result;
}

}  // namespace

TEST_CASE("a list file: names, comments, blank lines, both line ends") {
    const auto list = parse_function_list(
        "# the hot ones\r\n\r\n  f  # 36.2 %\r\nlibc.so.6:write  # 3.1 %\n\tmain.c:g\npthread_mutex_lock  # "
        "wait\n#",
        "hot.txt");
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 4);
    CHECK(list->entries[0].name == "f");
    CHECK(list->entries[0].origin == "hot.txt:3");
    CHECK_FALSE(list->entries[0].added_wait);
    CHECK(list->entries[1].text == "libc.so.6:write");
    CHECK(list->entries[1].scope == "libc.so.6");
    CHECK(list->entries[1].name == "write");
    CHECK(list->entries[2].scope == "main.c");
    CHECK(list->entries[3].name == "pthread_mutex_lock");
    CHECK(list->entries[3].added_wait);
    CHECK(list->entries[3].origin == "hot.txt:6");
}

TEST_CASE("only a lone colon outside brackets separates") {
    CHECK(only("std::f").scope.empty());
    CHECK(only("app:std::f").scope == "app");
    CHECK(only("app:std::f").name == "std::f");
    CHECK(only("app:::f").name == "::f");
    CHECK(only("::f").name == "::f");
    CHECK(only("f[abi:cxx11]").scope.empty());
    CHECK(only("libx.so:f[abi:cxx11](int)").name == "f[abi:cxx11](int)");
    CHECK(only("core::ops::{shim:vtable#0}").scope.empty());
    CHECK(only("a::(anonymous namespace)::f(int, char)").scope.empty());
    CHECK(only("app:operator<").name == "operator<");
    CHECK(only("operator()(a:b)").scope.empty());
}

TEST_CASE("names keep their hashes, blanks and commas") {
    CHECK(only("app::main::{closure#0}").name == "app::main::{closure#0}");
    CHECK(only("app::{impl#3}::run # hot").name == "app::{impl#3}::run");
    CHECK(only("std::map<int, char const*>::find(int const&)").name ==
          "std::map<int, char const*>::find(int const&)");
}

TEST_CASE("a byte order mark is no part of the first name") {
    CHECK(only("\xef\xbb\xbf"
               "f")
              .name == "f");
}

TEST_CASE("the same name twice is one entry, and the user's own wish outweighs the catalogue's") {
    CHECK_FALSE(only("f  # wait\nf").added_wait);
    CHECK_FALSE(only("f\nf  # wait").added_wait);
    CHECK(only("f # wait\nf # wait").added_wait);
    CHECK_FALSE(only("f # wait for it").added_wait);
}

TEST_CASE("a leading ~ marks an entry, and is no part of its name") {
    const auto marked = only("~libx.so:mix  # 12.3 %, small leaf (96 bytes)");
    CHECK(marked.sampled);
    CHECK(marked.text == "~libx.so:mix");
    CHECK(marked.scope == "libx.so");
    CHECK(marked.name == "mix");
    CHECK_FALSE(marked.added_wait);
    CHECK(only(" ~ mix").name == "mix");
    CHECK(only("~std::f").name == "std::f");
    CHECK(only("~ns::A::~A").name == "ns::A::~A");
    CHECK(only("~*").name == "*");
    CHECK(only("~pthread_mutex_lock  # wait").added_wait);
    for (const auto* plain :
         {"mix", "libx.so:mix", "A::~A", "libx.so:A::~A()", "operator~", "main.c:operator~"})
        CHECK_FALSE(only(plain).sampled);
}

TEST_CASE("marks stand in comma-separated lists too") {
    const auto list = parse_function_names("~mix,write, ~libx.so:f<~g, h>,operator~", "RDAM_FUNCTIONS");
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 4);
    CHECK(list->entries[0].sampled);
    CHECK(list->entries[0].name == "mix");
    CHECK_FALSE(list->entries[1].sampled);
    CHECK(list->entries[2].sampled);
    CHECK(list->entries[2].scope == "libx.so");
    CHECK(list->entries[2].name == "f<~g, h>");
    CHECK_FALSE(list->entries[3].sampled);
}

TEST_CASE("a name with and without mark is two entries, twice with it one") {
    const auto list = parse_function_list("~f\nf\n~f\napp:f\n", "hot.txt");
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 3);
    CHECK(list->entries[0].sampled);
    CHECK_FALSE(list->entries[1].sampled);
    CHECK_FALSE(list->entries[2].sampled);
}

TEST_CASE("a mark without a name, twice or in the wrong place is refused") {
    const auto error = [](std::string_view text) {
        return parse_function_list(text, "hot.txt").error().message;
    };
    CHECK(error("f\n~\n") == "hot.txt:2: '~' lacks the name after the mark; write ~name or ~module:name");
    CHECK(error("libx.so:~mix") ==
          "hot.txt:1: 'libx.so:~mix' has the mark ~ in front of the name; write it before everything else: "
          "~libx.so:mix");
    CHECK(error("~~A") ==
          "hot.txt:1: '~~A' has the mark ~ in front of the name; write it before everything else: ~A");
    CHECK(error("~:f") ==
          "hot.txt:1: '~:f' lacks the module before the colon; write name, module:name or file.c:name");
}

TEST_CASE("commas inside brackets belong to the name") {
    CHECK(names("f,g") == std::vector<std::string>{"f", "g"});
    CHECK(names(" f , ,libc.so.6:write,") == std::vector<std::string>{"f", "libc.so.6 | write"});
    CHECK(names("std::map<int, char>::find,f(int, int)") ==
          std::vector<std::string>{"std::map<int, char>::find", "f(int, int)"});
    CHECK(names("operator<,operator<<,operator>,operator->,operator(),operator,,f") ==
          std::vector<std::string>{"operator<", "operator<<", "operator>", "operator->", "operator()",
                                   "operator,", "f"});
    CHECK(names("operator< <int, int>,g") == std::vector<std::string>{"operator< <int, int>", "g"});
    CHECK(names("f<fn(u8) -> u8, u8>,g") == std::vector<std::string>{"f<fn(u8) -> u8, u8>", "g"});
    CHECK(names("a[b,c],{d,e}") == std::vector<std::string>{"a[b,c]", "{d,e}"});
}

TEST_CASE("an empty list says so") {
    const std::string expected = "hot.txt: names no function; write one per line, as name or module:name";
    for (const auto* text : {"", "\n\n", "# nothing\n  # but comments", "\r\n"})
        CHECK(parse_function_list(text, "hot.txt").error().message == expected);
    CHECK(parse_function_names(" , ", "RDAM_FUNCTIONS").error().message ==
          "RDAM_FUNCTIONS: names no function; give names separated by commas, or a list file");
}

TEST_CASE("what is no list is refused with the line") {
    CHECK(parse_function_list("f\n:g\n", "hot.txt").error().message ==
          "hot.txt:2: ':g' lacks the module before the colon; write name, module:name or file.c:name");
    CHECK(parse_function_list("libc.so.6:\n", "hot.txt").error().message ==
          "hot.txt:1: 'libc.so.6:' lacks the name after the colon; write name, module:name or file.c:name");
    CHECK(parse_function_list(std::string_view("\x7f"
                                               "ELF\0\1",
                                               6),
                              "app")
              .error()
              .message ==
          "app:1: holds control characters; a list is a text file with one function per line");
    CHECK_FALSE(parse_function_list("f\x1b[2Jg", "hot.txt").has_value());
}
