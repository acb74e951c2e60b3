// Reads symbol tables.
#pragma once

#include <string>
#include <vector>

#include "wrappers/object/elf_image.h"
#include "wrappers/object/symbol.h"

namespace rdam {

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
