#include "tools/base/name_text.h"

#include <string>

#include "tests/unit/catch.h"
#include "tools/base/printable.h"

using rdam::shortened_name;

TEST_CASE("what fits is left as it is") {
    CHECK(shortened_name("write", 5) == "write");
    CHECK(shortened_name("a<b>::c", 7) == "a<b>::c");
    CHECK(shortened_name("größe", 5) == "größe");
}

TEST_CASE("of a long name template arguments go first, the longest before the others") {
    const std::string name = "InlineSkipList<MemTableRep::KeyComparator const&>::Insert<true>";
    CHECK(shortened_name("rocksdb:" + name, 40) == "rocksdb:InlineSkipList<…>::Insert<true>");
    CHECK(shortened_name("rocksdb:" + name, 38) == "rocksdb:InlineSkipList<…>::Insert<…>");
    CHECK(shortened_name("std::map<a, std::vector<b, c> >::operator<<<long_argument>", 30) ==
          "std::map<…>::operator<<<…>");
    CHECK(shortened_name("Shop::operator->()::take<int, int>::give", 38) ==
          "Shop::operator->()::take<…>::give");
}

TEST_CASE("a name with very many template arguments is shortened soon") {
    std::string name;
    for (int i = 0; i < 100'000; ++i)
        name += "a<bc>::";
    CHECK(shortened_name(name + "end", 20) == "a<…>::a<…>…a<…>::end");
}

TEST_CASE("where that is not enough the middle goes") {
    CHECK(shortened_name("0123456789", 5) == "01…89");
    CHECK(shortened_name("0123456789", 6) == "012…89");
    CHECK(shortened_name("äöüßäöüßäö", 5) == "äö…äö");
    for (std::size_t columns = 5; columns < 80; ++columns) {
        const auto text =
            shortened_name("ns::Ä<ö<ü>, ß>::operator<(A<B> const&)::{lambda()#1}::run", columns);
        CHECK(rdam::display_width(text) <= columns);
        CHECK(rdam::printable(text) == text);
    }
}
