#include "wrappers/entry/entry_block.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "wrappers/entry/instruction.h"

namespace rdam {
namespace {

/// Zydis' and the processor's numbers.
constexpr unsigned kRdx = 2;
constexpr unsigned kRbx = 3;
constexpr unsigned kRsp = 4;
constexpr unsigned kRbp = 5;
constexpr unsigned kR12 = 12;
constexpr std::array<std::uint8_t, 6> kArguments{7, 6, kRdx, 1, 8, 9};
/// By DWARF's number.
constexpr std::array<std::uint8_t, 16> kFromDwarf{0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr unsigned kFirstDwarfVector = 17;
constexpr unsigned kVectorArguments = 8;
constexpr unsigned kRegistersOfAKind = 16;

constexpr std::uint8_t kWord = 8;
constexpr std::int64_t kReturnAddress = -8;  // places are counted from the canonical frame address
constexpr int kLongestBlock = 512;
constexpr std::uint64_t kLongestScan = std::uint64_t{1} << 20U;
constexpr std::int64_t kLargestFrame = std::int64_t{1} << 32U;

/// The sixteen integer registers, then the vector registers.
using RegisterIndex = std::size_t;

std::optional<RegisterIndex> index_of(ZydisRegister reg) {
    const auto full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    const auto id = static_cast<unsigned>(ZydisRegisterGetId(full));
    if (id >= kRegistersOfAKind) return std::nullopt;
    switch (ZydisRegisterGetClass(full)) {
        case ZYDIS_REGCLASS_GPR64:
            return id;
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
            return kRegistersOfAKind + id;
        default:
            return std::nullopt;
    }
}

std::optional<RegisterIndex> index_of_dwarf(unsigned number) {
    if (number < kFromDwarf.size()) return kFromDwarf[number];
    if (number >= kFirstDwarfVector && number < kFirstDwarfVector + kRegistersOfAKind)
        return kRegistersOfAKind + number - kFirstDwarfVector;
    return std::nullopt;
}

std::optional<ArgumentPlace> argument_at(RegisterIndex index) {
    if (index >= kRegistersOfAKind) {
        const auto number = static_cast<std::uint32_t>(index - kRegistersOfAKind);
        if (number >= kVectorArguments) return std::nullopt;
        return ArgumentPlace{ArgumentPlace::Kind::vector_register, number};
    }
    const auto found = std::ranges::find(kArguments, index);
    if (found == kArguments.end()) return std::nullopt;
    return ArgumentPlace{ArgumentPlace::Kind::integer_register,
                         static_cast<std::uint32_t>(found - kArguments.begin())};
}

bool is_high_byte(ZydisRegister reg) {
    return reg == ZYDIS_REGISTER_AH || reg == ZYDIS_REGISTER_BH || reg == ZYDIS_REGISTER_CH ||
           reg == ZYDIS_REGISTER_DH;
}

struct Decoded : relocation::WithOperands {
    bool leaves() const {
        switch (instruction.meta.category) {
            case ZYDIS_CATEGORY_CALL:
            case ZYDIS_CATEGORY_RET:
            case ZYDIS_CATEGORY_COND_BR:
            case ZYDIS_CATEGORY_UNCOND_BR:
            case ZYDIS_CATEGORY_INTERRUPT:
            case ZYDIS_CATEGORY_SYSCALL:
            case ZYDIS_CATEGORY_SYSRET:
                return true;
            default:
                return (instruction.attributes &
                        (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
        }
    }
    /// From the second of its two operands to the first, without doing anything to it.
    bool copies() const {
        if (instruction.operand_count_visible != 2) return false;
        switch (instruction.mnemonic) {
            case ZYDIS_MNEMONIC_MOV:
            case ZYDIS_MNEMONIC_MOVZX:
            case ZYDIS_MNEMONIC_MOVSX:
            case ZYDIS_MNEMONIC_MOVSXD:
            case ZYDIS_MNEMONIC_MOVD:
            case ZYDIS_MNEMONIC_MOVQ:
            case ZYDIS_MNEMONIC_MOVSS:
            case ZYDIS_MNEMONIC_MOVSD:
            case ZYDIS_MNEMONIC_MOVAPS:
            case ZYDIS_MNEMONIC_MOVAPD:
            case ZYDIS_MNEMONIC_MOVUPS:
            case ZYDIS_MNEMONIC_MOVUPD:
            case ZYDIS_MNEMONIC_MOVDQA:
            case ZYDIS_MNEMONIC_MOVDQU:
            case ZYDIS_MNEMONIC_VMOVD:
            case ZYDIS_MNEMONIC_VMOVQ:
            case ZYDIS_MNEMONIC_VMOVSS:
            case ZYDIS_MNEMONIC_VMOVSD:
            case ZYDIS_MNEMONIC_VMOVAPS:
            case ZYDIS_MNEMONIC_VMOVAPD:
            case ZYDIS_MNEMONIC_VMOVUPS:
            case ZYDIS_MNEMONIC_VMOVUPD:
            case ZYDIS_MNEMONIC_VMOVDQA:
            case ZYDIS_MNEMONIC_VMOVDQU:
                return true;
            default:
                return false;
        }
    }
};

struct Value {
    enum class Kind : std::uint8_t { unknown, argument, address };
    Kind kind = Kind::unknown;
    ArgumentPlace source;
    std::uint8_t bytes = 0;  // of the argument, from its lowest on
    std::int64_t place = 0;  // the address, from the canonical frame address
    bool changed = false;    // of the argument, there is only the lowest bit

    Value cut(std::uint64_t size) const {
        Value value = *this;
        if (kind == Kind::address && size < kWord) return {};
        value.bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(bytes, size));
        return value;
    }
};

struct Extent {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};

}  // namespace

std::optional<ArgumentPlace> argument_register(unsigned dwarf_register) {
    const auto index = index_of_dwarf(dwarf_register);
    return index ? argument_at(*index) : std::nullopt;
}

/// Follows arguments through registers and the frame.
class EntryBlock::Walk {
  public:
    explicit Walk(std::vector<Extent> homes)
        : homes_{std::move(homes)}, found_(homes_.size()), written_(homes_.size()) {
        for (RegisterIndex index = 0; index < registers_.size(); ++index) {
            if (const auto argument = argument_at(index))
                registers_[index] = {Value::Kind::argument, *argument, kWord, 0};
        }
        registers_[kRsp] = {Value::Kind::address, {}, 0, kReturnAddress};
    }

    /// Until the block ends, or something happens that cannot be followed.
    void run(std::span<const std::uint8_t> code) {
        Decoded step;
        for (int count = 0; count < kLongestBlock && !code.empty(); ++count) {
            if (!step.decode(code) || step.leaves()) return;
            take(step);
            code = code.subspan(step.instruction.length);
        }
    }

    std::optional<std::int64_t> address_in(RegisterIndex index) const {
        if (registers_[index].kind != Value::Kind::address) return std::nullopt;
        return registers_[index].place;
    }
    /// What rbp is set to, once.
    std::optional<std::int64_t> frame_pointer() const {
        return frame_pointers_ == 1 ? frame_pointer_ : std::nullopt;
    }
    /// Where the stack pointer is at the first store by it; without one, at the end.
    std::optional<std::int64_t> stack_of_stores() const {
        return stored_ ? stack_of_stores_ : address_in(kRsp);
    }
    const Value& in(RegisterIndex index) const { return registers_[index]; }

    std::optional<Arrival> arrival(std::size_t home) const {
        if (written_[home] || homes_[home].begin < 0) return found_[home];
        const auto passed = passed_at(homes_[home].begin);
        return lost_stores_ || !passed ? std::nullopt : std::optional{Arrival{*passed}};
    }

  private:
    static std::optional<ArgumentPlace> passed_at(std::int64_t place) {
        if (place < 0 || place % kWord != 0 || place > kLargestFrame) return std::nullopt;
        return ArgumentPlace{ArgumentPlace::Kind::stack, static_cast<std::uint32_t>(place)};
    }

    void take(const Decoded& step) {
        const auto& instruction = step.instruction;
        const auto& first = step.operands[0];
        const auto& second = step.operands[1];
        if (step.copies()) return put(first, get(second).cut(second.size / 8U));
        if (instruction.mnemonic == ZYDIS_MNEMONIC_PUSH) {
            const Value value = get(first).cut(first.size / 8U);
            move_stack(-(static_cast<std::int64_t>(instruction.operand_width) / 8));
            return store(address_in(kRsp), instruction.operand_width / 8U, value);
        }
        if (instruction.mnemonic == ZYDIS_MNEMONIC_POP) {
            put(first, {});
            return move_stack(instruction.operand_width / 8);
        }
        if (instruction.mnemonic == ZYDIS_MNEMONIC_LEA && first.size == 64) {
            const auto place = address_of(second);
            return put(first, place ? Value{Value::Kind::address, {}, 0, *place} : Value{});
        }
        const bool adds = instruction.mnemonic == ZYDIS_MNEMONIC_ADD;
        if ((adds || instruction.mnemonic == ZYDIS_MNEMONIC_SUB) &&
            first.type == ZYDIS_OPERAND_TYPE_REGISTER && first.reg.value == ZYDIS_REGISTER_RSP &&
            second.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return move_stack(adds ? second.imm.value.s : -second.imm.value.s);
        const bool keeps_lowest_bit = instruction.mnemonic == ZYDIS_MNEMONIC_AND &&
                                      first.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                                      second.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && second.imm.value.u == 1;
        if (Value value = keeps_lowest_bit ? get(first) : Value{}; value.kind == Value::Kind::argument) {
            value.changed = true;
            return put(first, value);
        }
        for (std::size_t i = 0; i < instruction.operand_count; ++i) {
            if ((step.operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) put(step.operands[i], {});
        }
    }

    void move_stack(std::int64_t bytes) {
        Value& top = registers_[kRsp];
        if (top.kind == Value::Kind::address) top.place += bytes;
        if (top.place < -kLargestFrame || top.place > kLargestFrame) top = {};
    }

    std::optional<std::int64_t> address_of(const ZydisDecodedOperand& operand) const {
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE ||
            operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS)
            return std::nullopt;
        const auto base = index_of(operand.mem.base);
        const auto place = base ? address_in(*base) : std::nullopt;
        if (!place) return std::nullopt;
        const std::int64_t sum = *place + static_cast<std::int32_t>(operand.mem.disp.value);
        return sum < -kLargestFrame || sum > kLargestFrame ? std::nullopt : std::optional{sum};
    }

    Value get(const ZydisDecodedOperand& operand) const {
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            const auto index = index_of(operand.reg.value);
            return index && !is_high_byte(operand.reg.value) ? registers_[*index] : Value{};
        }
        const auto place = address_of(operand);
        return place ? load(*place, operand.size / 8U) : Value{};
    }

    Value load(std::int64_t place, std::uint64_t size) const {
        const Extent extent{place, place + static_cast<std::int64_t>(size)};
        for (const Extent& home : homes_) {
            if (home.overlaps(extent)) return {};
        }
        for (const auto& [at, cell] : cells_) {
            if (!Extent{at, at + cell.first}.overlaps(extent)) continue;
            return at == place ? cell.second : Value{};
        }
        const auto passed = passed_at(place);
        return passed ? Value{Value::Kind::argument, *passed, kWord, 0} : Value{};
    }

    void put(const ZydisDecodedOperand& operand, const Value& value) {
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
            const bool in_frame =
                operand.mem.base == ZYDIS_REGISTER_RSP || operand.mem.base == ZYDIS_REGISTER_RBP;
            const auto place = address_of(operand);
            if (operand.mem.base == ZYDIS_REGISTER_RSP && !stored_) {
                stored_ = true;
                stack_of_stores_ = address_in(kRsp);
            }
            lost_stores_ = lost_stores_ || (in_frame && !place);
            return store(place, operand.size / 8U, value);
        }
        if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
        const auto index = index_of(operand.reg.value);
        if (!index) return;
        registers_[*index] = is_high_byte(operand.reg.value) ? Value{} : value.cut(operand.size / 8U);
        if (const auto place = address_in(kRbp); *index == kRbp && place) {
            ++frame_pointers_;
            frame_pointer_ = place;
        }
    }

    void store(std::optional<std::int64_t> place, std::uint64_t size, const Value& value) {
        if (!place || size == 0) return;
        const Extent extent{*place, *place + static_cast<std::int64_t>(size)};
        std::erase_if(cells_, [&](const auto& cell) {
            return Extent{cell.first, cell.first + cell.second.first}.overlaps(extent);
        });
        const Value kept = value.cut(size);
        cells_[*place] = {static_cast<std::int64_t>(size), kept};
        for (std::size_t index = 0; index < homes_.size(); ++index) {
            const Extent& home = homes_[index];
            if (written_[index] || !home.overlaps(extent)) continue;
            written_[index] = true;
            const bool whole = home.begin == *place && home.end - home.begin <= kept.bytes;
            if (whole && kept.kind == Value::Kind::argument)
                found_[index] = Arrival{kept.source, kept.changed};
        }
    }

    std::vector<Extent> homes_;
    std::vector<std::optional<Arrival>> found_;
    std::vector<bool> written_;
    std::array<Value, 2 * kRegistersOfAKind> registers_{};
    std::map<std::int64_t, std::pair<std::int64_t, Value>> cells_;  // size and content by place
    std::optional<std::int64_t> frame_pointer_;
    int frame_pointers_ = 0;
    std::optional<std::int64_t> stack_of_stores_;
    bool stored_ = false;
    bool lost_stores_ = false;
};

EntryBlock::EntryBlock(const ObjectFile& file, const StackRows& rows, const CodeRange& function)
    : rows_{rows}, function_{function}, code_{file.code(function.begin, function.size())} {}

/// Where the stack pointer is once the frame is complete, if it is by it that the frame is found, and stays
/// there: nothing is pushed for calls.
std::optional<std::int64_t> EntryBlock::complete_stack(const Walk& walk) const {
    std::optional<std::int64_t> deepest;
    if (!rows_.exist()) return deepest;
    for (std::uint64_t address = function_.begin; address < function_.end;) {
        const StackRow row = rows_.at(address);
        if (!row.known || row.base != kDwarfRsp || row.code.end <= address) return std::nullopt;
        deepest = std::min(deepest.value_or(0), -row.offset);
        address = row.code.end;
    }
    if (deepest != walk.stack_of_stores()) return std::nullopt;
    return deepest;
}

std::vector<std::optional<Arrival>> EntryBlock::arrivals(const std::vector<FrameBytes>& places) const {
    Walk scout{{}};
    scout.run(code_);
    const std::optional<std::int64_t> rbp = scout.frame_pointer();
    const std::optional<std::int64_t> rsp = complete_stack(scout);
    std::vector<Extent> homes;
    std::vector<bool> known;
    for (const FrameBytes& place : places) {
        std::optional<std::int64_t> base = 0;
        if (place.base == FrameBytes::Base::rbp) base = rbp;
        if (place.base == FrameBytes::Base::rsp) base = rsp;
        const bool sane = place.offset > -kLargestFrame && place.offset < kLargestFrame &&
                          place.size < static_cast<std::uint64_t>(kLargestFrame);
        known.push_back(base && sane);
        const std::int64_t begin = known.back() ? *base + place.offset : 0;
        homes.push_back({begin, begin + (known.back() ? static_cast<std::int64_t>(place.size) : 0)});
    }
    Walk walk{homes};
    walk.run(code_);
    std::vector<std::optional<Arrival>> arrivals;
    for (std::size_t index = 0; index < places.size(); ++index)
        arrivals.push_back(known[index] ? walk.arrival(index) : std::nullopt);
    return arrivals;
}

std::optional<ArgumentPlace> EntryBlock::kept_in(unsigned dwarf_register, std::uint64_t size) const {
    const auto index = index_of_dwarf(dwarf_register);
    if (!index || *index == kRsp || function_.size() > kLongestScan) return std::nullopt;
    const auto own = argument_at(*index);
    const bool survives_calls =
        *index == kRbx || *index == kRbp || (*index >= kR12 && *index < kRegistersOfAKind);
    std::vector<ZydisDecodedOperand> saved_at;
    std::size_t copied = 0;  // bytes of the entry block until it has been put there
    bool in_block = true;
    int sources = 0;
    bool within_block = true;
    Decoded step;
    for (std::size_t offset = 0; offset < code_.size(); offset += step.instruction.length) {
        if (!step.decode(code_.subspan(offset))) return std::nullopt;
        in_block = in_block && !step.leaves();
        // What a call leaves there is no parameter of this function.
        if (step.instruction.meta.category == ZYDIS_CATEGORY_CALL && !survives_calls && !own)
            return std::nullopt;
        bool writes = false;
        bool reads = false;
        for (std::size_t i = 0; i < step.instruction.operand_count; ++i) {
            const auto& operand = step.operands[i];
            if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && index_of(operand.reg.value) == index) {
                writes = writes || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
                reads = reads || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
            } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
                reads = reads || index_of(operand.mem.base) == index || index_of(operand.mem.index) == index;
            }
        }
        const auto& first = step.operands[0];
        const auto& second = step.operands[1];
        const bool copies = step.copies();
        if (copies && reads && !writes && first.type == ZYDIS_OPERAND_TYPE_MEMORY && sources == 0)
            saved_at.push_back(first);
        if (!writes) continue;
        const bool clears = !copies && step.instruction.operand_count_visible >= 2 &&
                            first.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                            second.type == ZYDIS_OPERAND_TYPE_REGISTER && first.reg.value == second.reg.value;
        if (reads && !clears) continue;  // made of what was there
        const bool restores = !own && (step.instruction.mnemonic == ZYDIS_MNEMONIC_POP ||
                                       (copies && second.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                                        std::ranges::any_of(saved_at, [&](const ZydisDecodedOperand& saved) {
                                            return saved.mem.base == second.mem.base &&
                                                   saved.mem.index == second.mem.index &&
                                                   saved.mem.disp.value == second.mem.disp.value;
                                        })));
        if (restores) continue;
        ++sources;
        within_block = within_block && in_block && copies;
        copied = offset + step.instruction.length;
    }
    if (sources == 0) return own;
    if (own || sources != 1 || !within_block) return std::nullopt;
    Walk walk{{}};
    walk.run(code_.first(copied));
    const Value& value = walk.in(*index);
    if (value.kind != Value::Kind::argument || value.changed || value.bytes < size) return std::nullopt;
    return value.source;
}

}  // namespace rdam
