#include "analyzer/sequences/futex_calls.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstdint>

#include "analyzer/sequences/known_functions.h"

namespace rdam::sequences {

static_assert(kFutexCall == SYS_futex);

bool may_use_futexes(const trace::FunctionInfo& function) {
    if (!function.waits || function.enter_words <= kFutexOperationWord ||
        function.parameters.size() <= kFutexOperationWord)
        return false;
    const CatalogueFunction* const known = known_function(function);
    if (known == nullptr || !known->futex) return false;
    for (std::uint16_t i = 0; i <= kFutexOperationWord; ++i)
        if (function.parameters[i].word != i || function.parameters[i].name != known->parameters[i].name)
            return false;
    return true;
}

FutexCall futex_call(const trace::Event& enter) {
    constexpr std::uint64_t kAll = INT32_MAX / 2;
    if (enter.words.size() <= kFutexOperationWord || enter.words[kSystemCallWord] != kFutexCall)
        return FutexCall::none;
    switch (static_cast<int>(enter.words[kFutexOperationWord]) & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
            return FutexCall::wait;
        case FUTEX_WAKE: {
            if (enter.words.size() <= kFutexCountWord) return FutexCall::other;
            const auto count = static_cast<std::uint32_t>(enter.words[kFutexCountWord]);
            if (count <= 1) return FutexCall::wake_one;
            return count >= kAll ? FutexCall::wake_all : FutexCall::other;
        }
        case FUTEX_REQUEUE:
        case FUTEX_CMP_REQUEUE:
        case FUTEX_CMP_REQUEUE_PI:
        case FUTEX_WAKE_OP:
            return FutexCall::moves;
        default:
            return FutexCall::other;
    }
}

std::string_view name_of(FutexCall call) {
    switch (call) {
        case FutexCall::none:
            return "none";
        case FutexCall::other:
            return "other";
        case FutexCall::moves:
            return "moves";
        case FutexCall::wait:
            return "wait";
        case FutexCall::wake_one:
            return "wake one";
        case FutexCall::wake_all:
            return "wake all";
    }
    return {};
}

}  // namespace rdam::sequences
