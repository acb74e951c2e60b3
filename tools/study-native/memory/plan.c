#include "tools/study-native/memory/plan.h"

#include <stdbool.h>

static bool is_prime(unsigned number) {
    for (unsigned divisor = 2; divisor <= number / divisor; divisor++)
        if (number % divisor == 0) return false;
    return number > 1;
}

unsigned prime_from(unsigned number) {
    while (!is_prime(number))
        number++;
    return number;
}

/* Sebastiano Vigna's splitmix64: neighbouring seeds and pages give independent numbers. */
static uint64_t drawn(uint64_t seed, uint64_t page) {
    uint64_t value = seed + (page + 1) * UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* a * b / c without an overflow, for a < c. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c) {
    return (uint64_t)((__uint128_t)a * b / c);
}

uint64_t begin_of_block(const struct PagePlan* plan, unsigned thread) {
    /* The least page whose share of the threads, page * threads / pages, is this thread. */
    const __uint128_t above = (__uint128_t)thread * plan->pages + plan->place_count - 1;
    return (uint64_t)(above / plan->place_count);
}

static int prime_mapped(const struct PagePlan* plan, uint64_t page) {
    const unsigned banks = prime_from(plan->nodes);
    const uint64_t bank = page % banks;
    if (bank < plan->nodes) return (int)bank;
    const uint64_t others_before = page / banks * (banks - plan->nodes) + (bank - plan->nodes);
    return (int)(others_before % plan->nodes);
}

int node_of_page(const struct PagePlan* plan, uint64_t page) {
    const unsigned nodes = plan->nodes;
    switch (plan->policy) {
        case page_first_touch:
            return page_anywhere;
        case page_interleave:
            return (int)((plan->first_page + page) % nodes);
        case page_bind:
            return plan->place_count == 1 ? plan->places[0] : page_anywhere;
        case page_bind_block:
            return plan->places[share(page, plan->place_count, plan->pages)];
        case page_cyclic:
            return (int)(page % nodes);
        case page_skew_mapp:
            return (int)((page + page / nodes + 1) % nodes);
        case page_prime_mapp:
            return prime_mapped(plan, page);
        case page_random:
            return (int)((__uint128_t)drawn(plan->seed, page) * nodes >> 64);
    }
    return page_anywhere;
}

int is_by_page(enum PagePolicy policy) {
    return policy >= page_cyclic;
}
