// What pages of docs/ list that the program knows as well.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/export/format.h"
#include "tests/unit/catch.h"
#include "tools/rdam/command/generate.h"

namespace rdam {
namespace {

using PageNames = std::set<std::string>;

std::string page_of_docs(const std::string& name) {
    std::ifstream page{RDAM_SOURCE_ROOT "/docs/" + name};
    REQUIRE(page);
    return {std::istreambuf_iterator<char>{page}, {}};
}

/// What the only group of `form` is, wherever it is found.
PageNames found_on(const std::string& page, const std::string& form) {
    PageNames found;
    const std::regex every{form};
    for (std::sregex_iterator at{page.begin(), page.end(), every}; at != std::sregex_iterator{}; ++at)
        CHECK(found.insert((*at)[1]).second);
    return found;
}

/// In the table of formats, those whose last column is `how`.
PageNames one_by_one(const std::string& page, const std::string& how) {
    return found_on(page, "\n\\| `(\\w+)` \\|[^\n]*\\| " + how + " \\|(?=\n)");
}

/// Those that a paragraph says it is about.
PageNames about(const std::string& page, const std::string& paragraph) {
    const PageNames lists = found_on(page, "\n\\*\\*" + paragraph + "\\*\\* \\(([^)]*)\\)");
    REQUIRE(lists.size() == 1);
    return found_on(*lists.begin(), "`(\\w+)`");
}

template <class Member>
PageNames formats_that(const Member& member) {
    PageNames names;
    for (const exports::Format& format : exports::all_formats())
        if (std::invoke(member, format)) names.emplace(format.name);
    return names;
}

TEST_CASE("docs/views.md lists every export format, and for which of them the options are") {
    const std::string page = page_of_docs("views.md");
    const auto has_budget = &exports::Format::usual_budget;
    const auto is_of_paths = &exports::Format::write_paths;
    PageNames others = formats_that([](const exports::Format& format) {
        return format.usual_budget == 0 && format.write_paths == nullptr;
    });
    if (!exports::why_left_out("otf2").empty()) others.insert("otf2");
    CHECK(one_by_one(page, "within the budget") == formats_that(has_budget));
    CHECK(one_by_one(page, "paths") == formats_that(is_of_paths));
    CHECK(one_by_one(page, "every call") == others);
    CHECK(about(page, "Budget") == formats_that(has_budget));
    CHECK(about(page, "Arrows") == formats_that(&exports::Format::draws_arrows));
    CHECK(about(page, "Weights") == formats_that(&exports::Format::has_weight));
}

TEST_CASE("the manual of rdam analyze names every kind of trace that docs/inputs.md lists") {
    const PageNames kinds = found_on(page_of_docs("inputs.md"), "\n\\| \\[([^\\]]+)\\]\\(#");
    CHECK(kinds.contains("OTF2"));
    std::string manual{manual_of("analyze")};
    std::ranges::replace(manual, '\n', ' ');
    for (const std::string& kind : kinds)
        CHECK_THAT(manual, Catch::Contains(kind));
}

}  // namespace
}  // namespace rdam
