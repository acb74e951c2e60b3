#include "wrappers/hot/code_shape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "wrappers/entry/instruction.h"

namespace rdam {
namespace {

using relocation::Flow;
using relocation::Instruction;

bool enters_kernel(const Instruction& instruction) {
    switch (instruction.decoded.mnemonic) {
        case ZYDIS_MNEMONIC_SYSCALL:
        case ZYDIS_MNEMONIC_SYSENTER:
        case ZYDIS_MNEMONIC_INT:
            return true;
        default:
            return false;
    }
}

bool synchronizes(const Instruction& instruction) {
    if (instruction.is_atomic()) return true;
    switch (instruction.decoded.mnemonic) {
        case ZYDIS_MNEMONIC_PAUSE:
        case ZYDIS_MNEMONIC_MFENCE:
        case ZYDIS_MNEMONIC_MWAIT:
        case ZYDIS_MNEMONIC_MWAITX:
        case ZYDIS_MNEMONIC_UMWAIT:
        case ZYDIS_MNEMONIC_TPAUSE:
        case ZYDIS_MNEMONIC_XBEGIN:
            return true;
        default:
            return false;
    }
}

/// rep movs and its like: a loop in one instruction.
bool repeats(const Instruction& instruction) {
    constexpr ZydisInstructionAttributes kRepeated =
        ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    return instruction.decoded.meta.category == ZYDIS_CATEGORY_STRINGOP &&
           (instruction.decoded.attributes & kRepeated) != 0;
}

using Operands = std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>;

/// eax, ax and al are one register.
ZydisRegister whole(ZydisRegister part) {
    const ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
    return all == ZYDIS_REGISTER_NONE ? part : all;
}

bool is_no_state(ZydisRegister reg) {
    return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_RFLAGS;
}

/// One turn of a loop.
class Turn {
  public:
    void add(const Instruction& instruction) {
        ZydisDecodedInstruction decoded{};
        Operands operands{};
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&relocation::decoder(), instruction.bytes.data(),
                                               instruction.bytes.size(), &decoded, operands.data())))
            return;
        Load load;
        bool reads = false;
        for (unsigned i = 0; i < decoded.operand_count; ++i) {
            const ZydisDecodedOperand& operand = operands[i];
            const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
            if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM) {
                reads = reads || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
                writes_memory_ = writes_memory_ || writes;
                load.from = {whole(operand.mem.base), whole(operand.mem.index)};
            } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && writes &&
                       !is_no_state(whole(operand.reg.value))) {
                load.to = whole(operand.reg.value);
                written_.insert(load.to);
            }
        }
        reads_ = reads_ || reads;
        if (reads && load.to != ZYDIS_REGISTER_NONE && decoded.meta.category == ZYDIS_CATEGORY_DATAXFER)
            loads_.push_back(load);
    }

    bool only_looks() const {
        std::set<ZydisRegister> settled;  // the same in every iteration, as long as no other thread writes
        const auto is_settled = [&](ZydisRegister reg) {
            return written_.count(reg) == 0 || settled.count(reg) != 0;
        };
        const auto settles = [&](const Load& load) {
            return settled.count(load.to) == 0 && std::all_of(load.from.begin(), load.from.end(), is_settled);
        };
        for (auto next = loads_.begin(); next != loads_.end();) {
            next = std::find_if(loads_.begin(), loads_.end(), settles);
            if (next != loads_.end()) settled.insert(next->to);
        }
        return reads_ && !writes_memory_ && std::all_of(written_.begin(), written_.end(), is_settled);
    }

  private:
    struct Load {
        ZydisRegister to = ZYDIS_REGISTER_NONE;
        /// By which the place is found.
        std::array<ZydisRegister, 2> from{ZYDIS_REGISTER_NONE, ZYDIS_REGISTER_NONE};
    };

    bool reads_ = false;
    bool writes_memory_ = false;
    std::set<ZydisRegister> written_;
    std::vector<Load> loads_;
};

/// Whether a loop only reads memory until someone else changes it. `loop`: its instructions, in any order.
/// True if it reads memory, always at the same places, writes none, and computes nothing that goes from one
/// turn into the next.
bool is_polling(const std::vector<Instruction>& loop) {
    Turn turn;
    for (const Instruction& instruction : loop)
        turn.add(instruction);
    return turn.only_looks();
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Node {
    Instruction instruction;
    std::vector<std::size_t> next;  ///< nodes
    std::size_t order = kNone;      ///< in which the search for loops has come by
    std::size_t lowest = kNone;     ///< of those it leads back to
    bool open = false;
};

class Walk {
  public:
    explicit Walk(std::span<const std::uint8_t> body) : body_(body), node_at_(body.size(), kNone) {
        shape_.in_loop.resize(body.size());
    }

    CodeShape run() {
        if (reach(0) == kNone) shape_.followed = false;
        // Grows while it is gone through.
        for (std::size_t node = 0; node < nodes_.size(); ++node)
            follow(node);
        for (std::size_t node = 0; node < nodes_.size(); ++node)
            if (nodes_[node].order == kNone) search(node);
        if (!nodes_.empty()) shape_.shortest = shortest();
        return std::move(shape_);
    }

  private:
    /// The node of the instruction there, kNone: there is none.
    std::size_t reach(std::uint64_t offset) {
        if (offset >= body_.size()) return kNone;
        std::size_t& node = node_at_[offset];
        if (node != kNone) return node;
        const auto decoded = relocation::decode_at(body_, static_cast<std::uint32_t>(offset));
        if (!decoded.instruction) return kNone;
        node = nodes_.size();
        nodes_.push_back({*decoded.instruction, {}});
        return node;
    }

    void lead(std::size_t from, std::uint64_t offset) {
        const std::size_t to = reach(offset);
        if (to == kNone)
            shape_.followed = false;
        else
            nodes_[from].next.push_back(to);
    }

    void follow(std::size_t node) {
        const Instruction instruction = nodes_[node].instruction;
        const bool is_call = instruction.flow == Flow::call || instruction.flow == Flow::indirect_call ||
                             instruction.flow == Flow::far_call;
        shape_.enters_kernel = shape_.enters_kernel || enters_kernel(instruction);
        shape_.synchronizes = shape_.synchronizes || synchronizes(instruction);
        if (is_call && instruction.end() == body_.size()) return;
        shape_.calls = shape_.calls || is_call;
        if (instruction.flow == Flow::end && instruction.decoded.mnemonic == ZYDIS_MNEMONIC_JMP)
            shape_.jumps_anywhere = true;
        const auto target = is_call ? std::nullopt : instruction.branch_target();
        if (target && *target >= body_.size())
            shape_.exits.push_back(*target);
        else if (target)
            lead(node, *target);
        if (instruction.falls_through()) lead(node, instruction.end());
    }

    /// Breadth first.
    std::uint32_t shortest() const {
        std::vector<std::uint32_t> steps(nodes_.size());
        std::vector<std::size_t> reached{0};
        steps[0] = 1;
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const Node& node = nodes_[reached[i]];
            if (node.instruction.decoded.meta.category == ZYDIS_CATEGORY_RET) return steps[reached[i]];
            for (const std::size_t next : node.next) {
                if (steps[next] != 0) continue;
                steps[next] = steps[reached[i]] + 1;
                reached.push_back(next);
            }
        }
        return 0;
    }

    /// Tarjan's strongly connected components. The depth is bounded by the body's size.
    void search(std::size_t node) {
        nodes_[node].order = nodes_[node].lowest = found_++;
        nodes_[node].open = true;
        open_.push_back(node);
        for (const std::size_t next : nodes_[node].next) {
            if (nodes_[next].order == kNone) search(next);
            if (nodes_[next].open) nodes_[node].lowest = std::min(nodes_[node].lowest, nodes_[next].lowest);
        }
        if (nodes_[node].lowest == nodes_[node].order) close(node);
    }

    void close(std::size_t first) {
        std::vector<std::size_t> members;
        do {
            members.push_back(open_.back());
            open_.pop_back();
        } while (members.back() != first);
        const auto& next = nodes_[first].next;
        const bool is_loop = members.size() > 1 || std::find(next.begin(), next.end(), first) != next.end();
        std::vector<Instruction> loop;
        for (const std::size_t node : members) {
            nodes_[node].open = false;
            const Instruction& instruction = nodes_[node].instruction;
            if (is_loop || repeats(instruction)) shape_.in_loop[instruction.offset] = true;
            if (is_loop && synchronizes(instruction)) shape_.synchronizes_in_loop = true;
            loop.push_back(instruction);
        }
        if (is_loop && is_polling(loop)) shape_.polls = true;
    }

    std::span<const std::uint8_t> body_;
    std::vector<std::size_t> node_at_;  // by offset
    std::vector<Node> nodes_;
    std::vector<std::size_t> open_;
    std::size_t found_ = 0;
    CodeShape shape_;
};

}  // namespace

bool CodeShape::loops() const {
    return std::find(in_loop.begin(), in_loop.end(), true) != in_loop.end();
}

CodeShape shape_of_code(std::span<const std::uint8_t> body) {
    return Walk(body).run();
}

}  // namespace rdam
