// The functions of an ELF file, with just what move_prologue() asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rdam::test {

struct ElfFunction {
    std::string name;
    std::uint64_t address = 0;  ///< link-time
    std::vector<std::uint8_t> body;
    std::uint32_t padding = 0;
    std::vector<std::uint8_t> padding_before;
};

struct ElfFunctions {
    std::vector<ElfFunction> functions;    ///< by ascending address, none twice
    std::vector<std::uint64_t> addresses;  ///< of all code symbols, ascending
};

/// Symbols come from the separate debug file of the build-id where there is one, else from the file itself.
/// Empty when the file cannot be read.
ElfFunctions read_functions(const std::string& path);

}  // namespace rdam::test
