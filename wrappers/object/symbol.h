// A name for an address, as a symbol table has it.
#pragma once

#include <cstdint>
#include <string_view>

namespace rdam {

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

}  // namespace rdam
