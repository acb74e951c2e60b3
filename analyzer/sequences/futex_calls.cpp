#include "analyzer/sequences/futex_calls.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "wrappers/catalogue/catalogue.h"

namespace rdam::sequences {

bool may_use_futexes(const trace::FunctionInfo& function) {
    if (function.enter_words <= kFutexOperationWord || function.parameters.size() <= kFutexOperationWord)
        return false;
    for (std::uint16_t i = 0; i <= kFutexOperationWord; ++i)
        if (function.parameters[i].word != i) return false;
    const CatalogueFunction* const known =
        Catalogue::builtin().find(function.linkage_name.empty() ? function.name : function.linkage_name);
    return known != nullptr && known->futex;
}

FutexCall futex_call(const trace::Event& enter) {
    constexpr int kWithoutFlags = FUTEX_CMD_MASK;
    constexpr int kLockPi2 = 13;  // in headers since Linux 5.14
    if (enter.words.size() <= kFutexOperationWord || enter.words[kSystemCallWord] != SYS_futex)
        return FutexCall::none;
    switch (static_cast<int>(enter.words[kFutexOperationWord]) & kWithoutFlags) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
        case FUTEX_LOCK_PI:
        case kLockPi2:
            return FutexCall::wait;
        case FUTEX_UNLOCK_PI:
            return FutexCall::wake_one;
        case FUTEX_WAKE:
        case FUTEX_WAKE_BITSET:
            return enter.words.size() > kFutexCountWord &&
                           static_cast<std::uint32_t>(enter.words[kFutexCountWord]) > 1
                       ? FutexCall::wake_all
                       : FutexCall::wake_one;
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
