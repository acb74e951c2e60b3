// Calls of syscall() that work on a futex (futex(2)): programs and runtimes that build their own locks wait and wake
// through them (Rust's std::sync, C++20's std::atomic::wait()).
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/trace/event.h"

namespace rdam::sequences {

/// What a call does to a futex: the value of the key that is the operation.
enum class FutexCall : std::uint8_t {
    none,      ///< the call is not about a futex
    other,     ///< it may wake some of those that wait, and it is not known which
    moves,     ///< … or those that wait for another futex, or it moves them to one
    wait,      ///< it waits, unless the value has changed
    wake_one,  ///< it wakes one of those that wait
    wake_all,  ///< it wakes all of them
};

/// Words of an enter event of such a function: what syscall() is given, of which the address and the operation are keys.
inline constexpr std::uint16_t kSystemCallWord = 0, kFutexWord = 1, kFutexOperationWord = 2,
                               kFutexCountWord = 3;

/// The value of the first one, if the call is about a futex.
inline constexpr std::uint64_t kFutexCall = 202;  // SYS_futex

/// Whether calls of the function may be about futexes (CatalogueFunction::futex), and the words above are recorded.
bool may_use_futexes(const trace::FunctionInfo& function);

/// `enter`: of such a function.
FutexCall futex_call(const trace::Event& enter);

/// In the words of futex(2): `wait`.
std::string_view name_of(FutexCall call);

}  // namespace rdam::sequences
