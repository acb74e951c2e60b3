#include "tools/base/glob.h"

#include <string>

#include "tests/unit/catch.h"

using rdam::glob_match;

TEST_CASE("a name matches itself, whatever characters it holds") {
    for (const auto* name :
         {"f", "operator*", "operator[]", "a<b[3]>::f", "std::string[abi:cxx11]", "x?y", "["})
        CHECK(glob_match(name, name));
}

TEST_CASE("stars and question marks") {
    CHECK(glob_match("pthread_*_lock", "pthread_mutex_lock"));
    CHECK_FALSE(glob_match("pthread_*_lock", "pthread_mutex_unlock2"));
    CHECK(glob_match("*", ""));
    CHECK(glob_match("a*", "a"));
    CHECK(glob_match("a**b", "ab"));
    CHECK(glob_match("f?", "f1"));
    CHECK_FALSE(glob_match("f?", "f"));
    CHECK_FALSE(glob_match("", "f"));
    CHECK_FALSE(glob_match("f", ""));
    CHECK(glob_match("*aab", "aaaab"));
}

TEST_CASE("sets and ranges") {
    CHECK(glob_match("f[0-9]", "f7"));
    CHECK_FALSE(glob_match("f[0-9]", "fx"));
    CHECK(glob_match("f[!0-9]", "fx"));
    CHECK(glob_match("f[^0-9]", "fx"));
    CHECK(glob_match("f[]x]", "f]"));
    CHECK(glob_match("f[a-]", "f-"));
    CHECK(glob_match("f[ab", "f[ab"));
    CHECK(glob_match("*f[ab", "xf[ab"));
}

TEST_CASE("a hostile pattern takes no exponential time") {
    std::string pattern;
    for (int i = 0; i < 200; ++i)
        pattern += "*a";
    CHECK_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}
