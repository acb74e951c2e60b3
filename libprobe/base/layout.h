// What the assembly files know of the recorder's data. layout.cpp checks every number against the C++ types.
#pragma once

#include "libprobe/format/events.h"

// FunctionEntry
#define RDAM_ENTRY_SHIFT 6
#define RDAM_ENTRY_RESUME 0
#define RDAM_ENTRY_ENTER_HEAD 8
#define RDAM_ENTRY_LEAVE_HEAD 16
#define RDAM_ENTRY_ENTER_SIZE 24
#define RDAM_ENTRY_LEAVE_SIZE 26
#define RDAM_ENTRY_RETURN_VALUE 28
#define RDAM_ENTRY_LAST_BEGIN 30
#define RDAM_ENTRY_STACK_BYTES 32
#define RDAM_ENTRY_INTEGERS 36
#define RDAM_ENTRY_VECTORS 37
#define RDAM_ENTRY_STACK_WORDS 38
#define RDAM_ENTRY_STORE_INTEGERS 40
#define RDAM_ENTRY_STORE_VECTORS 48
#define RDAM_ENTRY_PAIR_KEY 56

#define RDAM_PAGE 4096
#define RDAM_MUTEX_OWNER 8  // plan::kMutexOwner
// What is read-only while the program runs (settled.S): the functions' table, and a page behind it
#define RDAM_SETTLED_SIZE ((RDAM_MAX_FUNCTIONS << RDAM_ENTRY_SHIFT) + RDAM_PAGE)

// ThreadState (thread-local)
#define RDAM_THREAD_CURSOR 0
#define RDAM_THREAD_STACK_LIMIT 8
#define RDAM_THREAD_STACK_LOW 16
#define RDAM_THREAD_STACK_HIGH 24
#define RDAM_THREAD_COUNTER 32
#define RDAM_THREAD_COUNTER_GAP 40
#define RDAM_THREAD_PAIRS 64
#define RDAM_PAIR_BITS 9
#define RDAM_THREAD_SITES (RDAM_THREAD_PAIRS + (16 << RDAM_PAIR_BITS))
#define RDAM_PAIR_HASH 0x9E3779B1  // odd, near 2^32 divided by the golden ratio: Knuth, TAOCP 6.4

// Guard: what a record's offset in its chunk is below while events are recorded; 0 when none are
#define RDAM_GUARD_OPEN (RDAM_CHUNK_LIMIT + 1)
#define RDAM_GUARD_COUNTERS 16

// perf_event_mmap_page of linux/perf_event.h
#define RDAM_PERF_LOCK 8
#define RDAM_PERF_INDEX 12
#define RDAM_PERF_OFFSET 16
#define RDAM_PERF_TIME_ENABLED 24
#define RDAM_PERF_TIME_RUNNING 32
#define RDAM_PERF_CAPABILITIES 40
#define RDAM_PERF_CAP_USER_RDPMC 4
#define RDAM_PERF_WIDTH 48

// CallSite, and the code that calls a function without a frame on the stack (trampoline.S)
#define RDAM_SITE_SHIFT 5
#define RDAM_SITE_RETURN 0
#define RDAM_SITE_ENTRY 8
#define RDAM_SITE_RESUME 16
#define RDAM_PAD_SHIFT 4
#define RDAM_PAD_RETURN 6  // where in a pad its function returns to
#define RDAM_MAX_SITES 131072

// The frame that every trampoline builds, from its rbp downwards. The return address is at rbp+8.
// NOLINTBEGIN(bugprone-macro-parentheses): displacements
#define RDAM_FRAME_RAX -8
#define RDAM_FRAME_RDX -16
#define RDAM_FRAME_RCX -24
#define RDAM_FRAME_R10 -32
#define RDAM_FRAME_R11 -40
#define RDAM_FRAME_RESUME -48  // shadow: the pad
#define RDAM_FRAME_ENTRY -56
#define RDAM_FRAME_COUNT -64  // on the way back, where instructions are counted
// NOLINTEND(bugprone-macro-parentheses)
#define RDAM_FRAME_SIZE 64
// A frame of a call that keeps the flags, too, which are behind it.
#define RDAM_FRAME_FLAGS -72
#define RDAM_SHADOW_FRAME_SIZE 80
// With two return addresses (one of them the caller's) and rbp, a stack frame takes 128 bytes.
#define RDAM_FRAME_PADDING 48

#define RDAM_STUB_SIZE 16
