#include "analyzer/inputs/otf2/census.h"

#include <algorithm>

namespace rdam::inputs::otf2 {
namespace {

void note_given(Given& all, std::uint32_t ref, OTF2_Type type) {
    const auto same = [&](const auto& each) { return each.first == ref; };
    if (all.size() < kMostParameters && std::ranges::none_of(all, same)) all.emplace_back(ref, type);
}

void note_all(Given& all, std::span<const AttributeValue> attributes) {
    for (const AttributeValue& each : attributes)
        note_given(all, each.ref, each.value.type);
}

void note_all(Given& all, const Given& others) {
    for (const auto& each : others)
        note_given(all, each.first, each.second);
}

}  // namespace

void Use::add(const Use& other) {
    calls += other.calls;
    note_all(at_enter, other.at_enter);
    note_all(at_leave, other.at_leave);
    note_all(parameters, other.parameters);
    fields |= other.fields;
}

Use& Census::use(OTF2_RegionRef region) {
    Known& known = known_[region % known_.size()];
    if (known.use == nullptr || known.region != region) known = {.region = region, .use = &regions_[region]};
    return *known.use;
}

void Census::enter(std::uint64_t /*time*/, OTF2_RegionRef region,
                   std::span<const AttributeValue> attributes) {
    open_ = &use(region);
    ++open_->calls;
    note_all(open_->at_enter, attributes);
}

void Census::leave(std::uint64_t /*time*/, OTF2_RegionRef region,
                   std::span<const AttributeValue> attributes) {
    open_ = nullptr;
    if (!attributes.empty()) note_all(use(region).at_leave, attributes);
}

void Census::record(std::span<const FieldValue> fields) {
    if (open_ == nullptr) return;
    for (const FieldValue& each : fields)
        open_->fields.set(static_cast<std::size_t>(each.field));
}

void Census::parameter(OTF2_ParameterRef parameter, const TypedValue& value) {
    if (open_ != nullptr) note_given(open_->parameters, parameter, value.type);
}

void Census::add(const Census& other) {
    whole_ = whole_ && other.whole_;
    program(other.command_);
    for (const auto& [region, use] : other.regions_)
        regions_[region].add(use);
}

const Use* Census::find(OTF2_RegionRef region) const {
    const auto found = regions_.find(region);
    return found == regions_.end() || found->second.calls == 0 ? nullptr : &found->second;
}

}  // namespace rdam::inputs::otf2
