// An executable or shared object with all that can be known about its functions without DWARF.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/piece_filter.h"
#include "tools/base/result.h"
#include "wrappers/object/elf_image.h"
#include "wrappers/object/frame_table.h"
#include "wrappers/object/symbol_reader.h"

namespace rdam {

// Which symbols of an object may match a name that is not spelled as in the symbol table.

/// The characters of `text`, those with the same six low bits taken for one. What contains a text has all
/// of its characters.
constexpr std::uint64_t letters_of(std::string_view text) {
    std::uint64_t letters = 0;
    for (const char c : text)
        letters |= std::uint64_t{1} << (static_cast<unsigned char>(c) & 63U);
    return letters;
}

/// Immutable once built; its views refer to the same memory as those of the symbols.
class NameIndex {
  public:
    NameIndex() = default;
    explicit NameIndex(const std::vector<Symbol>& symbols);

    /// A compiler's copy of a function: code with a suffix, cold parts left out.
    struct Clone {
        std::string_view base;
        std::uint32_t symbol = 0;
    };
    const std::vector<Clone>& clones() const { return clones_; }  ///< by base, then symbol
    std::span<const Clone> clones_of(std::string_view base) const;

    /// Code that a glob may mean: no label, no cold part.
    struct Named {
        std::uint32_t symbol = 0;
        bool mangled = false;
        std::uint64_t letters = 0;  ///< of the name as it stands in the symbol table
    };
    const std::vector<Named>& named() const { return named_; }  ///< by symbol
    /// The letters of all demangled forms, by index into named(); 0 for what is not mangled. Demangles every
    /// name the first time. Safe for several threads.
    std::span<const std::uint64_t> demangled_letters() const;

    /// Code whose name is mangled, ascending.
    const std::vector<std::uint32_t>& mangled() const { return mangled_; }
    /// False: no mangled name contains `token`.
    bool may_contain(std::string_view token) const;
    /// False: no name of code in the symbol table contains `piece`.
    bool may_be_named(std::string_view piece) const { return all_pieces_.may_contain(piece); }

  private:
    struct Demangled {
        std::once_flag once;
        std::vector<std::uint64_t> letters;
    };

    std::vector<Clone> clones_;
    std::vector<Named> named_;
    std::vector<std::string_view> names_;  // as named_
    std::unique_ptr<Demangled> demangled_ = std::make_unique<Demangled>();
    std::vector<std::uint32_t> mangled_;
    PieceFilter pieces_;      // of the mangled names
    PieceFilter all_pieces_;  // of all names of code
};

/// Where the best symbol table came from.
enum class SymbolSource : std::uint8_t { exported_only, own_table, debug_file, mini_debug };

/// Symbols of .symtab (the object's, else its debug file's, else .gnu_debugdata's) and .dynsym, merged.
/// All addresses are link-time. Thread-compatible; const members may be called by several threads at a time,
/// except where said.
class ObjectFile {
  public:
    /// Errors: unreadable, not ELF, not for x86-64, neither executable nor shared object.
    static Result<ObjectFile> open(const std::string& path, const std::string& debug_root = kDebugRoot);
    /// Reads the object from bytes; without a path there is no separate debug file beside it.
    static Result<ObjectFile> from_bytes(std::vector<char> bytes, std::string name);

    const std::string& path() const { return image_.name(); }
    const std::string& soname() const { return soname_; }
    const std::string& build_id() const { return build_id_; }
    bool is_go() const { return is_go_; }
    SymbolSource symbol_source() const { return source_; }

    /// Sorted by address, then by name; one entry per name, version and address.
    const std::vector<Symbol>& symbols() const { return symbols_; }
    /// Indices into symbols() of those with this linkage name.
    std::span<const std::uint32_t> named(std::string_view linkage_name) const;
    /// For names that are not linkage names.
    const NameIndex& names() const { return names_; }
    /// The symbols at exactly this address.
    std::span<const Symbol> at(std::uint64_t address) const;
    /// The code symbol that covers the address; where sizes are missing, the nearest one before it.
    const Symbol* covering(std::uint64_t address) const;
    /// The next code symbol at a higher address; nothing at the end of the section.
    const Symbol* next_code(std::uint64_t address) const;
    /// Whether it is called from elsewhere: functions it imports.
    const std::vector<std::string>& imports() const { return imports_; }

    const FrameTable& frames() const { return frames_; }
    const std::vector<ElfSection>& sections() const { return sections_; }
    /// The section with the code at `address`; nullptr where there is none, or it is not executable.
    const ElfSection* code_section(std::uint64_t address) const;
    /// Bytes of code at `address` up to the end of its section, at most `size`.
    std::span<const std::uint8_t> code(std::uint64_t address, std::uint64_t size) const;
    /// Extent of the function that begins at `address`: the symbol's size, else the frame description's, else
    /// the distance to what comes next. Nothing: no code there.
    std::optional<CodeRange> extent(std::uint64_t address) const;

    const ElfImage& image() const { return image_; }
    /// The image that holds .debug_info: this one or its debug file; nullptr: none.
    const ElfImage* debug_image() const;

  private:
    explicit ObjectFile(ElfImage image) : image_{std::move(image)} {}
    static Result<ObjectFile> build(ElfImage image, std::optional<ElfImage> debug);

    ElfImage image_;
    std::optional<ElfImage> debug_;
    std::optional<ElfImage> mini_;
    std::string soname_;
    std::string build_id_;
    bool is_go_ = false;
    SymbolSource source_ = SymbolSource::exported_only;
    std::vector<ElfSection> sections_;
    std::vector<Symbol> symbols_;
    std::vector<std::uint32_t> by_name_;  // indices into symbols_
    NameIndex names_;
    std::vector<std::string> imports_;
    FrameTable frames_;
};

}  // namespace rdam
