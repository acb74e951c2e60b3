#include "analyzer/export/otf2_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <system_error>

#include "tools/base/printable.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::exports::otf2 {
namespace {

/// Bytes of a text of a definition, or of a property: far below the chunk that it must fit in.
constexpr std::size_t kLongest = std::size_t{1} << 16U;

/// The most that a function may have. The library compares each attribute of an event with all others; only a
/// made-up trace has more.
constexpr std::size_t kMaxParameters = 64;

/// In place of a text that the trace has not kept.
constexpr std::string_view kForgotten = "(a text that was not kept)";

OTF2_Type type_of(const trace::ParameterInfo& parameter) {
    if (parameter.is_text) return OTF2_TYPE_STRING;
    switch (static_cast<ValueKind>(parameter.kind)) {
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return OTF2_TYPE_INT64;
        case ValueKind::boolean:
            return OTF2_TYPE_UINT8;
        case ValueKind::floating:
            return parameter.size == 4 ? OTF2_TYPE_FLOAT : OTF2_TYPE_DOUBLE;
        case ValueKind::unsigned_integer:
        case ValueKind::pointer:
            break;
    }
    return OTF2_TYPE_UINT64;
}

std::int64_t sign_extended_to(std::uint8_t bytes, std::uint64_t word) {
    if (bytes == 0 || bytes >= 8) return static_cast<std::int64_t>(word);
    const unsigned unused = 64U - 8U * bytes;
    return static_cast<std::int64_t>(word << unused) >> unused;
}

}  // namespace

std::string fitting(std::string_view text) {
    std::string safe = printable(text);
    if (safe.size() <= kLongest) return safe;
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(safe[at]) & 0xc0U) == 0x80U;
    };
    std::size_t end = kLongest;
    while (end > 0 && continues(end))
        --end;
    safe.resize(end);
    return safe;
}

OTF2_StringRef Strings::ref(std::string_view text) {
    const auto next = static_cast<OTF2_StringRef>(texts_.size());
    const auto [place, fresh] = refs_.try_emplace(fitting(text), next);
    if (fresh) texts_.push_back(&place->first);
    return place->second;
}

void Strings::write(Archive& archive, OTF2_GlobalDefWriter* writer) const {
    for (std::size_t i = 0; i < texts_.size() && archive.good(); ++i)
        archive.call(OTF2_GlobalDefWriter_WriteString, writer, static_cast<OTF2_StringRef>(i),
                     texts_[i]->c_str());
}

std::optional<OTF2_AttributeValue> Definitions::value(const Attribute& attribute,
                                                      std::uint64_t recorded) const {
    OTF2_AttributeValue value;
    value.uint64 = recorded;
    switch (attribute.type) {
        case OTF2_TYPE_INT64:
            value.int64 = sign_extended_to(attribute.size, recorded);
            break;
        case OTF2_TYPE_UINT8:
            value.uint8 = recorded != 0 ? 1 : 0;
            break;
        case OTF2_TYPE_FLOAT:
            value.float32 = std::bit_cast<float>(static_cast<std::uint32_t>(recorded));
            break;
        case OTF2_TYPE_DOUBLE:
            value.float64 = std::bit_cast<double>(recorded);
            break;
        case OTF2_TYPE_STRING:
            if (recorded == 0) return {};
            value.stringRef = texts_[std::min<std::uint64_t>(recorded, texts_.size()) - 1];
            break;
        default:
            break;
    }
    return value;
}

Definitions::Definitions(const trace::TraceInfo& info) {
    // In the order of their numbers.
    add_own("calls", "recorded calls that this one stands for, itself included", OTF2_TYPE_UINT64);
    add_own("lost_ns", "nanoseconds that the call lost", OTF2_TYPE_DOUBLE);
    add_own("end", "how the call ended, if it did not return", OTF2_TYPE_STRING);
    add_own("reason", "why the recorder held the thread", OTF2_TYPE_STRING);
    add_own("processor", "on which the thread went on", OTF2_TYPE_UINT32);
    for (const std::string& text : info.texts)
        texts_.push_back(strings_.ref(text));
    texts_.push_back(strings_.ref(kForgotten));
    for (const trace::FunctionInfo& function : info.functions) {
        CallAttributes& call = calls_.emplace_back();
        for (const trace::ParameterInfo& parameter : function.parameters)
            if (call.parameters.size() < kMaxParameters)
                call.parameters.push_back(attribute_of(parameter, call.parameters));
        if (!function.result.empty()) call.result = attribute_of(function.result.front(), {});
        regions_.push_back(region_of(function));
    }
    for (const char* const why : {"waits", "preempted", "displaced by the recorder"})
        regions_.push_back(off_processor_region(why));
}

void Definitions::add_own(std::string_view name, std::string_view description, OTF2_Type type) {
    attributes_.push_back({strings_.ref(name), strings_.ref(description), type});
}

/// An event cannot have one attribute twice: a second parameter of the same name and type has its own.
Attribute Definitions::attribute_of(const trace::ParameterInfo& parameter,
                                    const std::vector<Attribute>& others) {
    const OTF2_Type type = type_of(parameter);
    auto& same = known_[{parameter.name, type}];
    const auto nth = static_cast<std::size_t>(std::ranges::count_if(
        others, [&](const Attribute& other) { return std::ranges::find(same, other.ref) != same.end(); }));
    if (nth == same.size()) {
        same.push_back(static_cast<OTF2_AttributeRef>(attributes_.size()));
        attributes_.push_back({strings_.ref(parameter.name), strings_.ref(parameter.type), type});
    }
    return {same[nth], type, parameter.word, parameter.size};
}

Definitions::Region Definitions::region_of(const trace::FunctionInfo& function) {
    Region region{
        .name = strings_.ref(function.name),
        .linkage_name = strings_.ref(function.linkage_name.empty() ? function.name : function.linkage_name),
        .description = strings_.ref(function.module)};
    if (function.source.empty()) return region;
    const std::string_view source = function.source;
    const std::size_t colon = source.rfind(':');
    const char* const end = source.data() + source.size();
    if (colon != std::string_view::npos) {
        const auto [rest, error] = std::from_chars(source.data() + colon + 1, end, region.line);
        if (error != std::errc{} || rest != end) region.line = 0;
    }
    region.file = strings_.ref(region.line == 0 ? source : source.substr(0, colon));
    return region;
}

Definitions::Region Definitions::off_processor_region(std::string_view why) {
    const OTF2_StringRef name = strings_.ref(fmt::format("off the processor: {}", why));
    return {.name = name,
            .linkage_name = name,
            .description = strings_.ref("the thread was on no processor"),
            .role = OTF2_REGION_ROLE_ARTIFICIAL,
            .paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM};
}

void Definitions::write(Archive& archive, OTF2_GlobalDefWriter* writer) const {
    strings_.write(archive, writer);
    for (std::size_t i = 0; i < attributes_.size() && archive.good(); ++i)
        archive.call(OTF2_GlobalDefWriter_WriteAttribute, writer, static_cast<OTF2_AttributeRef>(i),
                     attributes_[i].name, attributes_[i].description, attributes_[i].type);
    for (std::size_t i = 0; i < regions_.size() && archive.good(); ++i) {
        const Region& region = regions_[i];
        archive.call(OTF2_GlobalDefWriter_WriteRegion, writer, static_cast<OTF2_RegionRef>(i), region.name,
                     region.linkage_name, region.description, region.role, region.paradigm,
                     OTF2_REGION_FLAG_NONE, region.file, region.line, 0);
    }
}

}  // namespace rdam::exports::otf2
