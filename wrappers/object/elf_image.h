// One opened ELF file: ownership, and the basic reads on which everything else builds.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam {

/// Owns a libelf handle and what it reads from. Movable; views obtained from it live as long as it does.
/// Thread-compatible: one thread at a time per image.
class ElfImage {
  public:
    /// What repaired_elf() can mend is mended. Errors: no such file, unreadable, not an ELF file.
    static Result<ElfImage> open(const std::string& path);
    /// Reads the file from bytes (a decompressed section, a test, a fuzzer); `name` is for messages.
    static Result<ElfImage> from_bytes(std::vector<char> bytes, std::string name);

    ~ElfImage();
    ElfImage(const ElfImage&) = delete;
    ElfImage& operator=(const ElfImage&) = delete;
    ElfImage(ElfImage&& other) noexcept;
    ElfImage& operator=(ElfImage&& other) noexcept;

    Elf* handle() const { return elf_; }
    const std::string& name() const { return name_; }
    const GElf_Ehdr& header() const { return header_; }

  private:
    ElfImage() = default;
    Result<void> check();
    void repair();
    void close() noexcept;

    Elf* elf_ = nullptr;
    int fd_ = -1;
    std::unique_ptr<std::vector<char>> bytes_;
    std::string name_;
    GElf_Ehdr header_{};
};

struct ElfSection {
    Elf_Scn* handle = nullptr;
    std::string_view name;
    GElf_Shdr header{};

    bool contains(std::uint64_t address) const {
        return address >= header.sh_addr && address - header.sh_addr < header.sh_size;
    }
};

/// All sections but the null one, in the file's order. Empty when the section headers are missing or broken.
std::vector<ElfSection> read_sections(const ElfImage& image);

/// The bytes of a section as they stand in the file (decompressed if it is compressed); empty for NOBITS and
/// errors.
std::span<const std::uint8_t> section_bytes(const ElfSection& section);

/// Program headers, in order.
std::vector<GElf_Phdr> read_segments(const ElfImage& image);

std::string to_hex(std::span<const std::uint8_t> bytes);

/// The GNU build-id in lower-case hex; empty if there is none.
std::string read_build_id(const ElfImage& image);

/// The NUL-terminated string at `offset`, or an empty one where that leaves the table.
std::string_view string_at(std::span<const std::uint8_t> table, std::uint64_t offset);

// Where the symbols of a stripped object are: the separate debug file and the embedded mini debug data.

/// Where distributions put debug files. Tests name another one.
inline constexpr const char* kDebugRoot = "/usr/lib/debug";

/// The separate debug file of `object`, looked for as gdb does: `<root>/.build-id/xx/yyyy.debug`, what debuginfod-find
/// has fetched before (in $DEBUGINFOD_CACHE_PATH, else debuginfod_client in $XDG_CACHE_HOME or ~/.cache), then the name of .gnu_debuglink beside the object, in `.debug/` beside it and in `<root>/<directory of the
/// object>/`. A file is taken only if it belongs: same build-id, or, where one of them has none, the CRC of
/// .gnu_debuglink.
std::optional<ElfImage> find_debug_file(const ElfImage& object, const std::string& debug_root);

/// All places that are searched for debug information of the object at `path`, whether or not there is a
/// file: those of find_debug_file(), and of the file that several debug files share (dwz), if any.
std::vector<std::string> debug_places(const std::string& path, const std::string& debug_root = kDebugRoot);

/// The symbol table embedded in .gnu_debugdata (xz). None: there is none, or it is damaged or absurdly large.
std::optional<ElfImage> read_mini_debug(const ElfImage& object);

}  // namespace rdam
