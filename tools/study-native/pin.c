/* librdam-pin.so, preloaded: the n-th thread that a process starts is bound to the n-th processor of
 * RDAM_PIN_PLACES before it runs anything of the program. Thread 0 is the main one; when all places are
 * taken, the first is next.
 *
 *   RDAM_PIN_PLACES=0,4,1,5   numbers of the processors, in the order of threads
 *   RDAM_PIN_ROOT=0000000000  required: here it is noted, in place, to which process the rest is addressed
 *
 * Until the main thread starts another one it may use every place, because programs count the processors of
 * their mask to decide how many threads they start. Child processes are not pinned, and may use every
 * place, too: without this they would inherit the one place of the thread that made them. A child of vfork()
 * or posix_spawn() that does not load this library (static, or setuid) does inherit it.
 *
 * A thread whose creator gives it an affinity by its attributes is left alone and not counted: libgomp does
 * so with OMP_PLACES. libomp binds its threads itself after they have started, to the same places if
 * OMP_PLACES has them in the same order. The main thread of a program that is linked with either is the
 * runtime's, too. Threads that are made without pthread_create() or thrd_create() are not seen. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum {
    most_processors = 8192, /* of Linux on x86-64 */
    word_bits = 64,
    digits = 9, /* of a process's number; the kernel's limit has seven */
};

struct mask {
    uint64_t words[most_processors / word_bits];
};

/* What a new thread has to run. */
struct start {
    void* (*routine)(void*);
    thrd_start_t c11_routine;
    void* argument;
    unsigned number;
};

typedef int create_thread(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
typedef int create_c11_thread(thrd_t*, thrd_start_t, void*);

static create_thread* real_pthread_create;
static create_c11_thread* real_thrd_create;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static bool pins; /* the threads of this process */
static uint16_t places[most_processors];
static unsigned place_count;
static struct mask all_places;
static char* root;             /* the value of RDAM_PIN_ROOT, in the environment itself */
static char noted[digits + 1]; /* what it was given */

static atomic_uint started; /* threads besides the main one */
static atomic_bool main_is_bound;
static bool
    has_openmp; /* whose runtime binds the main thread, and must not find it bound when it reads the mask */

static void add_processor(struct mask* mask, unsigned processor) {
    mask->words[processor / word_bits] |= UINT64_C(1) << (processor % word_bits);
}

static bool set_mask(pid_t thread, const struct mask* mask) {
    return syscall(SYS_sched_setaffinity, thread, sizeof *mask, mask) == 0;
}

/* Where a place is not to be had (the processor is off, or forbidden), the thread may use all others, and
 * whoever reads its mask sees that it is not bound. */
static void bind_thread(pid_t thread, unsigned number) {
    struct mask mask = {{0}};
    add_processor(&mask, places[number % place_count]);
    if (!set_mask(thread, &mask)) set_mask(thread, &all_places);
}

static void bind_main(void) {
    if (!atomic_exchange(&main_is_bound, true)) bind_thread(getpid(), 0);
}

static bool read_places(const char* text) {
    do {
        char* end = NULL;
        const unsigned long processor = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || processor >= most_processors || place_count == most_processors)
            return false;
        places[place_count++] = (uint16_t)processor;
        add_processor(&all_places, (unsigned)processor);
        text = end;
    } while (*text++ == ',');
    return text[-1] == '\0';
}

static void complain(void) {
    static const char words[] =
        "librdam-pin: nothing is pinned: RDAM_PIN_PLACES must be a list of processors such as 0,4,1, and "
        "RDAM_PIN_ROOT ten zeros\n";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) return;
}

/* Whether the variables were addressed to this process, or have come to it by way of another one. */
enum Role { role_root, role_child, role_child_met_before };

/* The first process that finds zeros is the root. RDAM_PIN_ROOT then holds the last process that was met with
 * these variables and what it is, so that a program that the same process executes is no child, and a child's
 * own mask is not undone. */
static enum Role take_role(void) {
    char own[digits + 2] = "r";
    long rest = getpid();
    for (int i = digits; i > 0; i--) {
        own[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    const bool is_met = memcmp(own + 1, root + 1, digits) == 0;
    if (is_met && root[0] == 'c') return role_child_met_before;
    const bool is_root = is_met || root[0] == '0';
    if (!is_root) own[0] = 'c';
    memcpy(root, own, digits + 1);
    memcpy(noted, own, digits + 1);
    return is_root ? role_root : role_child;
}

/* In the child, of which the forking thread is the main one. Only what a signal handler may call. */
static void begin_child(void) {
    const int error = errno;
    /* Programs that set their title write it over the environment that they began with. */
    if (memcmp(root, noted, digits + 1) == 0) take_role();
    pins = false;
    set_mask(0, &all_places);
    errno = error;
}

/* What the command rdam starts is meant, neither the command nor the recorder's agent. */
static bool is_rdam(void) {
    const char* name = program_invocation_short_name;
    return strcmp(name, "rdam") == 0 || strcmp(name, "rdam-agent") == 0;
}

static void read_plan(void) {
    const char* list = getenv("RDAM_PIN_PLACES");
    if (list == NULL) return;
    root = getenv("RDAM_PIN_ROOT");
    if (root == NULL || strlen(root) != digits + 1 || !read_places(list)) {
        complain();
        return;
    }
    const enum Role role = take_role();
    if (is_rdam()) {
        if (role == role_root) memset(root, '0', digits + 1);
        return;
    }
    pins = role == role_root;
    pthread_atfork(NULL, NULL, begin_child);
    has_openmp = dlsym(RTLD_DEFAULT, "omp_get_max_threads") != NULL;
    atomic_store(&main_is_bound, has_openmp);
    if (has_openmp) return; /* libgomp may have bound it already */
    if (role == role_child_met_before) return;
    /* Where it is moved to now it mostly stays. */
    if (pins) bind_thread(0, 0);
    set_mask(0, &all_places);
}

static void find_function(const char* name, void* function) {
    void* const found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static void prepare(void) {
    find_function("pthread_create", &real_pthread_create);
    find_function("thrd_create", &real_thrd_create);
    read_plan();
}

static void ensure_prepared(void) {
    const int error = errno;
    pthread_once(&prepared, prepare);
    errno = error;
}

__attribute__((constructor)) static void at_start(void) {
    ensure_prepared();
}

static struct start take_start(void* data) {
    const int error = errno;
    const struct start start = *(struct start*)data;
    free(data);
    bind_thread(0, start.number);
    errno = error;
    return start;
}

static void* run_thread(void* data) {
    const struct start start = take_start(data);
    return start.routine(start.argument);
}

static int run_c11_thread(void* data) {
    const struct start start = take_start(data);
    return start.c11_routine(start.argument);
}

/* NULL: the thread is started as the program wants it, without us. */
static struct start* new_start(void) {
    if (!pins) return NULL;
    const int error = errno;
    struct start* start = calloc(1, sizeof *start);
    if (start != NULL) {
        bind_main();
        start->number = atomic_fetch_add(&started, 1) + 1;
    }
    errno = error;
    return start;
}

/* The thread was not started: its number is the next one's, if nobody has taken another since. */
static void give_back(struct start* start) {
    unsigned number = start->number;
    atomic_compare_exchange_strong(&started, &number, number - 1);
    free(start);
}

/* glibc fills the mask of attributes that have none with ones. */
static bool has_affinity(const pthread_attr_t* attributes) {
    struct mask mask;
    struct mask none;
    memset(&none, 0xff, sizeof none);
    return attributes != NULL &&
           pthread_attr_getaffinity_np(attributes, sizeof mask, (cpu_set_t*)&mask) == 0 &&
           memcmp(&mask, &none, sizeof mask) != 0;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* restrict thread,
                                                          const pthread_attr_t* restrict attributes,
                                                          void* (*routine)(void*), void* restrict argument) {
    ensure_prepared();
    struct start* start = !pins || has_affinity(attributes) ? NULL : new_start();
    if (start == NULL) return real_pthread_create(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    const int result = real_pthread_create(thread, attributes, run_thread, start);
    if (result != 0) give_back(start);
    return result;
}

__attribute__((visibility("default"))) int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
    ensure_prepared();
    struct start* start = new_start();
    if (start == NULL) return real_thrd_create(thread, routine, argument);
    start->c11_routine = routine;
    start->argument = argument;
    const int result = real_thrd_create(thread, run_c11_thread, start);
    if (result != thrd_success) give_back(start);
    return result;
}
