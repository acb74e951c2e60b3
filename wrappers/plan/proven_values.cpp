#include "wrappers/plan/proven_values.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace rdam {
namespace {

using Where = ParameterClaim::Where;

constexpr std::size_t kMostNamed = 8;

struct Finding {
    std::vector<PassedIn> arguments;  // of a structure in parts, all of them
    bool from_debug_information = false;
    std::string why_not;

    bool proven() const { return why_not.empty(); }
};

FrameBytes frame_bytes(const ParameterClaim& claim) {
    FrameBytes bytes;
    if (claim.where != Where::in_frame) return bytes;
    switch (claim.base) {
        case ParameterClaim::Base::canonical_frame_address:
            bytes.base = FrameBytes::Base::canonical_frame_address;
            break;
        case ParameterClaim::Base::rbp:
            bytes.base = FrameBytes::Base::rbp;
            break;
        case ParameterClaim::Base::rsp:
            bytes.base = FrameBytes::Base::rsp;
            break;
    }
    bytes.offset = claim.offset;
    bytes.size = claim.size;
    return bytes;
}

Finding find(const ParameterClaim& claim, const std::optional<PassedIn>& arrival, const EntryBlock& code) {
    Finding finding;
    switch (claim.where) {
        case Where::nowhere:
            finding.why_not = "its place at the entry is not described";
            break;
        case Where::at_entry:
            finding.from_debug_information = true;
            for (const unsigned reg : claim.registers) {
                const auto argument = argument_register(reg);
                if (argument) finding.arguments.push_back(*argument);
                if (!argument || code.is_replaced(*argument))
                    finding.why_not = "nothing seems to be passed in the register that is said to hold it";
            }
            break;
        case Where::somewhere:
            if (const auto kept = code.kept_in(claim.registers.front(), claim.size)) {
                finding.arguments = {*kept};
            } else {
                finding.why_not = "where its register comes from is not seen in the code";
            }
            break;
        case Where::in_frame:
            if (arrival) {
                finding.arguments = {*arrival};
            } else {
                finding.why_not = "how it comes into the frame is not seen in the code";
            }
            break;
    }
    if (!claim.scalar) {
        finding.why_not = "not a single value";
        return finding;
    }
    const bool floating = claim.scalar->kind == ValueKind::floating;
    const bool other_kind =
        std::any_of(finding.arguments.begin(), finding.arguments.end(), [&](const PassedIn& argument) {
            return argument.kind != PassedIn::Kind::stack &&
                   floating != (argument.kind == PassedIn::Kind::vector_register);
        });
    if (finding.proven() && other_kind) finding.why_not = "in a register for values of another kind";
    return finding;
}

ArgumentPlace place_of(const PassedIn& argument) {
    using Kind = ArgumentPlace::Kind;
    switch (argument.kind) {
        case PassedIn::Kind::integer_register:
            return {Kind::integer_register, argument.index};
        case PassedIn::Kind::vector_register:
            return {Kind::vector_register, argument.index};
        default:
            return {Kind::stack, argument.index};
    }
}

bool share_an_argument(const Finding& one, const Finding& other) {
    return std::any_of(one.arguments.begin(), one.arguments.end(), [&](const PassedIn& argument) {
        return std::find(other.arguments.begin(), other.arguments.end(), argument) != other.arguments.end();
    });
}

}  // namespace

ProvenValues proven_values(const std::vector<ParameterClaim>& claims, const EntryBlock& code) {
    std::vector<FrameBytes> places;
    places.reserve(claims.size());
    for (const ParameterClaim& claim : claims)
        places.push_back(frame_bytes(claim));
    const auto arrivals = code.arrivals(places);
    std::vector<Finding> findings;
    for (std::size_t index = 0; index < claims.size(); ++index)
        findings.push_back(find(claims[index], arrivals[index], code));

    ProvenValues proven;
    for (std::size_t index = 0; index < claims.size(); ++index) {
        Finding finding = findings[index];
        for (std::size_t other = 0; other < claims.size() && finding.proven(); ++other) {
            // What debug information itself says of the entry outweighs what the code makes of it later.
            const bool outweighs = finding.from_debug_information && !findings[other].from_debug_information;
            if (other != index && !outweighs && share_an_argument(finding, findings[other]))
                finding.why_not = "another parameter is in the same place";
        }
        if (finding.proven()) {
            proven.values.push_back({index, place_of(finding.arguments.front())});
        } else {
            const std::string name =
                claims[index].name.empty() ? fmt::format("arg{}", index) : claims[index].name;
            proven.missing.push_back(fmt::format("{} ({})", name, finding.why_not));
        }
    }
    return proven;
}

std::string unproven_text(const ProvenValues& proven, const std::string& doubt) {
    if (proven.missing.empty()) return {};
    std::vector<std::string> named = proven.missing;
    if (named.size() > kMostNamed) {
        named.resize(kMostNamed);
        named.emplace_back("...");
    }
    if (proven.values.empty())
        return fmt::format("no parameters: {}, and nothing else proves {}", doubt, fmt::join(named, ", "));
    return fmt::format("without {}", fmt::join(named, ", "));
}

}  // namespace rdam
