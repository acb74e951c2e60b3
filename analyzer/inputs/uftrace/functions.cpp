#include "analyzer/inputs/uftrace/functions.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/base/demangle.h"
#include "tools/base/files.h"
#include "tools/base/text_lines.h"
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

namespace {

constexpr std::uint64_t kMaxSymbols = std::uint64_t{1} << 30U;
constexpr std::string_view kPathMark = "# path name: ";
constexpr std::string_view kBuildMark = "# build-id: ";

/// The number at the beginning of `text`, which is removed from it.
std::optional<std::uint64_t> take_hex(std::string_view& text) {
    std::uint64_t value = 0;
    const auto done = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (done.ec != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(done.ptr - text.data()));
    return value;
}

bool take_char(std::string_view& text, char wanted) {
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<Mapping> mapping_in(std::string_view line) {
    constexpr std::string_view kBuildId = " build-id:";
    Mapping mapping;
    const auto words = words_of(line, 6);
    if (words.size() < 6 || !words[5].starts_with('/')) return std::nullopt;
    std::string_view range = words[0];
    const auto begin = take_hex(range);
    const auto end = begin && take_char(range, '-') ? take_hex(range) : std::nullopt;
    if (!end || *end <= *begin) return std::nullopt;
    const std::string_view rest = words[5];
    const auto id = rest.rfind(kBuildId);
    mapping.begin = *begin;
    mapping.end = *end;
    mapping.path = rest.substr(0, id);
    if (id != std::string_view::npos) mapping.build_id = rest.substr(id + kBuildId.size());
    return mapping;
}

/// `address [size] kind name`; nothing: another line.
std::optional<CodeSymbol> symbol_in(std::string_view line) {
    CodeSymbol symbol;
    const auto address = take_hex(line);
    if (!address || !take_char(line, ' ') || line.empty()) return std::nullopt;
    symbol.address = *address;
    if (line.front() >= '0' && line.front() <= '9') {
        symbol.size = take_hex(line).value_or(0);
        if (!take_char(line, ' ') || line.empty()) return std::nullopt;
    }
    symbol.kind = line.front();
    line.remove_prefix(1);
    if (!take_char(line, ' ')) return std::nullopt;
    symbol.name = line.substr(0, line.find('\t'));
    return symbol;
}

/// Whether the file is that of another object with the same name.
bool is_of_other(std::string_view text, std::string_view path, std::string_view build_id) {
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line) && line.starts_with('#')) {
        if (line.starts_with(kPathMark) && line.substr(kPathMark.size()) != path) return true;
        if (line.starts_with(kBuildMark) && !build_id.empty() && line.substr(kBuildMark.size()) != build_id)
            return true;
    }
    return false;
}

/// What uftrace appends to the name of a second object with the same name.
std::string other_name(std::string_view path, std::string_view build_id) {
    if (!build_id.empty()) return std::string{build_id.substr(0, 4)};
    std::uint16_t sum = 0;
    for (const char c : path)
        sum = static_cast<std::uint16_t>(sum + c);
    return fmt::format("{:04x}", sum);
}

/// The text of `object.sym` or `object.dbg`; empty: there is none.
Result<std::string> text_about(const Folder& folder, std::string_view path, std::string_view build_id,
                               std::string_view ending) {
    const std::string name = fmt::format("{}.{}", file_name(path), ending);
    if (folder.has(name)) {
        auto text = folder.text(name, kMaxSymbols);
        if (!text || !is_of_other(*text, path, build_id)) return text;
    }
    const std::string other = fmt::format("{}-{}.{}", file_name(path), other_name(path, build_id), ending);
    if (folder.has(other)) return folder.text(other, kMaxSymbols);
    return std::string{};
}

}  // namespace

std::vector<Mapping> parse_map(std::string_view text) {
    std::vector<Mapping> all;
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line)) {
        auto mapping = mapping_in(line);
        if (!mapping) continue;
        if (!all.empty() && all.back().path == mapping->path) {
            all.back().end = std::max(all.back().end, mapping->end);
        } else {
            all.push_back(*std::move(mapping));
        }
    }
    std::ranges::stable_sort(all, {}, &Mapping::begin);
    return all;
}

Result<Module> Module::load(const Folder& folder, std::string path, std::string_view build_id) {
    auto symbols = text_about(folder, path, build_id, "sym");
    if (!symbols) return tl::unexpected{symbols.error()};
    auto notes = text_about(folder, path, build_id, "dbg");
    if (!notes) return tl::unexpected{notes.error()};
    return parse(std::move(path), *std::move(symbols), *std::move(notes));
}

Module Module::parse(std::string path, std::string symbols, std::string notes) {
    Module module;
    module.path_ = std::move(path);
    module.symbol_text_.assign(symbols.begin(), symbols.end());
    module.note_text_.assign(notes.begin(), notes.end());
    module.take_symbols({module.symbol_text_.data(), module.symbol_text_.size()});
    module.take_notes({module.note_text_.data(), module.note_text_.size()});
    return module;
}

void Module::take_symbols(std::string_view text) {
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line))
        if (const auto symbol = symbol_in(line)) symbols_.push_back(*symbol);
    std::ranges::stable_sort(symbols_, {}, &CodeSymbol::address);
    // A file without sizes ends with a symbol that only marks the end.
    for (std::size_t i = symbols_.size(); i > 0; --i) {
        CodeSymbol& symbol = symbols_[i - 1];
        if (symbol.size != 0 || i == symbols_.size()) continue;
        const CodeSymbol& next = symbols_[i];
        symbol.size = symbol.address == next.address ? next.size : next.address - symbol.address;
    }
    const auto is_mark = [](const CodeSymbol& each) { return each.kind == '?' || each.size == 0; };
    symbols_.erase(std::remove_if(symbols_.begin(), symbols_.end(), is_mark), symbols_.end());
    // Of several names for an address uftrace takes the last.
    const auto same = [](const CodeSymbol& a, const CodeSymbol& b) { return a.address == b.address; };
    const auto kept = std::unique(symbols_.rbegin(), symbols_.rend(), same);
    symbols_.erase(symbols_.begin(), kept.base());
}

void Module::take_notes(std::string_view text) {
    TextLines lines{text};
    std::string_view line;
    DebugNotes* notes = nullptr;
    while (lines.next(line)) {
        if (line.size() < 3 || line[1] != ':' || line[2] != ' ') continue;
        std::string_view value = line.substr(3);
        if (line[0] == 'F') {
            const auto address = take_hex(value);
            notes = address ? &notes_[*address] : nullptr;
        } else if (notes != nullptr && line[0] == 'A') {
            notes->arguments = value;
        } else if (notes != nullptr && line[0] == 'R') {
            notes->results = value;
        } else if (notes != nullptr && line[0] == 'L') {
            const auto words = words_of(value, 2);
            if (words.size() == 2) notes->source = fmt::format("{}:{}", words[1], words[0]);
        }
    }
}

const CodeSymbol* Module::find(std::uint64_t relative) const {
    const auto after = std::ranges::upper_bound(symbols_, relative, {}, &CodeSymbol::address);
    if (after == symbols_.begin()) return nullptr;
    const CodeSymbol& symbol = *std::prev(after);
    return relative - symbol.address < symbol.size ? &symbol : nullptr;
}

const DebugNotes* Module::notes_of(std::uint64_t address) const {
    const auto at = notes_.find(address);
    return at == notes_.end() ? nullptr : &at->second;
}

}  // namespace rdam::inputs::uftrace
