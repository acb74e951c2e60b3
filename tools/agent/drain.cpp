#include "tools/agent/drain.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <thread>
#include <tuple>
#include <utility>

#include "libprobe/format/free_list.h"
#include "tools/agent/call_counts.h"
#include "tools/agent/chunk_parser.h"
#include "tools/agent/regions.h"
#include "tools/agent/remarks.h"

namespace rdam::agent {
namespace {

constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kMostHeld = 32;     ///< chunks of a thread that wait for one slot to be written
constexpr std::uint32_t kShareSpent = 8;  ///< of the chunks, at most, are kept for holes that were given up
constexpr std::size_t kMostAtOnce = 16;   ///< entries of the ring, before the caller looks around

/// And the remedy. `error`: an errno, for which the machine gave no more buffers; 0: it gave what it was
/// asked.
std::string why_dropped(std::uint32_t error) {
    switch (error) {
        case 0:
            return "the buffers were full; give more with RDAM_BUFFER";
        case EPERM:
        case EACCES:
        case EINVAL:
        case ENOSYS:
            return fmt::format(
                "the kernel refused memory for more buffers (mprotect or madvise: {}); allow these calls "
                "where they are forbidden (seccomp)",
                std::strerror(static_cast<int>(error)));
        default:
            return "the machine had no memory for more buffers; free some, or record fewer functions";
    }
}

