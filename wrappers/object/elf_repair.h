// Makes files readable that libelf and libdw of some age do not read.
#pragma once

#include <optional>
#include <vector>

namespace rdam {

/// A file without section headers (sstrip) has those that follow from its program headers and its dynamic
/// table: code, data, dynamic symbols, versions, relocations, and unwind tables. Sections that are compressed
/// with Zstandard, which elfutils before 0.189 and those built without it do not decompress, are
/// decompressed. nullopt: there is nothing to be done, or the file is damaged.
std::optional<std::vector<char>> repaired_elf(const char* file, std::size_t size);

}  // namespace rdam
