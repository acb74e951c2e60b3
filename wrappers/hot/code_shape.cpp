#include "wrappers/hot/code_shape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/base/demangle.h"
#include "wrappers/entry/instruction.h"
#include "wrappers/find/name_query.h"
#include "wrappers/find/object_set.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/object/object_file.h"
#include "wrappers/perf/perf_samples.h"

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
        relocation::WithOperands whole_of;
        if (!whole_of.decode(instruction.bytes)) return;
        const auto& [decoded, operands] = whole_of;
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
            return settled.count(load.to) == 0 && std::ranges::all_of(load.from, is_settled);
        };
        for (auto next = loads_.begin(); next != loads_.end();) {
            next = std::ranges::find_if(loads_, settles);
            if (next != loads_.end()) settled.insert(next->to);
        }
        return reads_ && !writes_memory_ && std::ranges::all_of(written_, is_settled);
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
        const bool is_loop = members.size() > 1 || std::ranges::find(next, first) != next.end();
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
    return std::ranges::find(in_loop, true) != in_loop.end();
}

CodeShape shape_of_code(std::span<const std::uint8_t> body) {
    return Walk(body).run();
}

namespace {

constexpr std::uint64_t kMaxStraight = 512;
constexpr std::uint64_t kMaxLooping = 4096;
constexpr std::uint64_t kMaxUntold = 128;

/// Code outside all loops runs once per call, at some 0.1 ns per instruction (docs/design.md): its share of
/// the samples shows how long a whole call takes.
constexpr double kNanosecondsAStep = 0.1;
constexpr double kMaxNanoseconds = 40;  ///< about what recording a call takes
constexpr std::uint64_t kMinOutside = 2;
constexpr std::uint64_t kEnoughSamples = 100;

/// Functions that call others, or write what other threads write, should be recorded completely, unless that
/// costs too much. Code that runs once per call takes some 0.06 ns per byte, or 0.25 ns per instruction, if
/// it does not wait; waiting makes its calls rarer.
constexpr double kNanosecondsAByte = 0.06;
constexpr double kNanosecondsAnInstruction = 0.25;
constexpr std::uint64_t kMinOutsideOfCostly = 10;
constexpr double kNanosecondsOfRecording = 75;  ///< probe, packing, agent
constexpr double kMaxPercent = 10;              ///< of all processor time, for one function

/// A function that may be too small to record each of its calls.
struct Leaf {
    std::uint64_t bytes = 0;  ///< 0: of an IFUNC, whose code is not known
    CodeShape shape;
};

/// What the catalogue knows of the function at an address, by any of its names; nullptr: nothing.
const CatalogueFunction* known_at(const ObjectFile& file, std::uint64_t address, const Catalogue& catalogue) {
    for (const Symbol& symbol : file.at(address))
        if (const auto* known = catalogue.find(well_known_name(symbol.name, catalogue))) return known;
    return nullptr;
}

bool is_about_others(const CatalogueFunction& function) {
    return function.waits || function.busy_waits || function.works_on_object();
}

/// Whether a call may wait, in code of the function's own. What synchronizes and calls may be a lock whose
/// slow way is elsewhere.
bool may_wait(const CodeShape& shape) {
    return shape.enters_kernel || shape.polls || shape.synchronizes_in_loop ||
           (shape.synchronizes && shape.calls);
}

bool concerns_others(const CodeShape& shape) {
    return shape.calls || shape.synchronizes;
}

/// "f.cold" of "f": what the compiler holds to be rare, somewhere else. Calls are, too, then.
bool is_harmless_exit(const ObjectFile& file, std::string_view name, std::uint64_t address) {
    constexpr std::string_view kCold = ".cold";
    const Symbol* symbol = file.covering(address);
    if (symbol == nullptr) return false;
    const CloneParts parts = split_clone(symbol->name);
    if (parts.suffix.find(kCold) == std::string_view::npos || parts.base != split_clone(name).base)
        return false;
    const auto extent = file.extent(symbol->address);
    if (!extent || extent->size() > kMaxLooping) return false;
    const CodeShape shape = shape_of_code(file.code(extent->begin, extent->size()));
    return !may_wait(shape) && !shape.synchronizes;
}

std::optional<Leaf> leaf_at(const ObjectFile& file, const Symbol& symbol, const Catalogue& catalogue) {
    const auto* known = known_at(file, symbol.address, catalogue);
    if (!symbol.is_code() || (known != nullptr && is_about_others(*known))) return std::nullopt;
    // Only stubs have samples under such a name (`strlen@plt`). The implementation has a line of its own if
    // it takes long, and that one decides: a plain name there outweighs the mark here.
    if (symbol.kind == SymbolKind::ifunc)
        return known != nullptr ? std::optional<Leaf>(Leaf{}) : std::nullopt;
    const auto extent = file.extent(symbol.address);
    if (!extent || extent->size() > kMaxLooping) return std::nullopt;
    Leaf leaf{extent->size(), shape_of_code(file.code(extent->begin, extent->size()))};
    if (!leaf.shape.followed || leaf.shape.jumps_anywhere || may_wait(leaf.shape)) return std::nullopt;
    for (const std::uint64_t exit : leaf.shape.exits)
        if (!is_harmless_exit(file, symbol.name, extent->begin + exit)) return std::nullopt;
    return leaf;
}

std::string description(const Leaf& leaf) {
    if (leaf.bytes == 0) return "small leaf (its code is chosen when the program starts)";
    if (concerns_others(leaf.shape)) return fmt::format("small and called often ({} bytes)", leaf.bytes);
    return fmt::format("small leaf{} ({} bytes)", leaf.shape.loops() ? " with a short loop" : "", leaf.bytes);
}

class Marker {
  public:
    Marker(const HotReport& report, const Catalogue& catalogue)
        : report_(report),
          catalogue_(catalogue),
          request_(request_about(report.objects)),
          objects_(request_) {}

    void mark(HotFunction& function) {
        const auto leaves = leaves_called(function);
        const bool small = !leaves.empty() && std::ranges::all_of(leaves, [&](const auto& leaf) {
            return leaf && is_short(*leaf, function);
        });
        if (!small) return;
        const auto largest = std::ranges::max_element(
            leaves, [](const auto& a, const auto& b) { return a->bytes < b->bytes; });
        function.leaf = description(**largest);
    }

  private:
    /// All that the entry of the list would wrap; nothing where one is no leaf.
    std::vector<std::optional<Leaf>> leaves_called(const HotFunction& function) {
        std::vector<std::optional<Leaf>> leaves;
        const NameQuery query(function.name);
        for (std::size_t index = 0; index < objects_.size(); ++index) {
            if (!function.module.empty() && !objects_.is_named(index, function.module)) continue;
            const ObjectFile* file = objects_.file(index);
            if (file == nullptr || !objects_.why_excluded(index).empty()) continue;
            for (const SymbolMatch& match : query.find_in(*file))
                leaves.push_back(leaf_at(*file, file->symbols()[match.symbol], catalogue_));
        }
        return leaves;
    }

    /// `percent` of the program's time are spent in code that takes `own` nanoseconds a call at least.
    static bool is_costly(double percent, double own) {
        return percent * kNanosecondsOfRecording > kMaxPercent * own;
    }

    bool is_short(const Leaf& leaf, const HotFunction& function) {
        if (leaf.shape.loops()) return is_short_with_loops(leaf, function);
        return leaf.bytes <= kMaxStraight &&
               (!concerns_others(leaf.shape) ||
                is_costly(function.percent, kNanosecondsAByte * static_cast<double>(leaf.bytes)));
    }

    bool is_short_with_loops(const Leaf& leaf, const HotFunction& function) {
        if (leaf.shape.shortest == 0) return false;
        std::uint64_t all = 0;
        std::uint64_t outside = 0;
        for (const auto& [offset, samples] : report_.places.of(function.module, function.name)) {
            all += samples;
            if (offset < leaf.shape.in_loop.size() && !leaf.shape.in_loop[offset]) outside += samples;
        }
        if (concerns_others(leaf.shape)) {
            if (outside < kMinOutsideOfCostly) return false;
            const double share = static_cast<double>(outside) / static_cast<double>(all);
            return is_costly(function.percent * share, kNanosecondsAnInstruction * leaf.shape.shortest);
        }
        const double most = kMaxNanoseconds / kNanosecondsAStep * static_cast<double>(outside);
        const bool told = outside >= kMinOutside && leaf.shape.shortest * static_cast<double>(all) <= most;
        return told || (all < kEnoughSamples && leaf.bytes <= kMaxUntold);
    }

    const HotReport& report_;
    const Catalogue& catalogue_;
    const PlanRequest request_;
    ObjectSet objects_;
};

}  // namespace

void mark_small_leaves(HotReport& report, const Catalogue& catalogue) {
    Marker marker(report, catalogue);
    for (HotFunction& function : report.hot.functions)
        marker.mark(function);
}

}  // namespace rdam
