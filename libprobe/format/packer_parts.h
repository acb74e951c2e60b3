// What both loops of the packer use, the one for any record (packer.cpp) and the fast one (straight.cpp): in
// place, for they run for every event.
#pragma once

#include "libprobe/format/packer.h"
#include "libprobe/format/varint.h"

namespace rdam::pack {

template <class Number>
std::uint8_t* put_number(std::uint8_t* to, Number number) {
    __builtin_memcpy(to, &number, sizeof number);
    return to + sizeof number;
}

inline std::uint8_t* Packer::put_word(std::uint8_t* out, std::uint64_t value, std::uint64_t& previous) {
    out = tagged::put(out, varint::zigzag(value - previous));
    previous = value;
    return out;
}

inline std::uint8_t* Packer::put_words(std::uint8_t* out, const Known& op, const std::uint64_t* record) {
    std::uint64_t* previous = op.previous;
    const std::uint64_t* word = record + op.first_word;
    const std::uint64_t* const end = word + op.words;
    while (word != end)
        out = put_word(out, *word++, *previous++);
    return out;
}

/// The op that has these; null: there is none yet, and `place` is where in the index it belongs.
inline Packer::Known* Packer::find(std::uint64_t key, std::uint64_t caller, std::uint32_t& place) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    const std::uint64_t mixed = (key ^ key >> 40 ^ caller << 16) * kSpread;
    place = static_cast<std::uint32_t>(mixed >> (64 - kIndexBits));
    for (;; place = (place + 1) % (1u << kIndexBits)) {
        const std::uint32_t number = index_[place];
        if (number == 0) return nullptr;
        Known& known = ops_[number - 1];
        if (known.head == key && known.caller == caller) return &known;
    }
}

}  // namespace rdam::pack
