// Putting instructions where they can run, also where the system forbids memory to become executable that was
// writable (PR_SET_MDWE, systemd's MemoryDenyWriteExecute, SELinux's execmod).
#pragma once

#include <cstdint>

namespace rdam::probe {

/// Makes `size` bytes at `address`, a private writable mapping, readable and executable with their content.
/// False: they are as before.
bool make_executable(std::uint64_t address, std::uint64_t size);

/// Overwrites code of the program. Its pages are never writable and executable at the same time for other
/// threads, and have their protection back afterwards. False: nothing has been changed.
bool write_code(std::uint64_t address, const void* bytes, std::uint64_t size);

}  // namespace rdam::probe
