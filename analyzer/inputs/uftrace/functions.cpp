#include "analyzer/inputs/uftrace/functions.h"

#include <algorithm>

#include "tools/base/demangle.h"
#include "tools/base/file_name.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs::uftrace {
namespace {

constexpr std::uint64_t kMaxMap = std::uint64_t{256} << 20U;
/// The rest share one: a damaged file may have another address in each record.
constexpr std::uint64_t kMaxNameless = 100'000;
/// The functions of a script that uftrace's module for Python has traced; their addresses are numbers.
constexpr std::string_view kPython = "python.fake";

ValueKind kind_of(ValueFormat format) {
    switch (format) {
        case ValueFormat::unsigned_number:
            return ValueKind::unsigned_integer;
        case ValueFormat::pointer:
            return ValueKind::pointer;
        case ValueFormat::enumeration:
        case ValueFormat::text:
            return ValueKind::enumeration;
        case ValueFormat::floating:
            return ValueKind::floating;
        default:
            return ValueKind::signed_integer;
    }
}

std::string type_of(const ValueSpec& value) {
    switch (value.format) {
        case ValueFormat::number:
        case ValueFormat::signed_number:
            return fmt::format("i{}", value.size * 8);
        case ValueFormat::unsigned_number:
            return fmt::format("u{}", value.size * 8);
        case ValueFormat::pointer:
            return "pointer";
        case ValueFormat::enumeration:
            return "enum " + value.type;
        case ValueFormat::character:
            return "char";
        case ValueFormat::floating:
            return fmt::format("f{}", value.size * 8);
        default:
            return value.type;
    }
}

std::vector<trace::ParameterInfo> parameters_of(const std::vector<ValueSpec>& values) {
    std::vector<trace::ParameterInfo> all;
    for (const ValueSpec& value : values)
        if (value.format != ValueFormat::structure)
            all.push_back(value.format == ValueFormat::text
                              ? text_parameter(value.name)
                              : parameter(value.name, kind_of(value.format), type_of(value)));
    return all;
}

/// uftrace numbers arguments, and those that are no floating-point numbers by themselves: `arg1`.
void mark_keys(trace::FunctionInfo& function) {
    const CatalogueFunction* known = Catalogue::builtin().find(function.linkage_name);
    if (known == nullptr) return;
    std::size_t number = 0;
    for (const CatalogueParameter& each : known->parameters) {
        if (each.kind == ValueKind::floating) continue;
        const auto found = std::ranges::find(function.parameters, fmt::format("arg{}", ++number),
                                             &trace::ParameterInfo::name);
        if (found == function.parameters.end()) continue;
        found->key = std::ranges::find(known->keys, each.name) != known->keys.end();
        found->by_size = std::ranges::find(known->sizes, each.name) != known->sizes.end();
    }
}

}  // namespace

Functions::Functions(const Folder& folder, const Tasks& tasks, const Info& info, TraceBuilder& trace)
    : folder_(folder), tasks_(tasks), trace_(trace), signatures_(info), spaces_(tasks.sessions().size()) {}

Result<const Functions::Space*> Functions::space_of(const SessionSpan& span) {
    Space& space = spaces_[span.number];
    if (space.loaded) return &space;
    space.loaded = true;
    const std::string name = fmt::format("sid-{}.map", span.session->id);
    if (!folder_.has(name)) return &space;
    const auto text = folder_.text(name, kMaxMap);
    if (!text) return tl::unexpected{text.error()};
    space.mappings = parse_map(*text);
    return &space;
}

Result<const Module*> Functions::module_at(const std::string& path, const std::string& build_id) {
    auto& known = modules_[{path, build_id}];
    if (known == nullptr) {
        auto module = Module::load(folder_, path, build_id);
        if (!module) return tl::unexpected{module.error()};
        known = std::make_unique<Module>(*std::move(module));
    }
    return known.get();
}

Result<Callee> Functions::find(const SessionSpan& span, std::uint64_t time, std::uint64_t address) {
    if (span.session == nullptr) return callee_without_name(address);
    const auto space = space_of(span);
    if (!space) return tl::unexpected{space.error()};
    const auto& mappings = (*space)->mappings;
    const auto after = std::ranges::upper_bound(mappings, address, {}, &Mapping::begin);
    if (after != mappings.begin() && address < std::prev(after)->end) {
        const Mapping& mapping = *std::prev(after);
        const auto module = module_at(mapping.path, mapping.build_id);
        if (!module) return tl::unexpected{module.error()};
        if (const CodeSymbol* symbol = (*module)->find(address - mapping.begin))
            return callee_of(**module, *symbol);
    }
    const auto& libraries = span.session->libraries;
    for (auto each = libraries.rbegin(); each != libraries.rend(); ++each) {
        if (each->time > time || each->base > address) continue;
        const auto module = module_at(each->path, {});
        if (!module) return tl::unexpected{module.error()};
        if (const CodeSymbol* symbol = (*module)->find(address - each->base))
            return callee_of(**module, *symbol);
    }
    const auto scripts = module_at(std::string{kPython}, {});
    if (!scripts) return tl::unexpected{scripts.error()};
    if (const CodeSymbol* symbol = (*scripts)->find(address)) return callee_of(**scripts, *symbol);
    return callee_without_name(address);
}

trace::FunctionInfo Functions::describe(const Module& module, const CodeSymbol& symbol) const {
    trace::FunctionInfo info;
    info.linkage_name = symbol.name;
    info.name = display_name(symbol.name);
    info.module = file_name(module.path());
    info.object = trace_.object(module.path());
    info.address = symbol.address;
    info.size = symbol.size;
    if (const DebugNotes* notes = module.notes_of(symbol.address)) info.source = notes->source;
    return info;
}

Callee Functions::callee_of(const Module& module, const CodeSymbol& symbol) {
    const auto [at, is_new] = known_.try_emplace(&symbol);
    if (!is_new) return at->second;
    Described described{.linkage_name = symbol.name,
                        .module = file_name(module.path()),
                        .linkage_table = symbol.kind == 'P',
                        .of_program = false,
                        .debug_arguments = {},
                        .debug_results = {}};
    const auto runs = [&](const Session& each) { return each.executable == module.path(); };
    described.of_program = std::ranges::any_of(tasks_.sessions(), runs);
    if (const DebugNotes* notes = module.notes_of(symbol.address)) {
        described.debug_arguments = notes->arguments;
        described.debug_results = notes->results;
    }
    kept_.push_back(std::make_unique<Signature>(signatures_.of(described)));
    trace::FunctionInfo info = describe(module, symbol);
    info.parameters = parameters_of(kept_.back()->arguments);
    info.result = parameters_of(kept_.back()->results);
    for (trace::ParameterInfo& each : info.result)
        each.name.clear();
    mark_keys(info);
    at->second = {.function = trace_.add_function(std::move(info)), .signature = kept_.back().get()};
    return at->second;
}

Callee Functions::callee_without_name(std::uint64_t address) {
    static const Signature kNothing;
    if (nameless_ >= kMaxNameless) address = 0;
    const auto [at, is_new] = by_address_.try_emplace(address);
    if (!is_new) return at->second;
    ++nameless_;
    trace::FunctionInfo info;
    info.name = fmt::format("<{:x}>", address);
    info.linkage_name = info.name;
    info.object = trace_.object("");
    info.address = address;
    at->second = {.function = trace_.add_function(std::move(info)), .signature = &kNothing};
    return at->second;
}

}  // namespace rdam::inputs::uftrace
