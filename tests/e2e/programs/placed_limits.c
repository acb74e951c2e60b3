/* What programs do to whoever places their memory: threads whose stacks are as small as they may be, several that
 * allocate and fork at once, tables that are read-only, more allocations than a process may have ranges of memory, and more of
 * these at once.
 *
 * placed_limits stacks | at-once | often | ranges
 *
 * Ends with 1 if it does not get what it would alone. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, large = 2 << 20, most_threads = 4, pairs = 20000 };

static int before; /* whether large pages were off */
static int pointed_to;
int* const table[400000] = {&pointed_to,
                            &pointed_to}; /* read-only when the loader has written the addresses */

__attribute__((noinline)) void* make_large(void) {
    char* volatile begin = malloc(large);
    if (begin == NULL) exit(1);
    begin[0] = begin[large - 1] = 1;
    return begin;
}

static void* allocate(void* times) {
    for (long i = 0; i < (long)times; i++)
        free(make_large());
    return NULL;
}

static void run_threads(size_t stack, long times) {
    pthread_t threads[most_threads];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack != 0 && pthread_attr_setstacksize(&attributes, stack) != 0) exit(1);
    for (int i = 0; i < most_threads; i++)
        if (pthread_create(&threads[i], &attributes, allocate, (void*)times) != 0) exit(1);
    for (long i = 0; i < times / 10; i++) { /* children that allocate, and have large pages */
        const pid_t child = fork();
        if (child == 0) {
            allocate((void*)1);
            _exit(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != before);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) exit(1);
    }
    for (int i = 0; i < most_threads; i++)
        pthread_join(threads[i], NULL);
}

static char* map(char* where, size_t bytes, int access) {
    return mmap(where, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Pages that may not be used lie between them, so that none is one range with another. */
static void make_ranges(void) {
    const size_t all = (size_t)pairs * 3 * page;
    char* const begin = map(NULL, all, PROT_NONE);
    if (begin == MAP_FAILED) exit(1);
    for (size_t at = 0; at < all; at += 3 * page) {
        /* Not MAP_FIXED, which is left alone. */
        munmap(begin + at, 2 * page);
        if (map(begin + at, 2 * page, PROT_READ | PROT_WRITE) != begin + at) exit(1);
    }
    munmap(begin, all);
}

int main(int count, char** arguments) {
    if (count != 2 || *table[1] != 0) return 1;
    const char* const what = arguments[1];
    before = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    if (strcmp(what, "stacks") == 0) run_threads(PTHREAD_STACK_MIN, 1);
    if (strcmp(what, "at-once") == 0) run_threads(0, 1000);
    if (strcmp(what, "often") == 0) allocate((void*)20000);
    if (strcmp(what, "ranges") == 0) {
        make_ranges();
        allocate((void*)2000);
    }
    return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != before;
}
