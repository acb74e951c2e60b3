// What the agent of a fork child knows of its parent's plan.
#include "tools/agent/plan/inheritance.h"

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

Knowledge first() {
    Knowledge knowledge;
    knowledge.list.push_back({.text = "~libx.so:work",
                              .scope = "libx.so",
                              .name = "work",
                              .origin = "hot.txt:1",
                              .added_wait = true,
                              .unless_found = "why",
                              .sampled = true});
    knowledge.objects.push_back({"/usr/bin/app", "abcd", 0x1000, 0x2000});
    KnownFunction function;
    function.number = 3;
    function.info.name = "work";
    function.info.linkage_name = "_Z4workv";
    function.info.address = 0x100;
    function.info.enter_words = 2;
    function.info.sampled = true;
    function.info.most_rate = 7;  // found out since
    function.info.parameters.push_back(
        {.name = "x", .kind = 1, .size = 4, .word = 1, .key = true, .type = "int"});
    knowledge.functions.push_back(function);
    knowledge.answers.push_back({"work", 1, "work", "why"});
    knowledge.awaited.push_back({"libx.so:work", "libx.so"});
    knowledge.remarks.emplace_back("some were skipped");
    return knowledge;
}

}  // namespace

TEST_CASE("what is known of a plan comes back as it was planned, in the order in which it was said") {
    std::vector<std::uint8_t> bytes = encode(first());
    Knowledge later;
    later.gone = {0x1000};
    later.objects.push_back({"/usr/lib/libx.so", "ef", 0x3000, 0x4000});
    const auto more = encode(later);
    bytes.insert(bytes.end(), more.begin(), more.end());
    const auto all = decode_knowledge(bytes);
    REQUIRE(all);
    REQUIRE(all->size() == 2);
    const Knowledge& known = all->front();
    REQUIRE(known.list.size() == 1);
    CHECK(known.list[0].text == "~libx.so:work");
    CHECK(known.list[0].origin == "hot.txt:1");
    CHECK(known.list[0].unless_found == "why");
    CHECK((known.list[0].added_wait && known.list[0].sampled));
    REQUIRE(known.functions.size() == 1);
    CHECK(known.functions[0].number == 3);
    CHECK(known.functions[0].info.linkage_name == "_Z4workv");
    CHECK(known.functions[0].info.enter_words == 2);
    CHECK(known.functions[0].info.sampled);
    CHECK(known.functions[0].info.most_rate == 0);
    REQUIRE(known.functions[0].info.parameters.size() == 1);
    CHECK(known.functions[0].info.parameters[0].type == "int");
    REQUIRE(known.awaited.size() == 1);
    CHECK(known.awaited[0].module == "libx.so");
    CHECK(known.answers.size() == 1);
    CHECK(known.remarks == std::vector<std::string>{"some were skipped"});
    CHECK(all->back().gone == std::vector<std::uint64_t>{0x1000});
    CHECK(all->back().objects.at(0).base == 0x3000);
}

TEST_CASE("bytes that are no knowledge are refused, whatever they are") {
    const auto bytes = encode(first());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK_FALSE(decode_knowledge(std::span(bytes).first(size)));
    auto damaged = bytes;
    for (std::size_t i = 0; i < 8; ++i)
        damaged[i] = 0xff;
    CHECK_FALSE(decode_knowledge(damaged));
}

}  // namespace rdam::agent
