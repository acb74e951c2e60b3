// Parameters in languages with hidden conventions: where the code puts arguments, and when a claim is proven.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/plan/call_description.h"

namespace {

using rdam::ArgumentPlace;
using rdam::EntryBlock;
using rdam::FrameBytes;
using rdam::FunctionClaims;
using rdam::ParameterClaim;
using Kind = rdam::ArgumentPlace::Kind;
using Where = rdam::ParameterClaim::Where;

EntryBlock block_of(const std::string& name) {
    static const auto kFile = rdam::ObjectFile::open(ARRIVALS_FIXTURE);
    REQUIRE(kFile.has_value());
    static const rdam::EntryBlocks kBlocks{*kFile};
    INFO(name);
    const auto symbols = kFile->named(name);
    REQUIRE(symbols.size() == 1);
    return kBlocks.of(*kFile->extent(kFile->symbols()[symbols[0]].address));
}

/// Places are counted from rbp unless it is said otherwise.
std::string arrivals(const std::string& name, std::vector<FrameBytes> places,
                     FrameBytes::Base base = FrameBytes::Base::rbp) {
    for (FrameBytes& place : places)
        place.base = base;
    std::string text;
    for (const auto& arrival : block_of(name).arrivals(places)) {
        if (!arrival) {
            text += "none ";
            continue;
        }
        const Kind kind = arrival->passed.kind;
        text += kind == Kind::integer_register ? "r" : kind == Kind::vector_register ? "x" : "s";
        text += std::to_string(arrival->passed.index) + (arrival->changed ? "! " : " ");
    }
    return text;
}

FrameBytes at(std::int64_t offset, std::uint64_t size) {
    return {FrameBytes::Base::rbp, offset, size};
}

constexpr unsigned kRdi = 5;
constexpr unsigned kRsi = 4;
constexpr unsigned kRdx = 1;
constexpr unsigned kXmm0 = 17;

rdam::PassedAs word() {
    rdam::PassedAs passed;
    passed.integer_registers = 1;
    return passed;
}

/// An integer, said to be in a register at the entry.
ParameterClaim in_register(const std::string& name, unsigned reg) {
    ParameterClaim claim;
    claim.name = name;
    claim.scalar = rdam::ScalarType{rdam::ValueKind::signed_integer, 4};
    claim.passed = word();
    claim.where = Where::at_entry;
    claim.registers = {reg};
    claim.bytes.size = 4;
    return claim;
}

ParameterClaim in_frame(const std::string& name, std::int64_t offset, std::uint8_t size,
                        rdam::ValueKind kind = rdam::ValueKind::signed_integer) {
    ParameterClaim claim = in_register(name, 0);
    claim.registers.clear();
    claim.scalar = rdam::ScalarType{kind, size};
    if (kind == rdam::ValueKind::floating) {
        claim.passed->integer_registers = 0;
        claim.passed->vector_registers = 1;
    }
    claim.where = Where::in_frame;
    claim.for_life = true;
    claim.bytes = {FrameBytes::Base::rbp, offset, size};
    return claim;
}

FunctionClaims claims_of(std::vector<ParameterClaim> parameters) {
    FunctionClaims claims;
    claims.parameters = std::move(parameters);
    claims.hidden_result = false;
    return claims;
}

/// "a:0 b:1": the parameters with the numbers of their registers.
std::string proven(const FunctionClaims& claims, const std::string& function = "keeps_in_registers") {
    std::string text;
    for (const auto& value : rdam::proven_values(claims, block_of(function)).values)
        text += claims.parameters[value.parameter].name + ":" + std::to_string(value.place.index) + " ";
    return text;
}

}  // namespace

TEST_CASE("arguments are followed through registers and memory into the frame") {
    CHECK(arrivals("stores_all", {at(-4, 4), at(-16, 8), at(-17, 1), at(16, 4)}) == "r0 x0 r1 s0 ");
    CHECK(arrivals("stores_all", {at(-20, 4), at(-16, 8), at(-33, 1), at(0, 4)},
                   FrameBytes::Base::canonical_frame_address) == "r0 none r1 s0 ");
    CHECK(arrivals("by_stack_pointer", {at(12, 4), at(40, 8)}, FrameBytes::Base::rsp) == "r0 s8 ");
}

TEST_CASE("what is not whole, not first or not an argument does not arrive") {
    CHECK(arrivals("copies_a_parameter", {at(-8, 4), at(-4, 4)}) == "r0 none ");
    CHECK(arrivals("changes_them", {at(-4, 4), at(-16, 8), at(-20, 4), at(-21, 1)}) == "none none none r3! ");
    CHECK(arrivals("changes_them", {at(-16, 4)}) == "r1 ");
    CHECK(arrivals("branches_first", {at(-4, 4)}) == "none ");
    CHECK(arrivals("pushes_for_a_call", {at(12, 4)}, FrameBytes::Base::rsp) == "none ");
    CHECK(arrivals("stores_all", {at(std::int64_t{1} << 40, 4)}) == "none ");
}

TEST_CASE("a register is an argument if nothing else is ever put there, or only that") {
    const EntryBlock block = block_of("keeps_in_registers");
    const unsigned rbx = 3;
    const unsigned rcx = 2;
    const unsigned r12 = 12;
    CHECK(block.kept_in(kRdi, 4) == ArgumentPlace{Kind::integer_register, 0});
    CHECK(block.kept_in(r12, 4) == ArgumentPlace{Kind::integer_register, 1});
    CHECK_FALSE(block.kept_in(r12, 8).has_value());
    CHECK_FALSE(block.kept_in(rbx, 4).has_value());
    CHECK_FALSE(block.kept_in(rcx, 4).has_value());
    CHECK_FALSE(block.kept_in(99, 4).has_value());
}

TEST_CASE("a claim is proven if the convention agrees") {
    CHECK(proven(claims_of({in_register("a", kRdi), in_register("b", kRsi)})) == "a:0 b:1 ");
    auto hidden = claims_of({in_register("a", kRsi), in_register("b", kRdx)});
    CHECK(proven(hidden).empty());
    hidden.hidden_result = true;
    CHECK(proven(hidden) == "a:1 b:2 ");
    hidden.hidden_result = std::nullopt;
    CHECK(proven(hidden).empty());
}

TEST_CASE("a parameter that has another one's value at the first instruction is not shown") {
    // a = b; b = 0;
    ParameterClaim constant = in_register("b", kRsi);
    constant.registers.clear();
    constant.where = Where::nowhere;
    CHECK(proven(claims_of({in_register("a", kRsi), constant, in_register("c", kRdx)})).empty());
    CHECK(proven(claims_of({in_register("a", kRdi), in_register("b", kRdi)})).empty());
}

TEST_CASE("nothing is shown behind a parameter that compilers pass differently") {
    auto claims = claims_of({in_register("a", kRdi), in_register("pair", kRsi), in_register("c", kRdx)});
    claims.parameters[1].scalar.reset();
    claims.parameters[1].passed.reset();
    CHECK(proven(claims) == "a:0 ");
}

TEST_CASE("where a compiler may have dropped parameters, all must be in their places") {
    auto claims = claims_of({in_register("a", kRdi), in_register("b", kRsi)});
    claims.signature = FunctionClaims::Signature::unknown;
    CHECK(proven(claims) == "a:0 b:1 ");
    claims.parameters[1].where = Where::nowhere;
    CHECK(proven(claims).empty());
    claims.signature = FunctionClaims::Signature::kept;
    CHECK(proven(claims) == "a:0 ");
    claims.signature = FunctionClaims::Signature::changed;
    CHECK(proven(claims).empty());
}

TEST_CASE("a floating-point number is not shown from a register for integers") {
    auto claims = claims_of({in_register("a", kRdi)});
    claims.parameters[0].scalar->kind = rdam::ValueKind::floating;
    CHECK(proven(claims).empty());
    claims.parameters[0].registers = {kXmm0};
    claims.parameters[0].passed->integer_registers = 0;
    claims.parameters[0].passed->vector_registers = 1;
    CHECK(proven(claims) == "a:0 ");
}

TEST_CASE("code that is not optimized proves places by itself, whatever is passed before") {
    auto claims = claims_of(
        {in_frame("a", -4, 4), in_frame("f", -16, 8, rdam::ValueKind::floating), in_frame("b", -17, 1)});
    claims.hidden_result = std::nullopt;
    claims.signature = FunctionClaims::Signature::unknown;
    CHECK(proven(claims, "stores_all") == "a:0 f:0 b:1 ");
    // In another order than written, they may have been exchanged.
    std::swap(claims.parameters[0], claims.parameters[2]);
    CHECK(proven(claims, "stores_all").empty());
}

TEST_CASE("the user is told which parameters are missing and why") {
    auto claims = claims_of({in_register("a", kRdi), in_register("s", kRsi)});
    claims.parameters[1].scalar.reset();
    CHECK(rdam::unproven_text(rdam::proven_values(claims, block_of("stores_all")), "odd") ==
          "without s (not a single value)");
    claims.parameters.erase(claims.parameters.begin());
    CHECK(rdam::unproven_text(rdam::proven_values(claims, block_of("stores_all")), "odd") ==
          "no parameters: odd, and nothing else proves s (not a single value)");
    CHECK(rdam::unproven_text(rdam::proven_values(claims_of({}), block_of("stores_all")), "odd").empty());
}
