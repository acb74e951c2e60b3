#include "wrappers/entry/moved_frames.h"

#include <dwarf.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/entry/frame_description.h"
#include "wrappers/entry/landing_pads.h"

namespace rdam {
namespace {

using unwinding::Bytes;
using unwinding::Cursor;
using unwinding::FrameDescription;
using unwinding::LandingTable;
using unwinding::put_bytes;
using unwinding::put_fixed;
using unwinding::put_sleb;
using unwinding::put_uleb;

constexpr std::uint8_t kRelative = DW_EH_PE_pcrel | DW_EH_PE_sdata4;

/// Where the frame is, as far as a deeper stack changes it.
struct FrameRule {
    std::uint64_t base = 0;
    std::int64_t offset = 0;
    bool plain = false;  ///< a register and an offset
};

/// One call frame instruction. DWARF 5, 6.4.2 and 7.24.
struct FrameOperation {
    std::span<const std::uint8_t> bytes;
    std::optional<std::uint64_t> advance;  ///< code addresses, unscaled
};

/// Goes through a program of call frame instructions and keeps the rule for the frame.
class FrameProgram {
  public:
    FrameProgram(std::span<const std::uint8_t> program, std::int64_t data_alignment, FrameRule rule)
        : rest_{program}, data_alignment_{data_alignment}, rule_{rule} {}

    bool at_end() const { return rest_.at_end(); }
    const FrameRule& rule() const { return rule_; }
    /// Bytes of arguments on the stack that a landing pad does not expect there.
    std::uint64_t arguments() const { return arguments_; }
    /// Whether a register has been where an expression says.
    bool computes() const { return computes_; }

    /// Nothing: one that is not understood.
    std::optional<FrameOperation> next() {
        const std::uint8_t* const first = rest_.at();
        FrameOperation operation;
        const std::uint8_t code = rest_.byte();
        switch (code & 0xc0U) {
            case DW_CFA_advance_loc:
                operation.advance = code & 0x3fU;
                break;
            case DW_CFA_offset:
                rest_.uleb();
                break;
            case DW_CFA_restore:
                break;
            default:
                if (!read_extended(code, operation)) return std::nullopt;
        }
        if (rest_.bad()) return std::nullopt;
        operation.bytes = {first, rest_.at()};
        return operation;
    }

  private:
    bool read_extended(std::uint8_t code, FrameOperation& operation) {
        switch (code) {
            case DW_CFA_nop:
                break;
            case DW_CFA_advance_loc1:
                operation.advance = rest_.fixed(1);
                break;
            case DW_CFA_advance_loc2:
                operation.advance = rest_.fixed(2);
                break;
            case DW_CFA_advance_loc4:
                operation.advance = rest_.fixed(4);
                break;
            case DW_CFA_offset_extended:
            case DW_CFA_register:
            case DW_CFA_val_offset:
            case DW_CFA_GNU_negative_offset_extended:
                rest_.uleb();
                rest_.uleb();
                break;
            case DW_CFA_offset_extended_sf:
            case DW_CFA_val_offset_sf:
                rest_.uleb();
                rest_.sleb();
                break;
            case DW_CFA_restore_extended:
            case DW_CFA_undefined:
            case DW_CFA_same_value:
                rest_.uleb();
                break;
            case DW_CFA_GNU_args_size:
                arguments_ = rest_.uleb();
                break;
            case DW_CFA_expression:
            case DW_CFA_val_expression:
                computes_ = true;
                rest_.uleb();
                rest_.skip(rest_.uleb());
                break;
            case DW_CFA_remember_state:
                remembered_.push_back(rule_);
                break;
            case DW_CFA_restore_state:
                if (remembered_.empty()) return false;
                rule_ = remembered_.back();
                remembered_.pop_back();
                break;
            default:
                return read_rule(code);
        }
        return true;
    }

    bool read_rule(std::uint8_t code) {
        switch (code) {
            case DW_CFA_def_cfa:
                rule_.base = rest_.uleb();
                rule_.offset = static_cast<std::int64_t>(rest_.uleb());
                rule_.plain = true;
                break;
            case DW_CFA_def_cfa_sf:
                rule_.base = rest_.uleb();
                rule_.offset = rest_.sleb() * data_alignment_;
                rule_.plain = true;
                break;
            case DW_CFA_def_cfa_register:
                rule_.base = rest_.uleb();
                break;
            case DW_CFA_def_cfa_offset:
                rule_.offset = static_cast<std::int64_t>(rest_.uleb());
                break;
            case DW_CFA_def_cfa_offset_sf:
                rule_.offset = rest_.sleb() * data_alignment_;
                break;
            case DW_CFA_def_cfa_expression:
                rest_.skip(rest_.uleb());
                rule_.plain = false;
                break;
            // Among them DW_CFA_set_loc, which names an address.
            default:
                return false;
        }
        return true;
    }

    Cursor rest_;
    std::int64_t data_alignment_;
    FrameRule rule_;
    std::vector<FrameRule> remembered_;
    std::uint64_t arguments_ = 0;
    bool computes_ = false;
};

std::optional<FrameRule> initial_rule(const FrameDescription& description) {
    FrameProgram program{description.initial, description.data_alignment, {}};
    while (!program.at_end()) {
        const auto operation = program.next();
        if (!operation || operation->advance) return std::nullopt;
    }
    return program.rule();
}

/// For a kind with a code alignment of 1.
void put_advance(Bytes& out, std::uint32_t& from, std::uint32_t to) {
    for (; to - from > 0xff; from += 0xff)
        put_bytes(out, std::array<std::uint8_t, 2>{DW_CFA_advance_loc1, 0xff});
    if (to > from)
        put_bytes(out,
                  std::array<std::uint8_t, 2>{DW_CFA_advance_loc1, static_cast<std::uint8_t>(to - from)});
    from = to;
}

/// The description's program, as far as the moved instructions go, by their offsets in the moved code.
std::optional<Bytes> moved_program(const FrameDescription& description, std::uint64_t entry,
                                   const MovedPrologue& moved) {
    const auto initial = initial_rule(description);
    if (!initial) return std::nullopt;
    FrameProgram program{description.program, description.data_alignment, *initial};
    std::uint64_t address = description.code.begin;
    std::optional<FrameOperation> next;
    Bytes out;
    std::uint32_t at = 0;
    for (const MovedStep& step : moved.steps) {
        for (;; next.reset()) {
            if (!next && program.at_end()) break;
            if (!next) next = program.next();
            if (!next) return std::nullopt;
            if (next->advance) {
                const std::uint64_t to = address + *next->advance * description.code_alignment;
                if (to > entry + step.original) break;
                address = to;
            } else {
                put_advance(out, at, step.code);
                put_bytes(out, next->bytes);
            }
        }
        if (step.pushed == 0) continue;
        // What an expression says may count from the stack's end.
        if (!program.rule().plain || program.computes()) return std::nullopt;
        put_advance(out, at, step.code);
        // Without this a landing pad would find a stack that is so much deeper than it expects.
        out.push_back(DW_CFA_GNU_args_size);
        put_uleb(out, program.arguments() + step.pushed);
        if (program.rule().base != kDwarfRsp) continue;
        out.push_back(DW_CFA_def_cfa_offset);
        put_uleb(out, static_cast<std::uint64_t>(program.rule().offset) + step.pushed);
    }
    return out;
}

constexpr std::size_t aligned(std::size_t position) {
    return (position + 7) & ~std::size_t{7};
}

/// Code, and behind it the tables.
class Description {
  public:
    explicit Description(MovedPrologue& moved) : code_{moved.code}, fixups_{moved.fixups} {}

    std::size_t position() const { return code_.size(); }
    void align() { code_.resize(aligned(code_.size()), DW_CFA_nop); }
    void byte(std::uint8_t value) { code_.push_back(value); }
    void uleb(std::uint64_t value) { put_uleb(code_, value); }
    void sleb(std::int64_t value) { put_sleb(code_, value); }
    void bytes(std::span<const std::uint8_t> more) { put_bytes(code_, more); }
    void word(std::uint64_t value) { put_fixed(code_, value, 4); }
    void distance_to(std::size_t position) { word(position - code_.size()); }
    void text(const char* letters) {
        for (; *letters != '\0'; ++letters)
            byte(static_cast<std::uint8_t>(*letters));
        byte(0);
    }
    void address(std::uint64_t target) {
        fixups_.push_back({static_cast<std::uint32_t>(position()), plan::FixupKind::abs64,
                           static_cast<std::int64_t>(target)});
        put_fixed(code_, 0, 8);
    }
    void table(const LandingTable& table) {
        fixups_.insert(fixups_.end(), table.fixups.begin(), table.fixups.end());
        bytes(table.bytes);
    }
    /// Begins an entry of the tables, and ends it: its size comes first.
    std::size_t begin() {
        align();
        word(0);
        return position();
    }
    void end(std::size_t begin) {
        code_.resize((code_.size() - begin + 3) / 8 * 8 + 4 + begin, DW_CFA_nop);
        const std::size_t size = code_.size() - begin;
        for (unsigned i = 0; i < 4; ++i)
            code_[begin - 4 + i] = static_cast<std::uint8_t>(size >> (8 * i));
    }

  private:
    std::vector<std::uint8_t>& code_;
    std::vector<plan::Fixup>& fixups_;
};

std::size_t put_kind(Description& out, const FrameDescription& description, bool lands) {
    const std::size_t begin = out.begin();
    out.word(0);
    out.byte(1);  // version
    const bool handles = description.personality.has_value();
    out.text(lands ? "zPLR" : handles ? "zPR" : "zR");
    out.uleb(1);  // code alignment
    out.sleb(description.data_alignment);
    out.uleb(description.return_register);
    out.uleb(lands ? 11 : handles ? 10 : 1);
    if (handles) {
        out.byte(description.personality->indirect ? DW_EH_PE_indirect : DW_EH_PE_absptr);
        out.address(description.personality->address);
    }
    if (lands) out.byte(kRelative);
    out.byte(kRelative);
    out.bytes(description.initial);
    out.end(begin);
    return begin - 4;
}

}  // namespace

void describe_frames(const ObjectFile& file, std::uint64_t entry, MovedPrologue& moved) {
    const auto description = unwinding::frame_description(file, entry);
    if (!description) return;
    const auto program = moved_program(*description, entry, moved);
    if (!program) return;
    const bool lands = description->personality && description->landing_table != 0;
    const std::size_t code_size = moved.code.size();
    const std::size_t table = aligned(code_size);
    std::optional<LandingTable> landing;
    if (lands) {
        landing =
            unwinding::landing_table(file, *description, entry, moved, static_cast<std::uint32_t>(table));
        if (!landing) return;
    }

    const std::size_t fixups = moved.fixups.size();
    Description out{moved};
    out.align();
    if (landing) out.table(*landing);
    const std::size_t kind = put_kind(out, *description, lands);
    const std::size_t begin = out.begin();
    out.word(out.position() - kind);
    out.distance_to(0);
    out.word(moved.executed);
    out.uleb(lands ? 4 : 0);
    if (lands) out.distance_to(table);
    out.bytes(*program);
    out.end(begin);
    if (moved.code.size() - code_size > kMaxDescription) {
        moved.code.resize(code_size);
        moved.fixups.resize(fixups);
        return;
    }
    moved.description = static_cast<std::uint32_t>(begin - 4);
}

std::vector<std::uint64_t> entered_by_exceptions(const ObjectFile& file, std::uint64_t entry) {
    const auto description = unwinding::frame_description(file, entry);
    return description ? unwinding::landing_pads(file, *description) : std::vector<std::uint64_t>{};
}

}  // namespace rdam
