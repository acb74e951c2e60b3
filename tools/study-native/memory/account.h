/* What was placed, kept in a file for whoever has started the program; or else said in a line on standard error.
 *
 * The file is as `struct memory_account` has it, beginning with "memory1" and zeros, to which all processes of a run
 * add; what they have added is there when they are killed, too. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "tools/study-native/memory/place.h"
#include "tools/study-native/memory/rules.h"

struct memory_account {
    char magic[8];
    _Atomic uint64_t processes;           /* that had rules */
    _Atomic uint64_t areas;               /* placed, or given to the kernel to be placed */
    _Atomic uint64_t pages;               /* that were looked at when they had been placed */
    _Atomic uint64_t elsewhere;           /* of these, on other nodes than planned */
    _Atomic uint64_t left_alone;          /* areas */
    _Atomic uint64_t nanoseconds;         /* that placing took, of all threads */
    _Atomic uint64_t nodes;               /* that the process could use, the greatest number of all */
    _Atomic uint64_t fitting[most_rules]; /* areas, by rule */
    _Atomic uint64_t has_reason;          /* 0, or 1 while and after it was written */
    char reason[256];                     /* why the first one was left alone, ending with 0 */
};

/* Where it cannot be mapped, an account of this process only is kept. */
void open_memory_account(const char* path);

void note_process(unsigned nodes);

/* A rule fits an area of this name ("" if it has none): placed, or left alone for a reason. */
void note_area(unsigned rule, const char* name, uint64_t bytes, const char* why,
               const struct PlacedPages* placed, uint64_t nanoseconds);

/* Nothing can be placed, or an area that no rule was looked for. */
void note_reason(const char* what, const char* why);
