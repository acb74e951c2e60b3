/* Memory of every kind that a policy can be given for, used by threads, each its block of every area; then a line of
 * JSON for each area: on which node every page is.
 *
 * placed THREADS
 *
 * Ends with 1 if the memory does not hold what it should. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { page = 4096, most_threads = 64, most_areas = 16, most_pages = 4096 };

char u[700 * page + 100];
static char rhs[500 * page];
__attribute__((common)) int common_[300 * page / 4];
char initialised[400 * page] = {1};
static char little[16 * page];

static struct area {
    const char* name;
    char* begin;
    size_t bytes;
} areas[most_areas];
static int count;
static long threads;

static void add(const char* name, void* begin, size_t bytes) {
    if (begin == NULL || begin == MAP_FAILED) abort();
    areas[count++] = (struct area){name, begin, bytes};
}

static void expect(int truth, const char* what) {
    if (truth) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

__attribute__((noinline)) void* make_grid(size_t bytes) {
    void* volatile grid = malloc(bytes);
    return grid;
}

static uintptr_t first_page(const struct area* area) {
    return (uintptr_t)area->begin / page;
}

static size_t pages_of(const struct area* area) {
    return ((uintptr_t)area->begin + area->bytes - 1) / page - first_page(area) + 1;
}

/* Writes to all pages that belong to a thread's block. */
static void* use(void* number) {
    for (int i = 0; i < count; i++) {
        const size_t pages = pages_of(&areas[i]);
        for (size_t p = 0; p < pages; p++) {
            if (p * threads / pages != (size_t)number) continue;
            char* at = (char*)((first_page(&areas[i]) + p) * page);
            if (at < areas[i].begin) at = areas[i].begin;
            *(volatile char*)at = (char)(p + 1);
        }
    }
    return NULL;
}

static void* grown(void) {
    char* memory = malloc(300 * page);
    for (size_t i = 0; i < 300 * page; i++)
        memory[i] = (char)(i / page);
    memory = realloc(memory, 600 * page);
    for (size_t i = 0; i < 300 * page; i++)
        expect(memory[i] == (char)(i / page), "realloc() has lost something");
    return memory;
}

/* Memory of several policies is memory as any other. */
static void map_again(void) {
    enum { before = 512, after = 700 };
    char* memory = mmap(NULL, before * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(memory != MAP_FAILED, "mmap() fails");
    for (size_t i = 0; i < before * page; i++)
        memory[i] = (char)(i / page);
    memory = mremap(memory, before * page, after * page, MREMAP_MAYMOVE);
    expect(memory != MAP_FAILED, "mremap() fails");
    for (size_t i = 0; i < after * page; i++)
        expect(memory[i] == (char)(i < before * page ? i / page : 0), "mremap() has lost something");
    munmap(memory, after * page);
}

static void print(const struct area* area) {
    static void* where[most_pages];
    static int nodes[most_pages];
    const size_t pages = pages_of(area);
    if (pages > most_pages) abort();
    for (size_t p = 0; p < pages; p++)
        where[p] = (void*)((first_page(area) + p) * page);
    expect(syscall(SYS_move_pages, 0, pages, where, NULL, nodes, 0) == 0, "move_pages() fails");
    printf("{\"area\": \"%s\", \"begin\": %ju, \"first_page\": %ju, \"nodes\": [", area->name,
           (uintmax_t)(uintptr_t)area->begin, (uintmax_t)first_page(area));
    for (size_t p = 0; p < pages; p++)
        printf("%s%d", p > 0 ? ", " : "", nodes[p]);
    printf("]}\n");
}

int main(int argc, char** argv) {
    threads = argc > 1 ? atol(argv[1]) : 1;
    if (threads < 1 || threads > most_threads) return 2;
    add("u", u, sizeof u);
    add("rhs", rhs, sizeof rhs);
    add("common_", common_, sizeof common_);
    add("initialised", initialised, sizeof initialised);
    add("make_grid", make_grid(801 * page + 7), 801 * page + 7);
    char* zeros = calloc(400, page);
    for (size_t i = 0; i < (size_t)400 * page; i++)
        expect(zeros[i] == 0, "calloc() gives no zeros");
    expect(initialised[0] == 1 && initialised[1] == 0, "a variable has lost its value");
    add("calloc", zeros, (size_t)400 * page);
    add("realloc", grown(), 600 * page);
    void* aligned = NULL;
    expect(posix_memalign(&aligned, 65536, 320 * page) == 0 && (uintptr_t)aligned % 65536 == 0,
           "posix_memalign() fails");
    add("posix_memalign", aligned, 320 * page);
    add("aligned_alloc", aligned_alloc(page, 288 * page), 288 * page);
    add("mmap", mmap(NULL, 512 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        512 * page);
    add("little", little, sizeof little);
    map_again();
    char* const reserved =
        mmap(NULL, 512 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    expect(reserved != MAP_FAILED, "mmap() fails");
    pthread_t started[most_threads];
    for (long i = 1; i < threads; i++)
        expect(pthread_create(&started[i], NULL, use, (void*)i) == 0, "pthread_create() fails");
    use(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(started[i], NULL);
    for (int i = 0; i < count; i++)
        print(&areas[i]);
    return 0;
}
