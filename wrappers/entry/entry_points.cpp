#include "wrappers/entry/entry_points.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "libprobe/format/plan.h"
#include "wrappers/entry/instruction.h"

namespace rdam {
namespace {

constexpr std::uint64_t kWindow = plan::kMaxMoved;

/// The bytes of a function that must not be entered from elsewhere: its first ones, and the padding before.
struct Window {
    CodeRange function;
    CodeRange bytes;
};

Window window_of(const ObjectFile& file, const CodeRange& function) {
    const std::uint64_t begin = function.begin - padding_before(file, function).size();
    return {function, {begin, std::min(function.end, function.begin + kWindow)}};
}

/// The windows of all functions in question, for a test that a whole section can afford.
class Windows {
  public:
    /// In ascending order.
    explicit Windows(const std::vector<Window>& windows) : windows_{windows} {}

    /// The one into which (but not to the function's very first byte) `target` points.
    const Window* hit(std::uint64_t target) const {
        if (windows_.empty() || target < windows_.front().bytes.begin) return nullptr;
        if (target >= windows_.back().bytes.end) return nullptr;
        const auto after = std::ranges::upper_bound(windows_, target, {},
                                                    [](const Window& window) { return window.bytes.begin; });
        const Window& window = *std::prev(after);
        return window.bytes.contains(target) && target != window.function.begin ? &window : nullptr;
    }

  private:
    const std::vector<Window>& windows_;
};

class BranchScanner {
  public:
    BranchScanner(const ObjectFile& file, const Windows& windows,
                  std::map<std::uint64_t, std::vector<std::uint64_t>>& found)
        : file_{file}, windows_{windows}, found_{found} {}

    /// Jumps and calls with a 32-bit displacement, anywhere in the section.
    void scan_far(const ElfSection& section) {
        const auto bytes = section_bytes(section);
        for (std::size_t at = 0; at + 6 <= bytes.size(); ++at) {
            const std::uint8_t opcode = bytes[at];
            const bool direct = (opcode & 0xfeU) == 0xe8;
            const bool conditional = opcode == 0x0f && (bytes[at + 1] & 0xf0U) == 0x80;
            if (!direct && !conditional) continue;
            const std::size_t length = direct ? 5 : 6;
            std::int32_t displacement = 0;
            std::memcpy(&displacement, bytes.data() + at + length - 4, sizeof displacement);
            note(section.header.sh_addr + at, length, displacement);
        }
    }

    /// Short jumps from around one function.
    void scan_near(const ElfSection& section, const CodeRange& window) {
        constexpr std::uint64_t kReach = 130;
        const auto bytes = section_bytes(section);
        const std::uint64_t first = section.header.sh_addr;
        const std::uint64_t begin = std::max(first, window.begin - std::min(window.begin, kReach));
        const std::uint64_t end = std::min(first + bytes.size(), window.end + kReach);
        for (std::uint64_t address = begin; address + 2 <= end; ++address) {
            const std::uint8_t opcode = bytes[address - first];
            const bool jump =
                opcode == 0xeb || (opcode & 0xf0U) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3);
            if (jump) note(address, 2, static_cast<std::int8_t>(bytes[address - first + 1]));
        }
    }

  private:
    void note(std::uint64_t address, std::size_t length, std::int64_t displacement) {
        const std::uint64_t target = address + length + static_cast<std::uint64_t>(displacement);
        const Window* window = windows_.hit(target);
        if (window == nullptr) return;
        const CodeRange& function = window->function;
        if (function.contains(address) && function.contains(target)) return;
        if (is_instruction(address)) found_[function.begin].push_back(target);
    }

    /// Whether decoding from the start of the surrounding function comes by here. Where no start is known:
    /// yes, to be safe.
    bool is_instruction(std::uint64_t address) const {
        std::optional<std::uint64_t> start;
        if (const auto frame = file_.frames().find(address)) start = frame->begin;
        const Symbol* symbol = file_.covering(address);
        if (symbol != nullptr && (!start || symbol->address > *start)) start = symbol->address;
        if (!start) return true;
        const auto bytes = file_.code(*start, address - *start + ZYDIS_MAX_INSTRUCTION_LENGTH);
        std::size_t offset = 0;
        while (offset < address - *start && offset < bytes.size()) {
            const auto decoded = relocation::decode_at(bytes, static_cast<std::uint32_t>(offset));
            offset += decoded.instruction ? decoded.instruction->decoded.length : 1U;
        }
        return offset == address - *start;
    }

    const ObjectFile& file_;
    const Windows& windows_;
    std::map<std::uint64_t, std::vector<std::uint64_t>>& found_;
};

void note_names(const ObjectFile& file, const CodeRange& function, std::vector<std::uint64_t>& entries) {
    const std::uint64_t end = std::min(function.end, function.begin + kWindow);
    for (const Symbol* next = file.next_code(function.begin); next != nullptr && next->address < end;
         next = file.next_code(next->address)) {
        entries.push_back(next->address);
    }
    if (const auto frame = file.frames().next(function.begin); frame && frame->begin < end) {
        entries.push_back(frame->begin);
    }
}

/// What comes before a function in its section.
struct Preceding {
    bool known = false;
    std::uint64_t begin = 0;  ///< of the one that begins last
    std::uint64_t end = 0;    ///< of the one that ends last

    void take(const CodeRange& range) {
        begin = known ? std::max(begin, range.begin) : range.begin;
        end = known ? std::max(end, range.end) : range.end;
        known = true;
    }

    void take_symbols(const ObjectFile& file, const ElfSection& section, std::uint64_t address) {
        constexpr int kMaxSteps = 64;  // nested symbols are rare and shallow
        const auto& symbols = file.symbols();
        auto symbol = std::ranges::lower_bound(symbols, address, {}, &Symbol::address);
        for (int steps = 0; symbol != symbols.begin() && steps < kMaxSteps; ++steps) {
            --symbol;
            if (symbol->address < section.header.sh_addr) break;
            take({symbol->address, symbol->address + symbol->size});
        }
    }

    void take_frame(const ObjectFile& file, const ElfSection& section, std::uint64_t address) {
        const auto& frames = file.frames().ranges();
        const auto after = std::ranges::lower_bound(frames, address, {}, &CodeRange::begin);
        if (after != frames.begin() && section.contains(std::prev(after)->begin)) take(*std::prev(after));
    }
};

/// The part of the padding behind a short function that the function's own patch does not need; cut between
/// two nops.
std::span<const std::uint8_t> behind_spilled_patch(std::span<const std::uint8_t> padding,
                                                   std::size_t needed) {
    std::size_t offset = 0;
    while (offset < needed && offset < padding.size()) {
        const auto instruction =
            relocation::decode_at(padding, static_cast<std::uint32_t>(offset)).instruction;
        if (!instruction || !instruction->is_padding()) return {};
        offset += instruction->decoded.length;
    }
    return padding.subspan(std::min(offset, padding.size()));
}

/// Bytes behind a section of code that are in no section, in memory all the same and executable.
std::uint64_t gap_behind(const ObjectFile& file, const ElfSection& section) {
    constexpr std::uint64_t kPage = 4096;
    const std::uint64_t end = section.header.sh_addr + section.header.sh_size;
    std::uint64_t limit = end;
    for (const GElf_Phdr& segment : read_segments(file.image())) {
        const bool holds = end > segment.p_vaddr && end - segment.p_vaddr <= segment.p_memsz;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && holds)
            limit = (segment.p_vaddr + segment.p_memsz + kPage - 1) / kPage * kPage;
    }
    for (const ElfSection& other : file.sections())
        if ((other.header.sh_flags & SHF_ALLOC) != 0 && other.header.sh_addr >= end)
            limit = std::min(limit, other.header.sh_addr);
    return limit - end;
}

}  // namespace

EntryPoints EntryPoints::scan(const ObjectFile& file, std::vector<CodeRange> functions) {
    EntryPoints points;
    std::ranges::sort(functions, {}, &CodeRange::begin);
    std::vector<Window> in_question;
    in_question.reserve(functions.size());
    for (const CodeRange& function : functions)
        in_question.push_back(window_of(file, function));
    const Windows windows{in_question};
    BranchScanner scanner{file, windows, points.found_};
    for (const ElfSection& section : file.sections()) {
        constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
        if ((section.header.sh_flags & kCode) == kCode && !functions.empty()) scanner.scan_far(section);
    }
    for (const auto& [function, bytes] : in_question) {
        if (const ElfSection* section = file.code_section(function.begin)) {
            scanner.scan_near(*section, bytes);
        }
        auto& entries = points.found_[function.begin];
        note_names(file, function, entries);
        std::ranges::sort(entries);
        entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    }
    return points;
}

std::vector<std::uint64_t> EntryPoints::inside(const CodeRange& function) const {
    const auto found = found_.find(function.begin);
    return found == found_.end() ? std::vector<std::uint64_t>{} : found->second;
}

std::uint32_t padding_behind(const ObjectFile& file, const CodeRange& function) {
    constexpr std::uint64_t kMax = 64;
    std::uint64_t limit = function.end + kMax;
    if (!file.at(function.end).empty() || file.frames().find(function.end)) return 0;
    if (const Symbol* next = file.next_code(function.end)) limit = std::min(limit, next->address);
    if (const auto frame = file.frames().next(function.end)) limit = std::min(limit, frame->begin);
    const auto bytes = file.code(function.end, limit - function.end);
    std::size_t offset = 0;
    while (offset < bytes.size()) {
        const auto instruction = relocation::decode_at(bytes, static_cast<std::uint32_t>(offset)).instruction;
        if (!instruction || !instruction->is_padding()) break;
        offset += instruction->decoded.length;
    }
    const ElfSection* section = file.code_section(function.begin);
    if (section != nullptr && function.end + offset == section->header.sh_addr + section->header.sh_size)
        offset += std::min(kMax - offset, gap_behind(file, *section));
    return static_cast<std::uint32_t>(offset);
}

std::span<const std::uint8_t> padding_before(const ObjectFile& file, const CodeRange& function) {
    const ElfSection* section = file.code_section(function.begin);
    if (section == nullptr) return {};
    Preceding preceding;
    preceding.take_symbols(file, *section, function.begin);
    preceding.take_frame(file, *section, function.begin);
    // A symbol without a size may be the beginning of anything.
    if (!preceding.known || preceding.end > function.begin || preceding.end == preceding.begin) return {};
    const auto bytes = file.code(preceding.end, function.begin - preceding.end);
    const std::uint64_t own_patch = preceding.begin + plan::kPatchSize;
    return own_patch <= preceding.end ? bytes : behind_spilled_patch(bytes, own_patch - preceding.end);
}

std::optional<std::uint8_t> room_for_jump(std::span<const std::uint8_t> padding, std::uint64_t address,
                                          std::span<const std::uint64_t> entries) {
    /// A short jump goes back by 128 bytes at most, its own two included.
    constexpr std::size_t kMaxBefore = 124;
    std::vector<std::uint32_t> starts;
    std::optional<std::uint32_t> jump;
    for (std::uint32_t offset = 0; offset < padding.size();) {
        const auto decoded = relocation::decode_at(padding, offset);
        if (!decoded.instruction || !decoded.instruction->is_padding()) return std::nullopt;
        starts.push_back(offset);
        const std::size_t before = padding.size() - offset;
        if (before >= plan::kPatchSize && before <= kMaxBefore) jump = offset;
        offset = decoded.instruction->end();
    }
    if (!jump) return std::nullopt;
    const std::uint64_t begin = address - padding.size();
    for (const std::uint64_t entry : entries) {
        const std::uint64_t offset = entry - begin;
        if (offset >= padding.size()) continue;
        const bool runs_to_jump = offset <= *jump && std::ranges::binary_search(starts, offset);
        if (!runs_to_jump) return std::nullopt;
    }
    return static_cast<std::uint8_t>(padding.size() - *jump);
}

}  // namespace rdam
