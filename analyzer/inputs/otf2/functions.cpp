#include "analyzer/inputs/otf2/functions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "tools/base/demangle.h"

namespace rdam::inputs::otf2 {

namespace {

struct Typed {
    ValueKind kind = ValueKind::unsigned_integer;
    const char* name = "";  ///< of the type, for people
};

/// No other type of OTF2 is of this kind.
constexpr ValueKind kText = ValueKind::enumeration;

Typed typed(OTF2_Type type) {
    switch (type) {
        case OTF2_TYPE_UINT8:
            return {ValueKind::unsigned_integer, "uint8"};
        case OTF2_TYPE_UINT16:
            return {ValueKind::unsigned_integer, "uint16"};
        case OTF2_TYPE_UINT32:
            return {ValueKind::unsigned_integer, "uint32"};
        case OTF2_TYPE_UINT64:
            return {ValueKind::unsigned_integer, "uint64"};
        case OTF2_TYPE_INT8:
            return {ValueKind::signed_integer, "int8"};
        case OTF2_TYPE_INT16:
            return {ValueKind::signed_integer, "int16"};
        case OTF2_TYPE_INT32:
            return {ValueKind::signed_integer, "int32"};
        case OTF2_TYPE_INT64:
            return {ValueKind::signed_integer, "int64"};
        case OTF2_TYPE_FLOAT:
            return {ValueKind::floating, "float"};
        case OTF2_TYPE_DOUBLE:
            return {ValueKind::floating, "double"};
        case OTF2_TYPE_STRING:
            return {kText, "string"};
        default:
            return {ValueKind::unsigned_integer, "reference"};
    }
}

std::string source_of(const Definitions& definitions, const Region& region) {
    const std::string_view file = definitions.text(region.file);
    // EZTrace gives the program as the file of everything.
    return region.line == 0 || file.empty() ? std::string{} : fmt::format("{}:{}", file, region.line);
}

trace::FunctionInfo described(const Definitions& definitions, const Region& region) {
    trace::FunctionInfo function;
    const std::string_view name = definitions.text(region.name);
    const std::string_view canonical = definitions.text(region.canonical);
    function.linkage_name = canonical.empty() ? name : canonical;
    function.name = display_name(name.empty() ? canonical : name);
    if (function.name.empty()) function.name = fmt::format("region {}", region.ref);
    if (function.linkage_name.empty()) function.linkage_name = function.name;
    function.source = source_of(definitions, region);
    return function;
}

/// Builds the parameters of one function.
class Parameters {
  public:
    Parameters(const Definitions& definitions, trace::FunctionInfo& function, Layout& layout)
        : definitions_(definitions), function_(function), layout_(layout) {}

    void add_attributes(const Given& given) {
        for (const auto& [ref, type] : given) {
            if (definitions_.is_own(ref)) continue;
            const auto found = definitions_.attributes.find(ref);
            add(layout_.attributes, ref, found == definitions_.attributes.end() ? nullptr : &found->second,
                type);
        }
    }
    void add_parameters(const Given& given) {
        for (const auto& [ref, type] : given) {
            const auto found = definitions_.parameters.find(ref);
            add(layout_.parameters, ref, found == definitions_.parameters.end() ? nullptr : &found->second,
                type);
        }
    }
    void add_fields(const std::bitset<kFields>& fields) {
        layout_.fields.fill(Layout::kNoWord);
        for (std::size_t i = 0; i < kFields; ++i)
            if (fields.test(i))
                layout_.fields[i] =
                    add_word(kFieldNames[i], {ValueKind::signed_integer, "int64"}, put_value(kNoField));
    }
    /// The first name and type make the result; how many do not fit it.
    std::uint64_t add_results(const Given& given) {
        std::uint64_t others = 0;
        for (const auto& [ref, type] : given) {
            if (definitions_.is_own(ref)) continue;
            const Typed value = typed(type);
            const auto found = definitions_.attributes.find(ref);
            const bool known = found != definitions_.attributes.end();
            const std::string name =
                known ? std::string{definitions_.text(found->second.name)} : std::string{"return"};
            if (function_.result.empty()) {
                function_.result.push_back(parameter(name, value.kind, value.name));
                function_.result[0].is_text = value.kind == kText;
            }
            if (function_.result[0].name == name &&
                function_.result[0].kind == static_cast<std::uint8_t>(value.kind))
                layout_.results.push_back({.ref = ref, .word = 0, .kind = value.kind});
            else
                ++others;
        }
        std::ranges::sort(layout_.results, {}, &Word::ref);
        return others;
    }

  private:
    std::uint16_t add_word(std::string_view name, const Typed& value, std::uint64_t absent) {
        const auto word = static_cast<std::uint16_t>(layout_.absent.size());
        trace::ParameterInfo info = parameter(std::string{name}, value.kind, value.name);
        info.word = word;
        info.is_text = value.kind == kText;
        function_.parameters.push_back(std::move(info));
        layout_.absent.push_back(absent);
        return word;
    }

    /// EZTrace defines an attribute for each function and rank anew, so those of one name and type are one.
    void add(std::vector<Word>& words, std::uint32_t ref, const Described* known, OTF2_Type type) {
        if (known != nullptr && known->type != OTF2_TYPE_NONE) type = known->type;
        const Typed value = typed(type);
        std::string name{known != nullptr ? definitions_.text(known->name) : std::string_view{}};
        if (name.empty()) name = fmt::format("attribute {}", ref);
        const auto same = std::ranges::find_if(function_.parameters, [&](const trace::ParameterInfo& each) {
            return each.name == name && each.kind == static_cast<std::uint8_t>(value.kind);
        });
        std::uint16_t word = 0;
        if (same != function_.parameters.end())
            word = same->word;
        else if (layout_.absent.size() < kMaxParameters)
            word = add_word(name, value, 0);
        else
            return;
        const Word made{.ref = ref, .word = word, .kind = value.kind};
        words.insert(std::ranges::upper_bound(words, ref, {}, &Word::ref), made);
    }

    const Definitions& definitions_;
    trace::FunctionInfo& function_;
    Layout& layout_;
};

}  // namespace

/// Regions that become one function.
struct Functions::Group {
    std::vector<const Region*> regions;
    Use use;
};

Functions::Functions(const Definitions& definitions, const FirstPass& census, TraceBuilder& builder)
    : definitions_(definitions) {
    using Identity = std::tuple<std::string_view, std::string_view, std::string, OTF2_RegionRef>;
    std::map<Identity, std::size_t> numbers;
    std::vector<Group> groups;
    for (const Region& region : definitions.regions) {
        if (region.artificial) {
            layouts_.try_emplace(region.ref, Layout{.is_function = false});
            continue;
        }
        const Use* use = census.find(region.ref);
        if (use == nullptr) {
            new_names_.insert(region.ref);
            continue;
        }
        // Functions of two modules may have one name, and rdam exports each once.
        const Identity identity{definitions.text(region.name), definitions.text(region.canonical),
                                source_of(definitions, region), definitions.is_ours ? region.ref : 0};
        const auto [at, is_new] = numbers.try_emplace(identity, groups.size());
        if (is_new) groups.emplace_back();
        groups[at->second].regions.push_back(&region);
        groups[at->second].use.add(*use);
    }
    for (const Group& group : groups)
        add_function(group, builder);
}

void Functions::add_function(const Group& group, TraceBuilder& builder) {
    trace::FunctionInfo function = described(definitions_, *group.regions.front());
    // EZTrace records libraries alone.
    function.any_name = group.regions.front()->of_program && !definitions_.is_ours &&
                        !builder.info().process.recorder.starts_with("EZTrace");
    Layout layout;
    Parameters parameters{definitions_, function, layout};
    parameters.add_attributes(group.use.at_enter);
    parameters.add_parameters(group.use.parameters);
    parameters.add_fields(group.use.fields);
    left_out_ += parameters.add_results(group.use.at_leave);
    layout.function = builder.add_function(std::move(function));
    for (const Region* region : group.regions)
        layouts_.try_emplace(region->ref, layout);
}

namespace {

void note_given(Given& all, std::uint32_t ref, OTF2_Type type) {
    const auto same = [&](const auto& each) { return each.first == ref; };
    if (all.size() < kMaxParameters && std::ranges::none_of(all, same)) all.emplace_back(ref, type);
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

Use& FirstPass::use(OTF2_RegionRef region) {
    Known& known = known_[region % known_.size()];
    if (known.use == nullptr || known.region != region) known = {.region = region, .use = &regions_[region]};
    return *known.use;
}

void FirstPass::enter(std::uint64_t /*time*/, OTF2_RegionRef region,
                      std::span<const AttributeValue> attributes) {
    open_ = &use(region);
    ++open_->calls;
    note_all(open_->at_enter, attributes);
}

void FirstPass::leave(std::uint64_t /*time*/, OTF2_RegionRef region,
                      std::span<const AttributeValue> attributes) {
    open_ = nullptr;
    if (!attributes.empty()) note_all(use(region).at_leave, attributes);
}

void FirstPass::record(std::span<const FieldValue> fields) {
    if (open_ == nullptr) return;
    for (const FieldValue& each : fields)
        open_->fields.set(static_cast<std::size_t>(each.field));
}

void FirstPass::parameter(OTF2_ParameterRef parameter, const TypedValue& value) {
    if (open_ != nullptr) note_given(open_->parameters, parameter, value.type);
}

void FirstPass::add(const FirstPass& other) {
    whole_ = whole_ && other.whole_;
    program(other.command_);
    for (const auto& [region, use] : other.regions_)
        regions_[region].add(use);
}

const Use* FirstPass::find(OTF2_RegionRef region) const {
    const auto found = regions_.find(region);
    return found == regions_.end() || found->second.calls == 0 ? nullptr : &found->second;
}

}  // namespace rdam::inputs::otf2
