/* Puts the pages of an area on the nodes that a plan gives them. Where the kernel or the machine does not let it,
 * the memory stays as it is.
 *
 * Linux is asked by its system calls: libnuma would add a library with a state and messages of its own to each
 * program, for four of them.
 *
 * Policies with few ranges (first_touch, interleave, bind, bind_block) are given to the kernel (mbind(2)), which
 * then chooses the node when a page is used first. For the others, each page would be a range of its own, of which
 * a process may have 65,530: their pages are made at once, each under the policy of its node, and then looked at
 * and moved where they are elsewhere (move_pages(2)). So that pages are single ones, the area has no large pages
 * then. No policy makes a program end that finds no memory on a node: others are used instead. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/study-native/memory/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { most_nodes = highest_node + 1, most_threads = 8192, most_group_path = 4096 };

/* What the process may use. */
struct MemoryNodes {
    uint16_t numbers[most_nodes]; /* by the system, in ascending order */
    unsigned count;
    uint16_t thread_places[most_threads]; /* in `numbers`, of the threads, in their order */
    unsigned thread_count;                /* 0: threads are not pinned */
    char group[most_group_path];          /* the folder of the control group, or empty */
    unsigned group_depth;                 /* groups above it */
    const char* why_unmade;               /* why no pages can be made before they are used, or NULL */
};

/* Why nothing can be placed, or NULL. `processors` is where the threads are pinned to, as in 0,4,1; or NULL. */
const char* find_memory_nodes(struct MemoryNodes* nodes, const char* processors);

struct PlacedPages {
    uint64_t pages;     /* that were looked at afterwards; 0 where the kernel places them later */
    uint64_t elsewhere; /* of these, on another node than planned */
};

/* Takes the policy from these pages, which stay where they are. */
void forget_area(const void* area, uint64_t bytes);

/* Places the pages that hold any byte of the area. Why it was left alone, or NULL; errno is undefined. May be called
 * by several threads at once, calls nothing that allocates, and needs less than 3 KiB of stack. */
const char* place_area(const struct MemoryNodes* nodes, const struct MemoryRule* rule, const void* area,
                       uint64_t bytes, uint64_t seed, struct PlacedPages* placed);

#ifdef __cplusplus
}
#endif
