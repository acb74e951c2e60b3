/* Which policy is meant for which memory: `u=cyclic,rhs=bind_block,@make_grid=random,64M..=interleave,cyclic`.
 *
 * A rule is [WHAT=]POLICY, and the first one that fits an area decides. WHAT is
 *   NAME          a static variable (.data, .bss, COMMON): as in the source, of C, Fortran and C++ (`grid::u`)
 *   NAME[FROM..TO]   these bytes of it, such as an array of a COMMON block; either end may be left out, with K, M, G
 *   @NAME         what is allocated in this function, or in functions that it calls
 *   FROM..TO      areas of this size, in bytes or with K, M, G (of 1024), from a page on; either end may be left out
 * and nothing: any area of 1 MiB or more. POLICY is first-touch, local (the same), interleave, bind:NODE+NODE,
 * bind_block, cyclic, skew_mapp, prime_mapp or random. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/study-native/memory/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    most_rules = 64,
    most_rule_name = 127, /* bytes */
    most_bound_nodes = 64,
    highest_node = 1023, /* of Linux */
    large_area = 1 << 20,
    whole_page = 4096,
};

enum RuleSubject { rule_any, rule_variable, rule_function, rule_size };

struct MemoryRule {
    enum RuleSubject subject;
    char name[most_rule_name + 1]; /* of a variable or function */
    uint64_t least, most;          /* bytes that an area may have */
    bool is_of_part;               /* of a variable: */
    uint64_t from, to;             /* bytes in it, the latter behind the part; UINT64_MAX: to its end */
    enum PagePolicy policy;
    uint16_t nodes[most_bound_nodes]; /* of bind, by the system's numbers */
    unsigned node_count;
};

struct MemoryRules {
    struct MemoryRule rules[most_rules];
    unsigned count;
};

/* False if the text is no list of rules; `*wrong` is then where the rule begins that is not understood. */
bool parse_memory_rules(const char* text, struct MemoryRules* rules, const char** wrong);

/* Whether a symbol of an object is what a name in the source stands for: the name itself; with what compilers
 * append (`u.0`, gcc's clones); Fortran's `u_` and module variables; and of C++ also static ones, and those of
 * namespaces and classes (`grid::u`), without templates. */
bool is_symbol_of(const char* symbol, const char* name);

/* What is known of an area. */
struct MemoryArea {
    const char* variable; /* the symbol of a static variable, or NULL */
    bool is_static;       /* otherwise it was allocated */
    uint64_t bytes;
    uint64_t functions; /* bit i: it was allocated below the function of rule i */
};

/* The first rule that fits, or NULL. Rules for parts of variables fit none. */
const struct MemoryRule* rule_of_area(const struct MemoryRules* rules, const struct MemoryArea* area);

/* Bytes of the smallest allocated area that a rule may fit; UINT64_MAX if none does. */
uint64_t least_allocation(const struct MemoryRules* rules);

#ifdef __cplusplus
}
#endif
