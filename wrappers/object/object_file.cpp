#include "wrappers/object/object_file.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <tuple>

#include "tools/base/demangle.h"
#include "wrappers/object/symbol_reader.h"

namespace rdam {

struct ObjectFile::State {
    std::optional<ElfImage> image;
    std::optional<ElfImage> debug;
    std::optional<ElfImage> mini;
    std::string soname;
    std::string build_id;
    bool is_go = false;
    SymbolSource source = SymbolSource::exported_only;
    std::vector<ElfSection> sections;
    std::vector<Symbol> symbols;
    std::vector<std::uint32_t> by_name;
    NameIndex names;
    std::vector<std::string> imports;
    FrameTable frames;
};

namespace {

bool has_section(const std::vector<ElfSection>& sections, std::string_view name) {
    return std::any_of(sections.begin(), sections.end(), [&](const ElfSection& section) {
        return section.name == name && section.header.sh_type != SHT_NOBITS && section.header.sh_size > 0;
    });
}

auto identity_of(const Symbol& symbol) {
    return std::tuple{symbol.address, symbol.name, symbol.version};
}

/// One entry per address, name and version: the two tables of an object repeat each other.
void merge(std::vector<Symbol>& symbols) {
    // An unversioned entry of one table is the versioned one of the other: it sorts first and is absorbed.
    std::sort(symbols.begin(), symbols.end(),
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

ObjectFile::ObjectFile() : state_{std::make_unique<State>()} {}
ObjectFile::~ObjectFile() = default;
ObjectFile::ObjectFile(ObjectFile&&) noexcept = default;
ObjectFile& ObjectFile::operator=(ObjectFile&&) noexcept = default;

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
    ObjectFile object;
    State& state = *object.state_;
    state.image = std::move(image);
    state.debug = std::move(debug);
    state.sections = read_sections(*state.image);
    state.build_id = read_build_id(*state.image);
    state.soname = read_soname(*state.image);
    state.is_go = has_section(state.sections, ".gopclntab") || has_section(state.sections, ".go.buildinfo");
    state.frames = FrameTable::read(*state.image, state.sections);
    state.imports = read_imports(*state.image);

    state.symbols = read_symbols(*state.image, SHT_SYMTAB);
    if (!state.symbols.empty()) state.source = SymbolSource::own_table;
    if (state.symbols.empty() && state.debug) {
        state.symbols = read_symbols(*state.debug, SHT_SYMTAB);
        if (!state.symbols.empty()) state.source = SymbolSource::debug_file;
    }
    if (state.symbols.empty()) state.mini = read_mini_debug(*state.image);
    if (state.mini) {
        state.symbols = read_symbols(*state.mini, SHT_SYMTAB);
        if (!state.symbols.empty()) state.source = SymbolSource::mini_debug;
    }
    const auto exported = read_symbols(*state.image, SHT_DYNSYM);
    state.symbols.insert(state.symbols.end(), exported.begin(), exported.end());
    merge(state.symbols);

    state.by_name.resize(state.symbols.size());
    std::iota(state.by_name.begin(), state.by_name.end(), 0U);
    std::stable_sort(state.by_name.begin(), state.by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
        return state.symbols[a].name < state.symbols[b].name;
    });
    state.names = NameIndex{state.symbols};
    return object;
}

const NameIndex& ObjectFile::names() const {
    return state_->names;
}
const std::string& ObjectFile::path() const {
    return state_->image->name();
}
const std::string& ObjectFile::soname() const {
    return state_->soname;
}
const std::string& ObjectFile::build_id() const {
    return state_->build_id;
}
bool ObjectFile::is_go() const {
    return state_->is_go;
}
SymbolSource ObjectFile::symbol_source() const {
    return state_->source;
}
const std::vector<Symbol>& ObjectFile::symbols() const {
    return state_->symbols;
}
const std::vector<std::string>& ObjectFile::imports() const {
    return state_->imports;
}
const FrameTable& ObjectFile::frames() const {
    return state_->frames;
}
const std::vector<ElfSection>& ObjectFile::sections() const {
    return state_->sections;
}
const ElfImage& ObjectFile::image() const {
    return *state_->image;
}

std::span<const std::uint32_t> ObjectFile::named(std::string_view linkage_name) const {
    const auto& symbols = state_->symbols;
    const auto begin = std::lower_bound(
        state_->by_name.begin(), state_->by_name.end(), linkage_name,
        [&](std::uint32_t index, std::string_view name) { return symbols[index].name < name; });
    auto end = begin;
    while (end != state_->by_name.end() && symbols[*end].name == linkage_name)
        ++end;
    return {begin, end};
}

std::span<const Symbol> ObjectFile::at(std::uint64_t address) const {
    const auto& symbols = state_->symbols;
    const auto begin =
        std::lower_bound(symbols.begin(), symbols.end(), address,
                         [](const Symbol& symbol, std::uint64_t value) { return symbol.address < value; });
    auto end = begin;
    while (end != symbols.end() && end->address == address)
        ++end;
    return {begin, end};
}

const Symbol* ObjectFile::covering(std::uint64_t address) const {
    constexpr int kMaxSteps = 64;  // nested symbols are rare and shallow
    const auto& symbols = state_->symbols;
    const ElfSection* section = code_section(address);
    if (section == nullptr) return nullptr;
    auto after =
        std::upper_bound(symbols.begin(), symbols.end(), address,
                         [](std::uint64_t value, const Symbol& symbol) { return value < symbol.address; });
    const Symbol* nearest = nullptr;
    for (int steps = 0; after != symbols.begin() && steps < kMaxSteps; ++steps) {
        const Symbol& symbol = *--after;
        if (!symbol.is_code()) continue;
        if (symbol.address < section->header.sh_addr) break;
        if (address - symbol.address < symbol.size) return &symbol;
        if (nearest == nullptr && symbol.size == 0) nearest = &symbol;
    }
    return nearest;
}

const Symbol* ObjectFile::next_code(std::uint64_t address) const {
    const auto& symbols = state_->symbols;
    const ElfSection* section = code_section(address);
    auto after =
        std::upper_bound(symbols.begin(), symbols.end(), address,
                         [](std::uint64_t value, const Symbol& symbol) { return value < symbol.address; });
    while (after != symbols.end() && !after->is_code())
        ++after;
    if (after == symbols.end() || section == nullptr || !section->contains(after->address)) return nullptr;
    return &*after;
}

const ElfSection* ObjectFile::code_section(std::uint64_t address) const {
    for (const ElfSection& section : state_->sections) {
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
    if (const auto frame = state_->frames.find(address)) {
        return CodeRange{address, std::min(frame->end, section_end)};
    }
    std::uint64_t end = section_end;
    if (const Symbol* next = next_code(address)) end = std::min(end, next->address);
    if (const auto next = state_->frames.next(address)) end = std::min(end, next->begin);
    return CodeRange{address, end};
}

const ElfImage* ObjectFile::debug_image() const {
    if (has_section(state_->sections, ".debug_info") || has_section(state_->sections, ".zdebug_info")) {
        return &*state_->image;
    }
    if (state_->debug && has_section(read_sections(*state_->debug), ".debug_info")) return &*state_->debug;
    return nullptr;
}

std::string ObjectFile::debug_path() const {
    return state_->debug ? state_->debug->name() : std::string{};
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
    std::sort(clones_.begin(), clones_.end(), [](const Clone& a, const Clone& b) {
        return std::tie(a.base, a.symbol) < std::tie(b.base, b.symbol);
    });
}

std::span<const NameIndex::Clone> NameIndex::clones_of(std::string_view base) const {
    const auto begin =
        std::lower_bound(clones_.begin(), clones_.end(), base,
                         [](const Clone& clone, std::string_view name) { return clone.base < name; });
    auto end = begin;
    while (end != clones_.end() && end->base == base)
        ++end;
    return {begin, end};
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
