#include "wrappers/relocate/branch_scan.h"

#include <algorithm>
#include <limits>

#include "wrappers/relocate/instruction.h"

namespace rdam::relocation {
namespace {

class Scan {
  public:
    Scan(std::span<const std::uint8_t> body, std::uint32_t head)
        : body_(body), head_(std::min<std::uint64_t>(head, body.size())), visited_(body.size()) {}

    std::vector<Reference> run() {
        sweep(0);
        while (!starts_.empty()) {
            const std::uint32_t start = starts_.back();
            starts_.pop_back();
            sweep(start);
        }
        std::sort(found_.begin(), found_.end(),
                  [](const Reference& a, const Reference& b) { return a.source < b.source; });
        return std::move(found_);
    }

  private:
    void sweep(std::uint32_t offset) {
        while (offset < body_.size() && !visited_[offset]) {
            visited_[offset] = true;
            const Decoded decoded = decode_at(body_, offset);
            if (decoded.instruction) note(*decoded.instruction);
            offset += decoded.instruction ? decoded.instruction->decoded.length : 1U;
        }
    }

    void note(const Instruction& instruction) {
        if (const auto target = instruction.branch_target(); target && *target < body_.size()) {
            const bool is_call = instruction.flow == Flow::call;
            add(instruction, *target, is_call ? ReferenceKind::call : ReferenceKind::jump);
            if (!visited_[*target]) starts_.push_back(static_cast<std::uint32_t>(*target));
        }
        if (const auto target = instruction.memory_target(); target && !is_harmless(instruction, *target))
            add(instruction, *target, ReferenceKind::address);
    }

    /// Position-independent code of the large model begins with the address of its own `lea`: a base to add
    /// to.
    static bool is_harmless(const Instruction& instruction, std::uint64_t target) {
        const bool is_base =
            instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA && target == instruction.offset;
        return is_base || instruction.is_nop();
    }

    void add(const Instruction& instruction, std::uint64_t target, ReferenceKind kind) {
        if (target < head_)
            found_.push_back(
                {instruction.offset, instruction.end(), static_cast<std::uint32_t>(target), kind});
    }

    std::span<const std::uint8_t> body_;
    std::uint64_t head_;
    std::vector<bool> visited_;
    std::vector<std::uint32_t> starts_;
    std::vector<Reference> found_;
};

}  // namespace

std::vector<Reference> references_to_head(std::span<const std::uint8_t> body, std::uint32_t head) {
    return Scan(body, head).run();
}

}  // namespace rdam::relocation
