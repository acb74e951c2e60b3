/* librdam-memory.so, preloaded: puts the pages of a program's large allocations and static variables on nodes of
 * memory, as rules say.
 *
 *   RDAM_MEMORY_RULES=u=cyclic,bind_block   required; rules.h says how they are written
 *   RDAM_MEMORY_FILE=/path                  account.h; without it, what is left alone is said on standard error
 *   RDAM_MEMORY_SEED=7                      of the policy random
 *   RDAM_PIN_PLACES=0,4,1,5                 where the threads are, for bind_block: as librdam-pin.so has it
 *
 * Static variables are placed before the program's own code runs: those of the program and of the libraries that it
 * is linked with, by the symbols of their files; of a file without them, its .bss as a whole. Allocations are placed
 * when they are made: by malloc() and its relatives (new and ALLOCATE call them), and by mmap() of memory of this
 * process alone. Not seen are allocations in static programs, and those made without libc.
 *
 * The program's calls return what they would without this library. What it is in doubt about it leaves alone. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/study-native/memory/account.h"
#include "tools/study-native/memory/place.h"
#include "tools/study-native/memory/rules.h"
#include "tools/study-native/memory/symbols.h"

#define EXPORTED __attribute__((visibility("default")))
#define OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

enum {
    most_callers = 16,    /* that are looked at above an allocation */
    most_functions = 256, /* that rules name, in all objects */
};

static struct MemoryRules rules;
static struct MemoryNodes nodes;
static uint64_t seed;
static uint64_t smallest = UINT64_MAX; /* allocation that is looked at; set when all else is */
static atomic_uint areas_seen;

/* In one of our own functions, or in one of libc's that we have called: what is allocated there is not ours. */
static OF_THREAD bool is_inside;

/* Functions that rules name. */
static struct function {
    uintptr_t begin, end;
    unsigned rule;
} functions[most_functions];
static unsigned function_count;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void place_by(const struct MemoryRule* rule, const struct MemoryArea* area, const void* begin,
                     const char* doubt) {
    const uint64_t start = now();
    struct PlacedPages placed = {0, 0};
    /* Areas of one size are not drawn alike. */
    const uint64_t drawn = seed + atomic_fetch_add(&areas_seen, 1) * UINT64_C(0xd1342543de82ef95);
    const char* const why =
        doubt != NULL ? doubt : place_area(&nodes, rule, begin, area->bytes, drawn, &placed);
    const char* const name = area->variable != NULL ? area->variable : area->is_static ? "a .bss" : "";
    note_area((unsigned)(rule - rules.rules), name, area->bytes, why, &placed, now() - start);
}

static void place(const struct MemoryArea* area, const void* begin, const char* doubt) {
    const struct MemoryRule* const rule = rule_of_area(&rules, area);
    if (rule != NULL) place_by(rule, area, begin, doubt);
}

/* Static variables. */

enum { most_parts = 16 };

struct object {
    uintptr_t base; /* what is added to the addresses of its file */
    const char* path;
    struct range {
        uintptr_t begin, file_end, end;
    } parts[most_parts]; /* that may be written to */
    unsigned part_count;
    unsigned variables; /* found so far, of those that are as large as a rule wants */
};

static uint64_t least_variable(void) {
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < rules.count; i++)
        if (rules.rules[i].subject != rule_function && rules.rules[i].least < least)
            least = rules.rules[i].least;
    return least;
}

static bool is_inside_of(const struct object* object, uintptr_t begin, uint64_t bytes) {
    for (unsigned i = 0; i < object->part_count; i++)
        if (begin >= object->parts[i].begin && begin < object->parts[i].end &&
            bytes <= object->parts[i].end - begin)
            return true;
    return false;
}

static void take_function(const struct object* object, const struct ObjectSymbol* symbol) {
    for (unsigned i = 0; i < rules.count; i++) {
        if (rules.rules[i].subject != rule_function || !is_symbol_of(symbol->name, rules.rules[i].name))
            continue;
        if (function_count == most_functions) {
            note_reason(rules.rules[i].name,
                        "more than 256 functions have such names: name one that is rarer");
            return;
        }
        const uintptr_t begin = object->base + symbol->address;
        functions[function_count++] = (struct function){begin, begin + symbol->bytes, i};
    }
}

/* Those for which there are rules; what else was done to the whole. */
static void place_parts(const struct MemoryArea* whole, uintptr_t begin) {
    for (unsigned i = 0; i < rules.count; i++) {
        const struct MemoryRule* const rule = &rules.rules[i];
        if (!rule->is_of_part || !is_symbol_of(whole->variable, rule->name)) continue;
        const bool is_there = rule->from < whole->bytes;
        struct MemoryArea part = *whole;
        if (is_there) part.bytes = (rule->to < whole->bytes ? rule->to : whole->bytes) - rule->from;
        place_by(rule, &part, (const void*)(begin + rule->from), is_there ? NULL : "it has no such bytes");
    }
}

static void take(void* data, const struct ObjectSymbol* symbol) {
    struct object* const object = data;
    if (symbol->is_function) {
        take_function(object, symbol);
        return;
    }
    const uintptr_t begin = object->base + symbol->address;
    if (!is_inside_of(object, begin, symbol->bytes)) return;
    object->variables += symbol->bytes >= least_variable();
    const struct MemoryArea area = {.variable = symbol->name, .is_static = true, .bytes = symbol->bytes};
    place(&area, (const void*)begin, NULL);
    place_parts(&area, begin);
}

/* Of a file that does not say which variables are in it. */
static void place_whole(const struct object* object) {
    for (unsigned i = 0; i < object->part_count; i++) {
        const struct range* const part = &object->parts[i];
        const struct MemoryArea area = {.is_static = true, .bytes = part->end - part->file_end};
        const struct MemoryRule* const rule = area.bytes > 0 ? rule_of_area(&rules, &area) : NULL;
        if (rule != NULL)
            place(&area, (const void*)part->file_end,
                  rule->policy == page_bind_block
                      ? "the file has no symbols, so nobody knows which arrays are in it"
                      : NULL);
    }
}

static bool has_functions(void) {
    for (unsigned i = 0; i < rules.count; i++)
        if (rules.rules[i].subject == rule_function) return true;
    return false;
}

static void read_object(struct object* object) {
    struct stat facts;
    const int file = open(object->path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void* content = MAP_FAILED;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0)
        content = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (content == MAP_FAILED) return;
    const enum SymbolTable table = each_symbol(content, (size_t)facts.st_size, take, object);
    munmap(content, (size_t)facts.st_size);
    if (table != symbols_all && object->variables == 0) place_whole(object);
}

static int take_object(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    bool* const is_first = data;
    struct object object = {.base = info->dlpi_addr, .path = *is_first ? "/proc/self/exe" : info->dlpi_name};
    *is_first = false;
    uint64_t largest = 0;
    for (int i = 0; i < info->dlpi_phnum && object.part_count < most_parts; i++) {
        const Elf64_Phdr* const head = &info->dlpi_phdr[i];
        if (head->p_type != PT_LOAD || (head->p_flags & PF_W) == 0) continue;
        const uintptr_t begin = object.base + head->p_vaddr;
        object.parts[object.part_count++] =
            (struct range){begin, begin + head->p_filesz, begin + head->p_memsz};
        if (head->p_memsz > largest) largest = head->p_memsz;
    }
    if (object.path[0] == '/' && (has_functions() || largest >= least_variable())) read_object(&object);
    return 0;
}

/* Allocations. */

static uint64_t functions_above(void) {
    void* callers[most_callers];
    uint64_t found = 0;
    if (function_count == 0) return 0;
    const int count = backtrace(callers, most_callers);
    for (int i = 0; i < count; i++)
        for (unsigned f = 0; f < function_count; f++) {
            const uintptr_t at = (uintptr_t)callers[i] - 1; /* in the call, not behind it */
            if (at >= functions[f].begin && at < functions[f].end) found |= UINT64_C(1) << functions[f].rule;
        }
    return found;
}

static void place_allocation(const void* begin, uint64_t bytes, const char* doubt) {
    const int error = errno;
    is_inside = true;
    const struct MemoryArea area = {.bytes = bytes, .functions = functions_above()};
    place(&area, begin, doubt);
    is_inside = false;
    errno = error;
}

typedef void Function(void);
typedef void* allocate(size_t);
typedef void* allocate_many(size_t, size_t);
typedef void* allocate_again(void*, size_t);
typedef void* allocate_array_again(void*, size_t, size_t);
typedef int allocate_at(void**, size_t, size_t);
typedef void* map_memory(void*, size_t, int, int, int, off_t);

enum NextFunction {
    next_malloc,
    next_valloc,
    next_calloc,
    next_aligned_alloc,
    next_memalign,
    next_realloc,
    next_reallocarray,
    next_posix_memalign,
    next_mmap,
    next_mremap,
    next_functions
};

/* The allocator's, which may be another one than libc's. It may be asked for before anything here has begun. */
static Function* next(enum NextFunction number, const char* name) {
    static Function* _Atomic known[next_functions];
    Function* function = atomic_load_explicit(&known[number], memory_order_relaxed);
    if (function != NULL) return function;
    const int error = errno;
    void* const found = dlsym(RTLD_NEXT, name);
    if (found == NULL) abort(); /* libc has all of them */
    memcpy(&function, &found, sizeof function);
    atomic_store_explicit(&known[number], function, memory_order_relaxed);
    errno = error;
    return function;
}

/* What the allocator maps for an allocation is its own affair. Whether one was being made already. */
static bool begin_allocation(void) {
    const bool was_inside = is_inside;
    is_inside = true;
    return was_inside;
}

static void* end_allocation(bool was_inside, void* begin, size_t bytes) {
    is_inside = was_inside;
    if (begin != NULL && !is_inside) place_allocation(begin, bytes, NULL);
    return begin;
}

EXPORTED void* malloc(size_t bytes) {
    allocate* const real = (allocate*)next(next_malloc, "malloc");
    if (bytes < smallest) return real(bytes);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(bytes), bytes);
}

EXPORTED void* calloc(size_t count, size_t each) {
    allocate_many* const real = (allocate_many*)next(next_calloc, "calloc");
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes) || bytes < smallest) return real(count, each);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(count, each), bytes);
}

EXPORTED void* realloc(void* memory, size_t bytes) {
    allocate_again* const real = (allocate_again*)next(next_realloc, "realloc");
    if (bytes < smallest) return real(memory, bytes);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(memory, bytes), bytes);
}

EXPORTED void* reallocarray(void* memory, size_t count, size_t each) {
    allocate_array_again* const real = (allocate_array_again*)next(next_reallocarray, "reallocarray");
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, each, &bytes) || bytes < smallest) return real(memory, count, each);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(memory, count, each), bytes);
}

EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
    allocate_many* const real = (allocate_many*)next(next_aligned_alloc, "aligned_alloc");
    if (bytes < smallest) return real(alignment, bytes);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(alignment, bytes), bytes);
}

EXPORTED void* memalign(size_t alignment, size_t bytes) {
    allocate_many* const real = (allocate_many*)next(next_memalign, "memalign");
    if (bytes < smallest) return real(alignment, bytes);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(alignment, bytes), bytes);
}

EXPORTED void* valloc(size_t bytes) {
    allocate* const real = (allocate*)next(next_valloc, "valloc");
    if (bytes < smallest) return real(bytes);
    const bool was_inside = begin_allocation();
    return end_allocation(was_inside, real(bytes), bytes);
}

EXPORTED int posix_memalign(void** memory, size_t alignment, size_t bytes) {
    allocate_at* const real = (allocate_at*)next(next_posix_memalign, "posix_memalign");
    if (bytes < smallest) return real(memory, alignment, bytes);
    const bool was_inside = begin_allocation();
    const int result = real(memory, alignment, bytes);
    end_allocation(was_inside, result == 0 ? *memory : NULL, bytes);
    return result;
}

/* Memory that one process has, and that is there to be used: other mappings are no allocations, or may be far larger
 * than what will be used of them. */
static const char* doubt_about(int flags) {
    if ((flags & (MAP_SHARED | MAP_SHARED_VALIDATE)) != 0 && (flags & MAP_PRIVATE) == 0)
        return "other processes may share it";
    if ((flags & MAP_NORESERVE) != 0) return "it is reserved only (MAP_NORESERVE)";
    if ((flags & MAP_FIXED) != 0) return "it is put into memory that was mapped before (MAP_FIXED)";
    if ((flags & MAP_HUGETLB) != 0) return "its pages are large ones (MAP_HUGETLB)";
    return NULL;
}

static void* map(void* where, size_t bytes, int access, int flags, int file, off_t offset) {
    map_memory* const real = (map_memory*)next(next_mmap, "mmap");
    void* const begin = real(where, bytes, access, flags, file, offset);
    const bool is_memory = (flags & MAP_ANONYMOUS) != 0 && (flags & (MAP_STACK | MAP_GROWSDOWN)) == 0 &&
                           (access & (PROT_READ | PROT_WRITE)) == (PROT_READ | PROT_WRITE);
    if (begin != MAP_FAILED && is_memory && bytes >= smallest && !is_inside)
        place_allocation(begin, bytes, doubt_about(flags));
    return begin;
}

/* Before Linux 6.17, only memory of one policy can be mapped again at once. */
EXPORTED void* map_again(void* old, size_t old_bytes, size_t bytes, int flags, void* where) __asm__("mremap");

void* map_again(void* old, size_t old_bytes, size_t bytes, int flags, void* where) {
    typedef void* map_memory_again(void*, size_t, size_t, int, void*);
    map_memory_again* const real = (map_memory_again*)next(next_mremap, "mremap");
    void* const begin = real(old, old_bytes, bytes, flags, where);
    if (begin != MAP_FAILED || errno != EFAULT || old_bytes < smallest) return begin;
    forget_area(old, old_bytes);
    return real(old, old_bytes, bytes, flags, where);
}

/* Where file offsets have 64 bits, headers give mmap() the other one's name. */
EXPORTED void* map_by_mmap(void* where, size_t bytes, int access, int flags, int file,
                           off_t offset) __asm__("mmap");
EXPORTED void* map_by_mmap64(void* where, size_t bytes, int access, int flags, int file,
                             off_t offset) __asm__("mmap64");

void* map_by_mmap(void* where, size_t bytes, int access, int flags, int file, off_t offset) {
    return map(where, bytes, access, flags, file, offset);
}

void* map_by_mmap64(void* where, size_t bytes, int access, int flags, int file, off_t offset) {
    return map(where, bytes, access, flags, file, offset);
}

/* What the command rdam starts is meant, neither the command nor the recorder's agent. */
static bool is_rdam(void) {
    const char* name = program_invocation_short_name;
    return strcmp(name, "rdam") == 0 || strcmp(name, "rdam-agent") == 0;
}

/* For whoever has rules to give: where the text has one that is not understood, or -1. */
EXPORTED long rdam_memory_wrong_rule(const char* text);

long rdam_memory_wrong_rule(const char* text) {
    struct MemoryRules read;
    const char* wrong = NULL;
    return parse_memory_rules(text, &read, &wrong) ? -1 : wrong - text;
}

__attribute__((constructor)) static void at_start(void) {
    const int error = errno;
    const char* const text = getenv("RDAM_MEMORY_RULES");
    if (text == NULL || is_rdam()) return;
    is_inside = true;
    open_memory_account(getenv("RDAM_MEMORY_FILE"));
    const char* wrong = NULL;
    const char* why = NULL;
    if (!parse_memory_rules(text, &rules, &wrong)) {
        note_reason(wrong, "is no rule: write RDAM_MEMORY_RULES as in u=cyclic,64M..=interleave,bind_block");
    } else if ((why = find_memory_nodes(&nodes, getenv("RDAM_PIN_PLACES"))) != NULL) {
        note_reason("all memory", why);
    } else {
        const char* const number = getenv("RDAM_MEMORY_SEED");
        if (number != NULL) seed = strtoull(number, NULL, 10);
        note_process(nodes.count);
        bool is_first = true;
        dl_iterate_phdr(take_object, &is_first);
        if (function_count > 0) { /* which loads a library when it is called first */
            void* caller = NULL;
            backtrace(&caller, 1);
        }
        smallest = least_allocation(&rules);
    }
    is_inside = false;
    errno = error;
}
