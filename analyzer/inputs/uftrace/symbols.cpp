#include "analyzer/inputs/uftrace/symbols.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/base/file_name.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::uftrace {
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
