/* librdam-regions.so, preloaded: when a parallel region of OpenMP begins, each thread of its team notes its
 * processor, and whether that is another one than when the thread's region before began. Slow runs of a
 * program are those in which threads have moved so (Mazouz, Touati, Barthou, inria-00514548, section 6).
 *
 *   RDAM_REGIONS_FILE=/path   required: a file as `struct counters` has it, to whose zeros is added
 *
 * Processes count into the same file, each thread once: a child that is forked begins as a thread that was in
 * no region before. What was counted is in the file when the process is killed, too. Where the variable does
 * not name such a file (after chroot(), as another user) nothing is counted, and nothing is said.
 *
 * Counted are regions that a thread begins while it is in no other one. Those inside these are not, nor are
 * the threads of their teams; a league of teams is none.
 *
 * GCC's libgomp is watched by functions of the names of its own, which go before; those of LLVM's libomp that
 * have the same names, by these too; libomp's regions otherwise by OMPT, the tools' interface of OpenMP 5. A
 * tool that the program itself brings has precedence there. A program with a runtime inside (static) is not
 * seen, nor is one without the dynamic linker. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define OF_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

struct counters {
    char magic[8]; /* "regions1" */
    _Atomic uint64_t regions;
    _Atomic uint64_t moved_regions; /* in which a thread began elsewhere than its last one */
    _Atomic uint64_t moves;         /* such threads, in all regions */
};

static struct counters* counters; /* NULL: nothing is counted */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

enum { unknown = -1 };
static OF_THREAD int last_processor = unknown; /* when its last region began */
/* A runtime's own threads run nothing of the program outside of regions, and so stay in one. */
static OF_THREAD bool in_region;

static void begin_child(void) {
    last_processor = unknown;
    in_region = false;
}

static struct counters* map(const char* path) {
    struct counters* found = MAP_FAILED;
    struct stat facts;
    const int file = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0) return NULL;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= (off_t)sizeof *found)
        found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (found == MAP_FAILED) return NULL;
    if (memcmp(found->magic, "regions1", sizeof found->magic) == 0) return found;
    munmap(found, sizeof *found);
    return NULL;
}

static void prepare(void) {
    const char* path = getenv("RDAM_REGIONS_FILE");
    if (path != NULL && (counters = map(path)) != NULL) pthread_atfork(NULL, NULL, begin_child);
}

/* In a constructor, before the program can change its root or its user; a region may begin in another one. */
__attribute__((constructor)) static void ensure_prepared(void) {
    const int error = errno;
    pthread_once(&prepared, prepare);
    errno = error;
}

/* Whether a region begins that is counted. */
static bool begin_region(void) {
    if (counters == NULL || in_region) return false;
    in_region = true;
    atomic_fetch_add_explicit(&counters->regions, 1, memory_order_relaxed);
    return true;
}

/* Whether the thread has moved. */
static bool note_processor(void) {
    const int error = errno;
    const int processor = sched_getcpu();
    errno = error;
    const int before = last_processor;
    last_processor = processor;
    if (before == processor || before < 0 || processor < 0) return false;
    atomic_fetch_add_explicit(&counters->moves, 1, memory_order_relaxed);
    return true;
}

static void count_moved_region(void) {
    atomic_fetch_add_explicit(&counters->moved_regions, 1, memory_order_relaxed);
}

/* Of libgomp: a region is a call of one of its functions, with what all threads of the team run. Each name
 * has one version only, so that none has to be asked for. */

typedef void Work(void*);
typedef void Function(void);

/* A runtime's function, as the object with this work would call it if we were not there. */
struct found {
    Work* work;
    const char* name;
    Function* function;
};

enum { most_found = 4096 }; /* what does not fit is looked for each time */
static struct found* _Atomic table[most_found];

static _Noreturn void give_up(const char* name) {
    static const char words[] = "librdam-regions: no runtime of OpenMP has the function ";
    if (write(STDERR_FILENO, words, sizeof words - 1) > 0 && write(STDERR_FILENO, name, strlen(name)) > 0 &&
        write(STDERR_FILENO, "\n", 1) > 0)
        _exit(127); /* as the dynamic linker */
    abort();
}

/* Of the object that has this work: libraries that are loaded late (a Python module) may each have a libgomp
 * of their own, which others do not see. It then stays, since its address is kept. */
static void* symbol_beside(const void* work, const char* name) {
    struct link_map* object = NULL;
    Dl_info facts;
    if (dladdr1(work, &facts, (void**)&object, RTLD_DL_LINKMAP) == 0 || object == NULL) return NULL;
    void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return NULL;
    void* const symbol = dlsym(handle, name);
    if (symbol != NULL && dladdr(symbol, &facts) != 0)
        dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlclose(handle);
    return symbol;
}

static Function* look_for(Work* work, const char* name) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        const void* address = NULL;
        memcpy(&address, &work, sizeof address);
        symbol = symbol_beside(address, name);
    }
    if (symbol == NULL) give_up(name);
    Function* function = NULL;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

static Function* find(Work* work, const char* name, struct found* _Atomic* place) {
    const int error = errno;
    ensure_prepared();
    Function* const function = look_for(work, name);
    struct found* const new = place != NULL ? malloc(sizeof *new) : NULL;
    if (new != NULL) {
        *new = (struct found){work, name, function};
        struct found* none = NULL;
        if (!atomic_compare_exchange_strong(place, &none, new)) free(new);
    }
    errno = error;
    return function;
}

/* Of a name at this address. */
static Function* function_of(Work* work, const char* name) {
    enum { most_tries = 8 };
    const uintptr_t first = ((uintptr_t)work >> 4) + (uintptr_t)name;
    for (unsigned i = 0; i < most_tries; i++) {
        struct found* _Atomic* const place = &table[(first + i) % most_found];
        const struct found* const found = atomic_load_explicit(place, memory_order_acquire);
        if (found == NULL) return find(work, name, place);
        if (found->work == work && found->name == name) return found->function;
    }
    return find(work, name, NULL);
}

/* What the threads of a team get instead of the program's data. */
struct region {
    void* first_word; /* of the program's, which GOMP_parallel_reductions() reads */
    Work* work;
    void* data;
    atomic_bool has_moved;
};

static void note_in(struct region* region) {
    if (note_processor() && !atomic_exchange_explicit(&region->has_moved, true, memory_order_relaxed))
        count_moved_region();
}

static void run(void* given) {
    struct region* const region = given;
    in_region = true;
    note_in(region);
    region->work(region->data);
}

/* Whether it is counted: then `run` is what the team has to run, with the region as its data. */
static bool begin(struct region* region, Work* work, void* data) {
    if (!begin_region()) return false;
    *region = (struct region){.work = work, .data = data};
    return true;
}

// clang-format off
#define ALWAYS Work* work, void* data, unsigned threads
#define COUNT ALWAYS, unsigned count
#define BOUNDS ALWAYS, long start, long end, long step
#define CHUNKS BOUNDS, long chunk

/* The thread returns when the team has come to the region's end. */
#define REGION(name, parameters, ...)                                                   \
    EXPORTED void name parameters {                                                     \
        void (*const real) parameters = (void (*) parameters)function_of(work, __func__); \
        struct region region;                                                           \
        if (!begin(&region, work, data)) {                                              \
            real(work, data, __VA_ARGS__);                                              \
            return;                                                                     \
        }                                                                               \
        real(run, &region, __VA_ARGS__);                                                \
        in_region = false;                                                              \
    }

REGION(GOMP_parallel, (ALWAYS, unsigned flags), threads, flags)
REGION(GOMP_parallel_sections, (COUNT, unsigned flags), threads, count, flags)
REGION(GOMP_parallel_loop_static, (CHUNKS, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_dynamic, (CHUNKS, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_guided, (CHUNKS, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_nonmonotonic_dynamic, (CHUNKS, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_nonmonotonic_guided, (CHUNKS, unsigned flags), threads, start, end, step, chunk, flags)
REGION(GOMP_parallel_loop_runtime, (BOUNDS, unsigned flags), threads, start, end, step, flags)
REGION(GOMP_parallel_loop_nonmonotonic_runtime, (BOUNDS, unsigned flags), threads, start, end, step, flags)
REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime, (BOUNDS, unsigned flags), threads, start, end, step, flags)

/* In programs of a GCC before 4.9, the thread itself runs the work, and then calls GOMP_parallel_end(). */
static OF_THREAD struct region begun;
static OF_THREAD unsigned begun_depth; /* 1: in the one that is counted; more: in others inside */
static OF_THREAD Function* begun_end;
static const char end_name[] = "GOMP_parallel_end";

#define REGION_START(name, parameters, ...)                                             \
    EXPORTED void name parameters {                                                     \
        void (*const real) parameters = (void (*) parameters)function_of(work, __func__); \
        begun_end = function_of(work, end_name);                                        \
        if (begun_depth > 0) begun_depth++;                                             \
        if (!begin(&begun, work, data)) {                                               \
            real(work, data, __VA_ARGS__);                                              \
            return;                                                                     \
        }                                                                               \
        begun_depth = 1;                                                                \
        note_in(&begun);                                                                \
        real(run, &begun, __VA_ARGS__);                                                 \
    }

REGION_START(GOMP_parallel_start, (ALWAYS), threads)
REGION_START(GOMP_parallel_sections_start, (COUNT), threads, count)
REGION_START(GOMP_parallel_loop_static_start, (CHUNKS), threads, start, end, step, chunk)
REGION_START(GOMP_parallel_loop_dynamic_start, (CHUNKS), threads, start, end, step, chunk)
REGION_START(GOMP_parallel_loop_guided_start, (CHUNKS), threads, start, end, step, chunk)
REGION_START(GOMP_parallel_loop_runtime_start, (BOUNDS), threads, start, end, step)
// clang-format on

// NOLINTNEXTLINE(readability-identifier-naming): libgomp's
EXPORTED void GOMP_parallel_end(void) {
    if (begun_end == NULL) begun_end = look_for(NULL, end_name);
    begun_end();
    if (begun_depth > 0 && --begun_depth == 0) in_region = false;
}

// NOLINTNEXTLINE(readability-identifier-naming): libgomp's
EXPORTED unsigned GOMP_parallel_reductions(Work* work, void* data, unsigned threads, unsigned flags) {
    typedef unsigned Real(Work*, void*, unsigned, unsigned);
    Real* const real = (Real*)function_of(work, __func__);
    struct region region;
    if (!begin(&region, work, data)) return real(work, data, threads, flags);
    memcpy(&region.first_word, data, sizeof region.first_word);
    const unsigned result = real(run, &region, threads, flags);
    in_region = false;
    return result;
}

/* Of OMPT, what is needed of omp-tools.h. */

typedef struct {
    uint64_t value;
} OmptData;

typedef Function* OmptLookUp(const char*);
typedef int OmptSetCallback(int event, Function*);

struct ompt_tool {
    int (*initialize)(OmptLookUp*, int, OmptData*);
    void (*finalize)(OmptData*);
    OmptData data;
};
typedef struct ompt_tool* OmptStartTool(unsigned, const char*);

enum { ompt_scope_begin = 1 };
enum { ompt_parallel_begin = 3, ompt_parallel_end = 4, ompt_implicit_task = 7 }; /* events */
enum { ompt_parallel_league = 0x40000000, ompt_task_implicit = 2 };              /* flags */

/* The word that OMPT keeps for us with each region. */
enum { inside_another, nobody_has_moved, somebody_has_moved, no_region };

static void at_parallel_begin(OmptData* task, const void* frame, OmptData* region, unsigned threads,
                              int flags, const void* code) {
    (void)task, (void)frame, (void)threads;
    /* Each team of a league is to libomp a region of one thread, too, which no code of the program begins. */
    if ((flags & ompt_parallel_league) != 0 || code == NULL)
        region->value = no_region;
    else
        region->value = begin_region() ? nobody_has_moved : inside_another;
}

static bool is_counted(const OmptData* region) {
    return region->value == nobody_has_moved || region->value == somebody_has_moved;
}

static void at_parallel_end(OmptData* region, OmptData* task, int flags, const void* code) {
    (void)task, (void)flags, (void)code;
    if (is_counted(region)) in_region = false;
}

static void at_implicit_task(int endpoint, OmptData* region, OmptData* task, unsigned threads,
                             unsigned number, int flags) {
    (void)task, (void)threads, (void)number;
    const bool begins = endpoint == ompt_scope_begin && (flags & ompt_task_implicit) != 0;
    if (!begins || region->value == no_region) return;
    in_region = true;
    if (!is_counted(region) || !note_processor()) return;
    if (__atomic_exchange_n(&region->value, somebody_has_moved, __ATOMIC_RELAXED) == nobody_has_moved)
        count_moved_region();
}

static int begin_tool(OmptLookUp* look_up, int device, OmptData* data) {
    (void)device, (void)data;
    OmptSetCallback* const set = (OmptSetCallback*)look_up("ompt_set_callback");
    if (set == NULL) return 0;
    set(ompt_parallel_begin, (Function*)at_parallel_begin);
    set(ompt_parallel_end, (Function*)at_parallel_end);
    set(ompt_implicit_task, (Function*)at_implicit_task);
    return 1;
}

static void end_tool(OmptData* data) {
    (void)data;
}

/* The program's own tool, if it has one: OMPT knows but one. */
static struct ompt_tool* programs_tool(unsigned version, const char* runtime) {
    void* const symbol = dlsym(RTLD_NEXT, "ompt_start_tool");
    OmptStartTool* start = NULL;
    memcpy(&start, &symbol, sizeof start);
    return start != NULL ? start(version, runtime) : NULL;
}

EXPORTED struct ompt_tool* ompt_start_tool(unsigned version, const char* runtime) {
    static struct ompt_tool tool = {begin_tool, end_tool, {0}};
    const int error = errno;
    ensure_prepared();
    struct ompt_tool* found = programs_tool(version, runtime);
    const char* libraries = getenv("OMP_TOOL_LIBRARIES"); /* are asked when there is no other tool */
    if (found == NULL && counters != NULL && (libraries == NULL || *libraries == '\0')) found = &tool;
    errno = error;
    return found;
}
