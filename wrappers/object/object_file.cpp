#include "wrappers/object/object_file.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <tuple>

#include "tools/base/demangle.h"
#include "wrappers/object/symbol_reader.h"

namespace rdam {

namespace {

bool has_section(const std::vector<ElfSection>& sections, std::string_view name) {
    return std::ranges::any_of(sections, [&](const ElfSection& section) {
        return section.name == name && section.header.sh_type != SHT_NOBITS && section.header.sh_size > 0;
    });
}

/// Those of `items`, which are sorted by it, of which `projection` gives the value.
template <class Item, class Value, class Projection>
std::span<const Item> all_with(const std::vector<Item>& items, const Value& value, Projection projection) {
    return {std::ranges::lower_bound(items, value, {}, projection),
            std::ranges::upper_bound(items, value, {}, projection)};
}

auto identity_of(const Symbol& symbol) {
    return std::tuple{symbol.address, symbol.name, symbol.version};
}

/// One entry per address, name and version: the two tables of an object repeat each other.
void merge(std::vector<Symbol>& symbols) {
    // An unversioned entry of one table is the versioned one of the other: it sorts first and is absorbed.
    std::ranges::sort(symbols,
                      [](const Symbol& a, const Symbol& b) { return identity_of(a) < identity_of(b); });
    std::vector<Symbol> merged;
    merged.reserve(symbols.size());
    for (const Symbol& symbol : symbols) {
        Symbol* last = merged.empty() ? nullptr : &merged.back();
        const bool same = last != nullptr && last->address == symbol.address && last->name == symbol.name &&
                          (last->version == symbol.version || last->version.empty());
        if (!same) {
            merged.push_back(symbol);
            continue;
        }
        last->exported = last->exported || symbol.exported;
        last->default_version = last->default_version || symbol.default_version;
        last->version = symbol.version;
        last->size = std::max(last->size, symbol.size);
        last->binding = std::max(last->binding, symbol.binding);
        if (last->source_file.empty()) last->source_file = symbol.source_file;
        if (last->kind == SymbolKind::label) last->kind = symbol.kind;
    }
    symbols = std::move(merged);
}

bool is_elf_for_this_machine(const ElfImage& image) {
    const GElf_Ehdr& header = image.header();
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
           header.e_machine == EM_X86_64;
}

}  // namespace

Result<ObjectFile> ObjectFile::open(const std::string& path, const std::string& debug_root) {
    auto image = ElfImage::open(path);
    if (!image) return tl::unexpected{image.error()};
    auto debug = find_debug_file(*image, debug_root);
    return build(std::move(*image), std::move(debug));
}

Result<ObjectFile> ObjectFile::from_bytes(std::vector<char> bytes, std::string name) {
    auto image = ElfImage::from_bytes(std::move(bytes), std::move(name));
    if (!image) return tl::unexpected{image.error()};
    return build(std::move(*image), std::nullopt);
}

Result<ObjectFile> ObjectFile::build(ElfImage image, std::optional<ElfImage> debug) {
    if (!is_elf_for_this_machine(image)) {
        return fail("{}: is not for x86-64: rdam records 64-bit x86 programs only", image.name());
    }
    if (image.header().e_type != ET_DYN && image.header().e_type != ET_EXEC) {
        return fail("{}: is neither an executable nor a shared object", image.name());
    }
    ObjectFile object{std::move(image)};
    object.debug_ = std::move(debug);
    object.sections_ = read_sections(object.image_);
    object.build_id_ = read_build_id(object.image_);
    object.soname_ = read_soname(object.image_);
    object.is_go_ =
        has_section(object.sections_, ".gopclntab") || has_section(object.sections_, ".go.buildinfo");
    object.frames_ = FrameTable::read(object.image_, object.sections_);
    object.imports_ = read_imports(object.image_);

    object.symbols_ = read_symbols(object.image_, SHT_SYMTAB);
    if (!object.symbols_.empty()) object.source_ = SymbolSource::own_table;
    if (object.symbols_.empty() && object.debug_) {
        object.symbols_ = read_symbols(*object.debug_, SHT_SYMTAB);
        if (!object.symbols_.empty()) object.source_ = SymbolSource::debug_file;
    }
    if (object.symbols_.empty()) object.mini_ = read_mini_debug(object.image_);
    if (object.mini_) {
        object.symbols_ = read_symbols(*object.mini_, SHT_SYMTAB);
        if (!object.symbols_.empty()) object.source_ = SymbolSource::mini_debug;
    }
    const auto exported = read_symbols(object.image_, SHT_DYNSYM);
    object.symbols_.insert(object.symbols_.end(), exported.begin(), exported.end());
    merge(object.symbols_);

    object.by_name_.resize(object.symbols_.size());
    std::iota(object.by_name_.begin(), object.by_name_.end(), 0U);
    std::ranges::stable_sort(object.by_name_, [&](std::uint32_t a, std::uint32_t b) {
        return object.symbols_[a].name < object.symbols_[b].name;
    });
    object.names_ = NameIndex{object.symbols_};
    return object;
}

std::span<const std::uint32_t> ObjectFile::named(std::string_view linkage_name) const {
    return all_with(by_name_, linkage_name, [&](std::uint32_t index) { return symbols_[index].name; });
}

std::span<const Symbol> ObjectFile::at(std::uint64_t address) const {
    return all_with(symbols_, address, &Symbol::address);
}

const Symbol* ObjectFile::covering(std::uint64_t address) const {
    constexpr int kMaxSteps = 64;  // nested symbols are rare and shallow
    const ElfSection* section = code_section(address);
    if (section == nullptr) return nullptr;
    auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
    const Symbol* nearest = nullptr;
    for (int steps = 0; after != symbols_.begin() && steps < kMaxSteps; ++steps) {
        const Symbol& symbol = *--after;
        if (!symbol.is_code()) continue;
        if (symbol.address < section->header.sh_addr) break;
        if (address - symbol.address < symbol.size) return &symbol;
        if (nearest == nullptr && symbol.size == 0) nearest = &symbol;
    }
    return nearest;
}

const Symbol* ObjectFile::next_code(std::uint64_t address) const {
    const ElfSection* section = code_section(address);
    auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
    while (after != symbols_.end() && !after->is_code())
        ++after;
    if (after == symbols_.end() || section == nullptr || !section->contains(after->address)) return nullptr;
    return &*after;
}

const ElfSection* ObjectFile::code_section(std::uint64_t address) const {
    for (const ElfSection& section : sections_) {
        constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
        if ((section.header.sh_flags & kCode) == kCode && section.contains(address)) return &section;
    }
    return nullptr;
}

std::span<const std::uint8_t> ObjectFile::code(std::uint64_t address, std::uint64_t size) const {
    const ElfSection* section = code_section(address);
    if (section == nullptr) return {};
    const auto bytes = section_bytes(*section);
    const std::uint64_t offset = address - section->header.sh_addr;
    if (offset >= bytes.size()) return {};
    return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

std::optional<CodeRange> ObjectFile::extent(std::uint64_t address) const {
    const ElfSection* section = code_section(address);
    if (section == nullptr) return std::nullopt;
    const std::uint64_t section_end = section->header.sh_addr + section->header.sh_size;
    std::uint64_t size = 0;
    for (const Symbol& symbol : at(address)) {
        if (symbol.is_code()) size = std::max(size, symbol.size);
    }
    if (size > 0 && size <= section_end - address) return CodeRange{address, address + size};
    if (const auto frame = frames_.find(address)) {
        return CodeRange{address, std::min(frame->end, section_end)};
    }
    std::uint64_t end = section_end;
    if (const Symbol* next = next_code(address)) end = std::min(end, next->address);
    if (const auto next = frames_.next(address)) end = std::min(end, next->begin);
    return CodeRange{address, end};
}

const ElfImage* ObjectFile::debug_image() const {
    if (has_section(sections_, ".debug_info") || has_section(sections_, ".zdebug_info")) {
        return &image_;
    }
    if (debug_ && has_section(read_sections(*debug_), ".debug_info")) return &*debug_;
    return nullptr;
}

NameIndex::NameIndex(const std::vector<Symbol>& symbols) {
    for (std::uint32_t index = 0; index < symbols.size(); ++index) {
        const Symbol& symbol = symbols[index];
        if (!symbol.is_code()) continue;
        all_pieces_.add(symbol.name);
        const CloneParts parts = split_clone(symbol.name);
        const bool cold = parts.suffix.find(".cold") != std::string_view::npos;
        const bool mangled = looks_mangled(symbol.name);
        if (!parts.suffix.empty() && !cold) clones_.push_back({parts.base, index});
        if (!cold && symbol.kind != SymbolKind::label) {
            named_.push_back({index, mangled, letters_of(symbol.name)});
            names_.push_back(symbol.name);
        }
        if (!mangled) continue;
        mangled_.push_back(index);
        pieces_.add(symbol.name);
    }
    std::ranges::sort(clones_, [](const Clone& a, const Clone& b) {
        return std::tie(a.base, a.symbol) < std::tie(b.base, b.symbol);
    });
}

std::span<const NameIndex::Clone> NameIndex::clones_of(std::string_view base) const {
    return all_with(clones_, base, &Clone::base);
}

std::span<const std::uint64_t> NameIndex::demangled_letters() const {
    std::call_once(demangled_->once, [&] {
        demangled_->letters.resize(named_.size());
        for (std::size_t at = 0; at < named_.size(); ++at) {
            if (!named_[at].mangled) continue;
            const DemangledName name = demangle(names_[at]);
            for (const std::string* text : {&name.brief, &name.signature, &name.full, &name.hashed})
                demangled_->letters[at] |= letters_of(*text);
        }
    });
    return demangled_->letters;
}

bool NameIndex::may_contain(std::string_view token) const {
    return !mangled_.empty() && pieces_.may_contain(token);
}

}  // namespace rdam
