#pragma once

namespace rdam::test {

/// How many random cases a comparison with a reference takes: of those of a plain build a sixteenth under
/// sanitizers, which take ten times as long and look for other mistakes.
template <typename Number>
constexpr Number rounds(Number plain) {
#ifdef RDAM_SANITIZED
    return plain / 16;
#else
    return plain;
#endif
}

}  // namespace rdam::test
