#include "wrappers/catalogue/signature.h"

#include "tests/unit/catch.h"

using rdam::parse_signature;
using rdam::signature_text;
using rdam::ValueKind;

TEST_CASE("a signature is read into parameters, keys and result") {
    const auto function = parse_signature("f", "key a: ptr, b: f64, c: u8, ... -> enum");
    REQUIRE(function.has_value());
    REQUIRE(function->parameters.size() == 3);
    CHECK(function->parameters[0].name == "a");
    CHECK(function->parameters[1].kind == ValueKind::floating);
    CHECK(function->parameters[2].size == 1);
    CHECK(function->keys == std::vector<std::string>{"a"});
    CHECK(function->variadic);
    CHECK(function->result->kind == ValueKind::enumeration);
}

TEST_CASE("a parameter may be called key") {
    const auto function = parse_signature("f", "key: u32, key key: ptr");
    REQUIRE(function.has_value());
    CHECK(function->parameters[0].name == "key");
    CHECK(function->keys == std::vector<std::string>{"key"});
}

TEST_CASE("a parameter or the result may be a size") {
    const auto function = parse_signature("f", "key a: ptr, size size: u64 -> size i64");
    REQUIRE(function.has_value());
    CHECK(function->keys == std::vector<std::string>{"a", "size"});
    CHECK(function->sizes == std::vector<std::string>{"size"});
    CHECK(function->result_is_size);
    CHECK(function->result->size == 8);
    CHECK_FALSE(parse_signature("f", "size: u64 -> i64")->result_is_size);
    CHECK(parse_signature("f", "size: u64")->sizes.empty());
}

TEST_CASE("nothing taken, nothing returned") {
    const auto nothing = parse_signature("f", "");
    REQUIRE(nothing.has_value());
    CHECK(nothing->parameters.empty());
    CHECK_FALSE(nothing->result.has_value());
    CHECK(parse_signature("f", "-> i32")->result->size == 4);
}

TEST_CASE("a wrong signature says which part is wrong") {
    CHECK(parse_signature("f", "a ptr").error().message ==
          "f: parameter 'a ptr' is not of the form 'name: type'");
    CHECK(parse_signature("f", "a: int").error().message == "f: parameter 'a: int' has an unknown type");
    CHECK(parse_signature("f", "-> int").error().message == "f: the result in '-> int' has an unknown type");
    CHECK(parse_signature("f", "..., a: i32").error().message == "f: nothing may follow '...'");
}

TEST_CASE("a signature is written as it was read") {
    for (const char* text : {"", "...", "key a: ptr, size b: u64, c: f32, ... -> size i64", "-> bool"}) {
        const auto function = parse_signature("f", text);
        REQUIRE(function.has_value());
        CHECK(parse_signature("f", signature_text(*function)) == *function);
    }
}
