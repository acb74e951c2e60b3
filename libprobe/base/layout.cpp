// The assembly files speak of offsets; this file holds them against the types.
#include "libprobe/base/layout.h"

#include <linux/perf_event.h>
#include <pthread.h>

#include <cstddef>

#include "libprobe/base/state.h"

namespace rdam::probe {

static_assert(sizeof(FunctionEntry) == 1u << RDAM_ENTRY_SHIFT);
static_assert(offsetof(FunctionEntry, resume) == RDAM_ENTRY_RESUME);
static_assert(offsetof(FunctionEntry, enter_head) == RDAM_ENTRY_ENTER_HEAD);
static_assert(offsetof(FunctionEntry, leave_head) == RDAM_ENTRY_LEAVE_HEAD);
static_assert(offsetof(FunctionEntry, enter_size) == RDAM_ENTRY_ENTER_SIZE);
static_assert(offsetof(FunctionEntry, leave_size) == RDAM_ENTRY_LEAVE_SIZE);
static_assert(offsetof(FunctionEntry, stack_bytes) == RDAM_ENTRY_STACK_BYTES);
static_assert(offsetof(FunctionEntry, store_integers) == RDAM_ENTRY_STACK_BYTES + sizeof(std::uint64_t));
static_assert(offsetof(FunctionEntry, integers) == RDAM_ENTRY_INTEGERS);
static_assert(offsetof(FunctionEntry, vectors) == RDAM_ENTRY_VECTORS);
static_assert(offsetof(FunctionEntry, stack_words) == RDAM_ENTRY_STACK_WORDS);
static_assert(offsetof(FunctionEntry, return_value) == RDAM_ENTRY_RETURN_VALUE);
static_assert(offsetof(FunctionEntry, store_integers) == RDAM_ENTRY_STORE_INTEGERS);
static_assert(offsetof(FunctionEntry, store_vectors) == RDAM_ENTRY_STORE_VECTORS);
static_assert(offsetof(FunctionEntry, last_begin) == RDAM_ENTRY_LAST_BEGIN);
static_assert(offsetof(FunctionEntry, pair_key) == RDAM_ENTRY_PAIR_KEY);

static_assert(offsetof(ThreadState, cursor) == RDAM_THREAD_CURSOR);
static_assert(offsetof(ThreadState, stack_limit) == RDAM_THREAD_STACK_LIMIT);
static_assert(offsetof(ThreadState, stack_low) == RDAM_THREAD_STACK_LOW);
static_assert(offsetof(ThreadState, stack_high) == RDAM_THREAD_STACK_HIGH);
static_assert(offsetof(ThreadState, counter) == RDAM_THREAD_COUNTER);
static_assert(offsetof(ThreadState, counter_gap) == RDAM_THREAD_COUNTER_GAP);
static_assert(offsetof(ThreadState, pairs) == RDAM_THREAD_PAIRS);
static_assert(offsetof(ThreadState, sites) == RDAM_THREAD_SITES);
static_assert(sizeof(Pair) == 16);

static_assert(RDAM_MAX_SITES == shm::kCallSites);
static_assert(sizeof(CallSite) == 1u << RDAM_SITE_SHIFT);
static_assert(offsetof(CallSite, return_address) == RDAM_SITE_RETURN);
static_assert(offsetof(CallSite, entry) == RDAM_SITE_ENTRY);
static_assert(offsetof(CallSite, resume) == RDAM_SITE_RESUME);

static_assert(offsetof(perf_event_mmap_page, lock) == RDAM_PERF_LOCK);
static_assert(offsetof(perf_event_mmap_page, index) == RDAM_PERF_INDEX);
static_assert(offsetof(perf_event_mmap_page, offset) == RDAM_PERF_OFFSET);
static_assert(offsetof(perf_event_mmap_page, time_enabled) == RDAM_PERF_TIME_ENABLED);
static_assert(offsetof(perf_event_mmap_page, time_running) == RDAM_PERF_TIME_RUNNING);
static_assert(offsetof(perf_event_mmap_page, capabilities) == RDAM_PERF_CAPABILITIES);
static_assert(offsetof(perf_event_mmap_page, pmc_width) == RDAM_PERF_WIDTH);

static_assert(offsetof(Guard, limit) == 0);
static_assert(offsetof(Guard, counters) == RDAM_GUARD_COUNTERS);
static_assert(sizeof(Guard) == 4096);

static_assert(RDAM_MUTEX_OWNER == plan::kMutexOwner);
#ifdef __GLIBC__
static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0);
static_assert(offsetof(pthread_mutex_t, __data.__owner) == plan::kMutexOwner);
#endif

// RECORD_LEAVE tells rax from xmm0 by these.
static_assert(static_cast<int>(plan::ReturnValue::rax) == 1 &&
              static_cast<int>(plan::ReturnValue::xmm0) == 2);

}  // namespace rdam::probe
