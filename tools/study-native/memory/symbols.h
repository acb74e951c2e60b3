/* What an object's file says of its static variables and functions. Any bytes may be given as a file: what is not
 * inside it is not read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ObjectSymbol {
    const char* name; /* in the file */
    uint64_t address; /* as the file has it: the object may be loaded elsewhere */
    uint64_t bytes;   /* more than 0; address + bytes does not overflow */
    bool is_function;
};

enum SymbolTable {
    symbols_none,    /* no 64-bit ELF file, or one without a table */
    symbols_dynamic, /* stripped: only what others may use */
    symbols_all,
};

/* Calls `take` for each variable and function that the object defines, those of single threads left out. */
enum SymbolTable each_symbol(const void* file, size_t bytes,
                             void (*take)(void* data, const struct ObjectSymbol* symbol), void* data);

#ifdef __cplusplus
}
#endif
