// Proves that a text does not occur in another one, which was read once.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace rdam {

/// Remembers, by hash, all pieces of four characters.
class PieceFilter {
  public:
    PieceFilter() : pieces_(std::size_t{1} << kHashBits) {}

    void add(std::string_view text) {
        for (std::size_t at = 0; at + kPiece <= text.size(); ++at)
            pieces_[hash_of_piece(text.data() + at)] = true;
    }
    /// False: nothing that was added contains `text`.
    bool may_contain(std::string_view text) const {
        for (std::size_t at = 0; at + kPiece <= text.size(); ++at)
            if (!pieces_[hash_of_piece(text.data() + at)]) return false;
        return true;
    }

  private:
    static constexpr std::size_t kPiece = 4;
    static constexpr unsigned kHashBits = 18;

    static std::size_t hash_of_piece(const char* text) {
        constexpr std::uint32_t kGoldenRatio = 2654435769U;
        std::uint32_t piece = 0;
        std::memcpy(&piece, text, kPiece);
        return (piece * kGoldenRatio) >> (32 - kHashBits);
    }

    std::vector<bool> pieces_;
};

}  // namespace rdam
