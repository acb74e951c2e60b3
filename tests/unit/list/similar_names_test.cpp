#include "tools/base/similar_names.h"

#include "tests/unit/catch.h"

namespace rdam {
namespace {

using Names = std::vector<std::string>;

Names similar(std::string_view wanted, const Names& all) {
    SimilarNames similar{wanted};
    for (const std::string& name : all)
        similar.consider(name, name);
    return similar.names();
}

}  // namespace

TEST_CASE("similar names are the same last component first, then small differences in spelling") {
    CHECK(similar("Write", {"read", "Writ", "leveldb::DB::Write(int)"}) ==
          Names{"leveldb::DB::Write(int)", "Writ"});
    CHECK(similar("nope", {"serve", "store"}).empty());
    CHECK(similar("f1", {"f2", "f3", "f4", "f5"}) == Names{"f2", "f3", "f4"});
    CHECK(similar("", {"serve"}).empty());
}

TEST_CASE("std::string is similar to what it is short for") {
    const std::string string =
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    CHECK(similar("std::string", {"serve", string + "::basic_string"}) == Names{string + "::basic_string"});
    CHECK(similar("greet<std::string, in>", {"greeting<" + string + ", int>", "serve"}) ==
          Names{"greeting<" + string + ", int>"});
}

}  // namespace rdam
