// Reads symbol tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/object/elf_image.h"

namespace rdam {

// A name for an address, as a symbol table has it.

enum class SymbolKind : std::uint8_t {
    function,
    ifunc,  ///< the address is that of a resolver that chooses the implementation when the program starts
    label,  ///< untyped, in executable code: hand-written assembly
    data,
};

enum class SymbolBinding : std::uint8_t { local, weak, global };

struct Symbol {
    std::string_view name;         ///< linkage name, without version
    std::string_view version;      ///< "GLIBC_2.2.5"; empty: none
    std::string_view source_file;  ///< of a local symbol, where the table says so: "file.c"
    std::uint64_t address = 0;     ///< link-time
    std::uint64_t size = 0;        ///< 0: not known
    SymbolKind kind = SymbolKind::function;
    SymbolBinding binding = SymbolBinding::local;
    bool default_version = false;  ///< what a new program links against (`@@`)
    bool exported = false;         ///< in the dynamic symbol table

    bool is_code() const { return kind != SymbolKind::data; }
};

/// Defined symbols of code and data of the table of type `table` (SHT_SYMTAB or SHT_DYNSYM), in its order.
/// Views point into `image`. Entries that leave their string table, or name a section that does not exist,
/// are left out.
std::vector<Symbol> read_symbols(const ElfImage& image, std::uint32_t table);

/// Names of the undefined functions and untyped symbols of the dynamic symbol table: what the object calls
/// elsewhere.
std::vector<std::string> read_imports(const ElfImage& image);

/// DT_SONAME; empty if there is none.
/// The strings of the dynamic section with this tag (DT_NEEDED, DT_SONAME, …), in its order.
std::vector<std::string> read_dynamic_strings(const ElfImage& image, std::int64_t tag);

std::string read_soname(const ElfImage& image);

}  // namespace rdam
