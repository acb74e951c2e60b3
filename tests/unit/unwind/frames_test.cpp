// The unwind tables of moved instructions, of all functions of real libraries: libdw and a reader of landing
// tables find for each piece of moved code what they find for the instruction that it stands for.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/unwind/reader.h"
#include "wrappers/entry/entry_points.h"
#include "wrappers/entry/moved_frames.h"
#include "wrappers/entry/relocate.h"
#include "wrappers/object/object_file.h"

namespace {

using rdam::ElfSection;
using rdam::MovedPrologue;
using rdam::MovedStep;
using rdam::ObjectFile;
using rdam::test::Described;
using rdam::test::landings;
using rdam::test::Memory;
using rdam::test::read_descriptions;

using Bytes = std::vector<std::uint8_t>;

constexpr unsigned kRsp = 7;
constexpr int kRegisters = 17;
/// From a function to where its moved code is taken to be: neither a multiple of a page nor before it.
constexpr std::uint64_t kAway = 0x12345670;

/// An ELF file that is nothing but an .eh_frame at an address, for libdw.
class FrameFile {
  public:
    FrameFile(std::span<const std::uint8_t> frames, std::uint64_t address) {
        constexpr char kNames[] = "\0.eh_frame\0.shstrtab";
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_DYN;
        header.e_machine = EM_X86_64;
        header.e_version = EV_CURRENT;
        header.e_ehsize = sizeof header;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 3;
        header.e_shstrndx = 2;
        Elf64_Shdr sections[3] = {};
        sections[1] = {1, SHT_PROGBITS, SHF_ALLOC, address, 0, frames.size() + 4, 0, 0, 8, 0};
        sections[2] = {11, SHT_STRTAB, 0, 0, 0, sizeof kNames, 0, 0, 1, 0};
        header.e_shoff = sizeof header;
        sections[1].sh_offset = sizeof header + sizeof sections;
        sections[2].sh_offset = sections[1].sh_offset + frames.size() + 4;
        put(&header, sizeof header);
        put(sections, sizeof sections);
        put(frames.data(), frames.size());
        put("\0\0\0", 4);
        put(kNames, sizeof kNames);
        elf_ = elf_memory(bytes_.data(), bytes_.size());
        frames_ = dwarf_getcfi_elf(elf_);
    }
    ~FrameFile() {
        dwarf_cfi_end(frames_);
        elf_end(elf_);
    }
    FrameFile(const FrameFile&) = delete;
    FrameFile& operator=(const FrameFile&) = delete;
    FrameFile(FrameFile&&) = delete;
    FrameFile& operator=(FrameFile&&) = delete;

    Dwarf_CFI* frames() const { return frames_; }

  private:
    void put(const void* from, std::size_t size) {
        const auto* first = static_cast<const char*>(from);
        bytes_.insert(bytes_.end(), first, first + size);
    }

    std::vector<char> bytes_;
    Elf* elf_ = nullptr;
    Dwarf_CFI* frames_ = nullptr;
};

std::string words(const Dwarf_Op* operations, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += fmt::format(" {:#x}({},{})", operations[i].atom, operations[i].number, operations[i].number2);
    return text;
}

/// Where the frame is, and each register of the caller, `pushed` bytes above an end of the stack. Empty: not
/// known.
std::string rules(Dwarf_CFI* frames, std::uint64_t address, std::uint32_t pushed) {
    Dwarf_Frame* frame = nullptr;
    if (frames == nullptr || dwarf_cfi_addrframe(frames, address, &frame) != 0) return {};
    bool is_signal = false;
    std::string text =
        fmt::format("returns to {}{};", dwarf_frame_info(frame, nullptr, nullptr, &is_signal), is_signal);
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_frame_cfa(frame, &operations, &count) == 0) {
        std::vector<Dwarf_Op> own(operations, operations + count);
        if (count == 1 && own[0].atom == DW_OP_bregx && own[0].number == kRsp) own[0].number2 += pushed;
        text += words(own.data(), own.size());
    }
    for (int i = 0; i < kRegisters; ++i) {
        Dwarf_Op some[3];
        if (dwarf_frame_register(frame, i, some, &operations, &count) != 0) continue;
        text += fmt::format("; {}:{}{}", i,
                            operations == nullptr ? " none"
                            : operations == some  ? ""
                                                  : " at",
                            words(operations, count));
    }
    std::free(frame);
    return text;
}

struct Tally {
    std::size_t moved = 0;
    std::size_t described = 0;
    std::size_t landing = 0;        ///< of these, with a landing table
    std::size_t lands = 0;          ///< of these, with a site that covers a moved instruction
    std::size_t undescribed = 0;    ///< by the object itself
    std::vector<std::string> left;  ///< described by the object, but not for the moved code
    std::size_t appended = 0;
    std::size_t longest = 0;
    std::map<std::string, Described> by_name;
};

/// One object, and all that the comparison reads of it.
class Comparison {
  public:
    explicit Comparison(const std::string& path) : file_{open(path)} {
        frames_ = dwarf_getcfi_elf(file_.image().handle());
        for (const ElfSection& section : file_.sections())
            if (section.name == ".eh_frame")
                for (const Described& one :
                     read_descriptions(rdam::section_bytes(section), section.header.sh_addr))
                    described_[one.begin] = one;
    }
    ~Comparison() { dwarf_cfi_end(frames_); }
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;
    Comparison(Comparison&&) = delete;
    Comparison& operator=(Comparison&&) = delete;

    const ObjectFile& file() const { return file_; }

    Tally all(std::size_t most = SIZE_MAX) {
        Tally tally;
        std::uint64_t before = 0;
        for (const rdam::Symbol& symbol : file_.symbols()) {
            if (!symbol.is_code() || symbol.address == before || tally.moved == most) continue;
            before = symbol.address;
            take(std::string{symbol.name}, symbol.address, tally);
        }
        return tally;
    }

    /// Nothing: it cannot be moved.
    std::optional<MovedPrologue> move(std::uint64_t address) const {
        const auto extent = file_.extent(address);
        if (!extent) return std::nullopt;
        const auto entries = rdam::entered_by_exceptions(file_, address);
        auto moved = rdam::move_prologue(file_.code(address, extent->size()), address,
                                         rdam::padding_behind(file_, *extent), entries,
                                         rdam::padding_before(file_, *extent));
        if (!moved) return std::nullopt;
        rdam::describe_frames(file_, address, *moved);
        return std::move(*moved);
    }

    const Described* described(std::uint64_t address) const {
        auto after = described_.upper_bound(address);
        if (after == described_.begin()) return nullptr;
        const Described& one = std::prev(after)->second;
        return address < one.end ? &one : nullptr;
    }

  private:
    static ObjectFile open(const std::string& path) {
        auto file = ObjectFile::open(path);
        if (!file) FAIL(path << ": " << file.error().message);
        return std::move(*file);
    }

    std::span<const std::uint8_t> in_file(std::uint64_t address) const {
        for (const ElfSection& section : file_.sections())
            if ((section.header.sh_flags & SHF_ALLOC) != 0 && section.contains(address) &&
                section.header.sh_type != SHT_NOBITS)
                return rdam::section_bytes(section).subspan(address - section.header.sh_addr);
        return {};
    }

    static Bytes placed(const MovedPrologue& moved, std::uint64_t at) {
        Bytes code = moved.code;
        for (const rdam::plan::Fixup& fixup : moved.fixups) {
            const bool wide = fixup.kind == rdam::plan::FixupKind::abs64;
            const auto target = static_cast<std::uint64_t>(fixup.target);
            const std::uint64_t value = wide ? target : target - (at + fixup.code_offset + 4);
            for (unsigned i = 0; i < (wide ? 8U : 4U); ++i)
                code.at(fixup.code_offset + i) = static_cast<std::uint8_t>(value >> (8 * i));
        }
        return code;
    }

    void take(const std::string& name, std::uint64_t address, Tally& tally) {
        const auto moved = move(address);
        if (!moved) return;
        ++tally.moved;
        const Described* const original = described(address);
        if (original == nullptr) {
            if (moved->description != 0) FAIL(name << " is described without a description");
            ++tally.undescribed;
            return;
        }
        if (moved->description == 0) {
            tally.left.push_back(name);
            return;
        }
        ++tally.described;
        const std::size_t appended = moved->code.size() - moved->executed;
        tally.appended += appended;
        tally.longest = std::max(tally.longest, appended);
        compare(name, address, *original, *moved, tally);
    }

    void compare(const std::string& name, std::uint64_t entry, const Described& original,
                 const MovedPrologue& moved, Tally& tally) {
        const std::uint64_t at = entry + kAway;
        const Bytes code = placed(moved, at);
        const std::size_t own = moved.description;
        std::uint32_t back = 0;
        std::memcpy(&back, code.data() + own + 4, sizeof back);
        const std::size_t kind = own + 4 - back;
        const auto frames = std::span(code).subspan(kind);
        const auto rewritten = read_descriptions(frames, at + kind);
        const FrameFile judged{frames, at + kind};
        if (rewritten.size() != 1) FAIL(name << " has " << rewritten.size() << " descriptions");
        const Described& found = rewritten[0];
        if (found.begin != at || found.end != at + moved.executed) FAIL(name << " is described elsewhere");
        const bool lands = !original.personality.empty() && original.landing_table != 0;
        if (found.personality != original.personality)
            FAIL(name << ": personality " << found.personality << " for " << original.personality);
        if ((found.landing_table != 0) != lands) FAIL(name << " has lost its landing table, or gained one");
        const Memory memory = [&](std::uint64_t address) {
            return address >= at && address - at < code.size() ? std::span(code).subspan(address - at)
                                                               : in_file(address);
        };
        tally.landing += lands ? 1 : 0;
        bool landed = false;
        for (std::size_t i = 0; i < moved.steps.size(); ++i) {
            const MovedStep& step = moved.steps[i];
            const std::uint32_t end = i + 1 < moved.steps.size() ? moved.steps[i + 1].code : moved.executed;
            if (step.code >= end) FAIL(name << " has an empty step at " << step.code);
            // A function without a return runs on into another one; the jump there is still in its own frame.
            const std::uint64_t place = std::min(entry + step.original, original.end - 1);
            const std::string expected = rules(frames_, place, step.pushed);
            const std::string landing =
                lands ? landings(memory, original.landing_table, original.begin, place) : "";
            landed = landed || !landing.empty();
            for (const std::uint32_t offset : {step.code, end - 1}) {
                if (const std::string got = rules(judged.frames(), at + offset, 0);
                    got != expected || expected.empty())
                    FAIL(name << "+" << offset << ":\n" << got << "\nfor\n" << expected);
                if (!lands) continue;
                const std::string got = landings(memory, found.landing_table, at, at + offset);
                if (got != landing) FAIL(name << "+" << offset << ":\n" << got << "\nfor\n" << landing);
            }
        }
        tally.lands += landed ? 1 : 0;
    }

    ObjectFile file_;
    Dwarf_CFI* frames_ = nullptr;
    std::map<std::uint64_t, Described> described_;
};

void print(const std::string& path, const Tally& tally) {
    fmt::print(
        "{}: {} functions moved, {} described in {} bytes each (at most {}); {} of these with a landing "
        "table, "
        "{} land from moved code; {} undescribed by the object, {} left out",
        path, tally.moved, tally.described, tally.described > 0 ? tally.appended / tally.described : 0,
        tally.longest, tally.landing, tally.lands, tally.undescribed, tally.left.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(tally.left.size(), 5); ++i)
        fmt::print("{}{}", i == 0 ? ": " : ", ", tally.left[i]);
    fmt::print("\n");
}

/// The path of the loaded object whose file name begins so.
std::string loaded(const std::string& begins) {
    std::string path;
    std::pair<const std::string&, std::string&> search{begins, path};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& [wanted, found] = *static_cast<decltype(search)*>(data);
            if (std::filesystem::path(info->dlpi_name).filename().string().starts_with(wanted))
                found = info->dlpi_name;
            return 0;
        },
        &search);
    return path;
}

std::string fixture(const std::string& name) {
    return UNWIND_FIXTURES "/unwind_" + name + ".so";
}

Tally check_object(const std::string& path, std::size_t most = SIZE_MAX) {
    Comparison comparison{path};
    Tally tally = comparison.all(most);
    print(path, tally);
    CHECK(tally.moved > 0);
    CHECK(tally.left.size() * 100 <= tally.moved);
    return tally;
}

}  // namespace

TEST_CASE("moved functions of libc have the frames that they had") {
    const Tally tally = check_object(loaded("libc.so"));
    CHECK(tally.described > 1000);
}

TEST_CASE("moved functions of libstdc++ have the frames and landing pads that they had") {
    const Tally tally = check_object(loaded("libstdc++.so"));
    CHECK(tally.described > 3000);
    CHECK(tally.landing > 500);
}

TEST_CASE("moved functions of this program have the frames and landing pads that they had") {
    const Tally tally = check_object("/proc/self/exe");
    CHECK(tally.described > 500);
    CHECK(tally.landing > 100);
}

TEST_CASE("moved functions that may fail at each instruction land where they did") {
    // With addresses of 8 bytes functions begin with where their data is, which cannot fail.
    const std::pair<const char*, std::size_t> fixtures[] = {
        {"O2", 13}, {"throws", 17}, {"Os", 13}, {"pie", 17}, {"unaligned", 13}, {"large", 0}, {"fixed", 17}};
    for (const auto& [name, lands] : fixtures) {
        INFO(name);
        const Tally tally = check_object(fixture(name));
        CHECK(tally.left.empty());
        CHECK(tally.landing >= 13);
        CHECK(tally.lands >= lands);
    }
}

TEST_CASE("moved functions with unusual tables have the frames and landing pads that they had") {
    Comparison comparison{fixture("cases")};
    Tally tally = comparison.all();
    print("cases", tally);
    std::sort(tally.left.begin(), tally.left.end());
    // Addresses in the program, signals' frames, frames by expressions on a stack that a call deepens, and
    // chains without an end are left out.
    CHECK(tally.left ==
          std::vector<std::string>{"circles", "computes_and_calls", "returns_from_signals", "sets_place"});
    CHECK(tally.described >= 12);
    CHECK(tally.lands == 4);
}

TEST_CASE("a description is found in each section of that name") {
    const Comparison comparison{fixture("sections")};
    const ObjectFile& file = comparison.file();
    const auto named = [&](const char* section) {
        return std::count_if(file.sections().begin(), file.sections().end(),
                             [&](const ElfSection& one) { return one.name == section; });
    };
    REQUIRE(named(".eh_frame") == 2);
    for (const char* name : {"first", "second"}) {
        INFO(name);
        const rdam::Symbol& symbol = file.symbols().at(file.named(name).front());
        const auto moved = comparison.move(symbol.address);
        REQUIRE(moved);
        REQUIRE(moved->description != 0);
        // Behind its size, its kind, its place and its size, and that it has no data.
        const auto program = std::span(moved->code).subspan(moved->description + 17);
        const Bytes expected = name == std::string{"first"} ? Bytes{} : Bytes{2, 1, 14, 16, 0x83, 2};
        CHECK(Bytes(program.begin(), program.begin() + expected.size()) == expected);
        CHECK(std::all_of(program.begin() + expected.size(), program.end(),
                          [](std::uint8_t byte) { return byte == 0; }));
    }
}

TEST_CASE("a function is entered where its exceptions land") {
    for (const char* name : {"cases", "unaligned"}) {
        const auto file = ObjectFile::open(fixture(name));
        REQUIRE(file);
        std::size_t within = 0;
        for (const rdam::Symbol& symbol : file->symbols()) {
            if (!symbol.is_code()) continue;
            const auto pads = rdam::entered_by_exceptions(*file, symbol.address);
            CHECK(std::is_sorted(pads.begin(), pads.end()));
            for (const std::uint64_t pad : pads)
                within += pad > symbol.address && pad - symbol.address < rdam::plan::kPatchSize ? 1 : 0;
        }
        CHECK(within > 0);
    }
}

TEST_CASE("moved functions of other compilers' libraries have the frames and landing pads that they had") {
    const char* const paths[] = {"/usr/lib/x86_64-linux-gnu/libQt5Core.so.5",
                                 "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
                                 "/usr/lib/x86_64-linux-gnu/libgnat-12.so",
                                 "/usr/lib/x86_64-linux-gnu/libgphobos.so.3",
                                 "/usr/lib/x86_64-linux-gnu/libphobos2-ldc-shared.so.100",
                                 "/usr/lib/x86_64-linux-gnu/libdruntime-ldc-shared.so.100"};
    std::size_t checked = 0;
    for (const char* path : paths) {
        if (!std::filesystem::exists(path)) continue;
        check_object(path, 20'000);
        ++checked;
    }
    if (checked == 0) fmt::print("skipped: none of these libraries is installed\n");
}
