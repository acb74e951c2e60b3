/* On which node of memory each page of an area belongs, by policy: pure functions, which ask nothing of the
 * machine.
 *
 * bind_block, cyclic, skew_mapp, prime_mapp and random are those of table 5 of C. Pousa Ribeiro, A. Carissimi,
 * J.-F. Mehaut, Memory Access Characterization of OpenMP Workloads on a Multi-core NUMA Machine (INRIA report
 * RR-7330, 2010). Pages and nodes are counted from 0; nodes by their place in the list of those that the process
 * may use, not by the system's numbers. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum PagePolicy {
    page_first_touch, /* on the node of the thread that uses it first: only the kernel knows */
    page_interleave,  /* by the kernel: nodes in turn, beginning anywhere */
    page_bind,        /* on one node, or on the nearest of several */
    page_bind_block,  /* consecutive blocks, one for each thread, on the thread's node */
    page_cyclic,      /* page i on node i mod M */
    page_skew_mapp,   /* page i on node (i + i/M + 1) mod M */
    page_prime_mapp, /* cyclic over P virtual banks, the least prime number P >= M; pages of banks from M on: cyclic */
    page_random, /* drawn, all nodes alike */
};

struct PagePlan {
    enum PagePolicy policy;
    uint64_t pages; /* of the area */
    unsigned nodes; /* M, at least 1 */
    /* Of bind_block: the node of each thread, in the order of threads; at least one. Of bind: the nodes. */
    const uint16_t* places;
    unsigned place_count;
    uint64_t
        first_page; /* of interleave: the area's address in pages, as long as the memory was not mapped again */
    uint64_t seed; /* of random */
};

enum { page_anywhere = -1 }; /* the kernel chooses */

/* The node for page `page` of the plan's area, which must be one of its pages. */
int node_of_page(const struct PagePlan* plan, uint64_t page);

/* Of bind_block: the first page of thread `thread`'s block, which has the pages whose first bytes OpenMP's static
 * schedule gives to the thread if the area is an array from its first byte on; `pages` for `thread` = place_count.
 * Where there are fewer pages than threads, some blocks are empty. */
uint64_t begin_of_block(const struct PagePlan* plan, unsigned thread);

/* The least prime number that is not less than `number`. */
unsigned prime_from(unsigned number);

/* Whether pages next to each other mostly lie on different nodes, so that each must be put there by itself. */
int is_by_page(enum PagePolicy policy);

#ifdef __cplusplus
}
#endif
