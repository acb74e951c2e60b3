#include "wrappers/entry/entry_hooks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "wrappers/entry/instruction.h"

namespace rdam {
namespace {

constexpr std::array<std::uint8_t, 4> kEndbr64{0xf3, 0x0f, 0x1e, 0xfa};
/// A short jump over a nop of nine bytes; XRay writes a call in its place.
constexpr std::array<std::uint8_t, 11> kXraySled{0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84,
                                                 0x00, 0x00, 0x02, 0x00, 0x00};
/// The nop alone. The sled at a return begins two bytes before it.
constexpr std::size_t kBeforeNop = 2;

constexpr std::array<std::string_view, 3> kCounters{"mcount", "_mcount", "__fentry__"};

/// How far from its entry a function may call mcount: behind the registers that it saves.
constexpr std::uint32_t kPrologue = 64;

template <std::size_t N>
bool begins_with(std::span<const std::uint8_t> code, const std::array<std::uint8_t, N>& bytes) {
    return code.size() >= N && std::equal(bytes.begin(), bytes.end(), code.begin());
}

bool is_counter(std::string_view name) {
    return std::ranges::find(kCounters, name) != kCounters.end();
}

void collect_slots(const ObjectFile& file, std::set<std::uint64_t>& slots) {
    for (const ElfSection& section : file.sections()) {
        if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0) continue;
        const auto& sections = file.sections();
        // The null section is not in the list.
        const auto symbols_at = section.header.sh_link - std::size_t{1};
        if (section.header.sh_link == 0 || symbols_at >= sections.size()) continue;
        const ElfSection& table = sections[symbols_at];
        if (table.header.sh_link == 0 || table.header.sh_link - std::size_t{1} >= sections.size()) continue;
        const auto symbols = section_bytes(table);
        const auto names = section_bytes(sections[table.header.sh_link - std::size_t{1}]);
        const auto bytes = section_bytes(section);
        for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
            Elf64_Rela entry;
            std::memcpy(&entry, bytes.data() + at, sizeof entry);
            const std::size_t symbol_at = ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym);
            if (symbol_at == 0 || symbol_at + sizeof(Elf64_Sym) > symbols.size()) continue;
            Elf64_Sym symbol;
            std::memcpy(&symbol, symbols.data() + symbol_at, sizeof symbol);
            if (is_counter(string_at(names, symbol.st_name))) slots.insert(entry.r_offset);
        }
    }
}

}  // namespace

EntryHooks::EntryHooks(const ObjectFile& file) : file_{file} {
    xray_ = std::ranges::any_of(file.sections(),
                                [](const ElfSection& section) { return section.name == "xray_instr_map"; });
    for (const std::string_view name : kCounters) {
        for (const std::uint32_t index : file.named(name)) {
            const Symbol& symbol = file.symbols()[index];
            if (symbol.is_code()) counters_.insert(symbol.address);
        }
    }
    const auto& imports = file.imports();
    if (std::ranges::any_of(imports, [](const std::string& name) { return is_counter(name); }))
        collect_slots(file, counter_slots_);
}

/// Whether the first instruction of `code` calls one, directly, through the procedure linkage table or
/// through the word that holds its address.
bool EntryHooks::calls_counter(std::span<const std::uint8_t> code, std::uint64_t address) const {
    using relocation::Flow;
    const auto decoded = relocation::decode_at(code, 0);
    if (!decoded.instruction) return false;
    if (const auto slot = decoded.instruction->memory_target();
        slot && decoded.instruction->flow == Flow::indirect_call)
        return counter_slots_.contains(address + *slot);
    const auto target = decoded.instruction->branch_target();
    if (!target || decoded.instruction->flow != Flow::call) return false;
    const std::uint64_t called = address + *target;
    if (counters_.contains(called)) return true;
    const ElfSection* section = file_.code_section(called);
    if (section == nullptr || !section->name.starts_with(".plt")) return false;
    constexpr std::uint64_t kStub = 16;
    auto stub = file_.code(called, kStub);
    const std::size_t skipped = begins_with(stub, kEndbr64) ? kEndbr64.size() : 0;
    stub = stub.subspan(skipped);
    const auto jump = relocation::decode_at(stub, 0);
    const auto slot = jump.instruction ? jump.instruction->memory_target() : std::nullopt;
    return slot && counter_slots_.contains(called + skipped + *slot);
}

Result<std::uint32_t> EntryHooks::behind(const CodeRange& function) const {
    const auto code = file_.code(function.begin, std::min<std::uint64_t>(function.size(), kPrologue));
    const auto landing = static_cast<std::uint32_t>(begins_with(code, kEndbr64) ? kEndbr64.size() : 0);
    if (xray_ && begins_with(code.subspan(landing), kXraySled))
        return landing + static_cast<std::uint32_t>(kXraySled.size());
    if (counter_slots_.empty() && counters_.empty()) return 0;
    for (std::uint32_t offset = landing; offset < code.size();) {
        const auto decoded = relocation::decode_at(code, offset);
        if (!decoded.instruction) break;
        if (calls_counter(code.subspan(offset), function.begin + offset)) {
            if (offset == landing) return decoded.instruction->end();
            return fail(
                "calls mcount (-pg), which tells gprof's callers by return addresses, and would find the "
                "recorder's: compile without -pg, or with -mfentry");
        }
        if (decoded.instruction->flow != relocation::Flow::plain) break;
        offset = decoded.instruction->end();
    }
    return 0;
}

bool EntryHooks::overwritten_by_xray(std::span<const std::uint8_t> code, std::size_t size) const {
    if (!xray_) return false;
    const auto nop = std::search(code.begin(), code.end(), kXraySled.begin() + kBeforeNop, kXraySled.end());
    if (nop == code.end()) return false;
    const auto offset = static_cast<std::size_t>(nop - code.begin());
    return offset < kBeforeNop + size;
}

}  // namespace rdam
