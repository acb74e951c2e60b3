// Chunks: who waits for one, and who does not.
#include "libprobe/event/chunk_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "tests/unit/catch.h"
#include "tests/unit/probe/fresh_memory.h"
#include "tools/agent/memory/shared_memory.h"

constinit __thread rdam::probe::ThreadState rdam_thread;
constinit rdam::probe::Guard rdam_guard = {};

namespace rdam::probe {

constinit Globals globals;
constinit OwnCopies own_copies;

void zero_bytes(void* to, std::size_t size) {
    std::memset(to, 0, size);
}

}  // namespace rdam::probe

using namespace rdam;
using namespace rdam::probe;

TEST_CASE("what a handler's fork child was interrupted in does not wait for an agent that is another's") {
    const agent::SharedMemory shared{test::fresh_memory()};
    globals.control = &shared.control();
    // The parent had handed over a chunk, and its agent lives; the child has fresh memory, and no chunk is left.
    own_copies.ring_tail.store(1);
    own_copies.agent_pid.store(static_cast<std::uint32_t>(getpid()));
    own_copies.chunks = 0;
    for (const bool packed : {false, true}) {
        std::uint64_t waited = 0;
        CHECK(acquire(rdam_thread, packed ? shm::ChunkKind::packed : shm::ChunkKind::records, waited) ==
              shm::kNone);
        CHECK(waited == 0);
    }
    CHECK(own_copies.waiters.load() == 0);
}
