#include "tools/study-native/memory/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    page_bytes = whole_page,
    word_bits = 64,
    mask_bits = most_nodes + 1, /* the kernel takes one off */
    most_ranges = 32768,        /* of the 65,530 that a process may have by default */
    refusals_between_counts = 1024,
    batch_pages = 64,   /* threads that allocate may have stacks of 16 KiB */
    read_at_once = 512, /* bytes, for the same reason */
};

/* Of Linux 5.14 and 5.15; older headers do not have them. */
enum { populate_write = 23, preferred_many = 5 };

struct node_mask {
    unsigned long words[most_nodes / word_bits];
};

static struct node_mask mask_of(const struct MemoryNodes* nodes, const uint16_t* places, unsigned count) {
    struct node_mask mask = {{0}};
    for (unsigned i = 0; i < count; i++) {
        const unsigned number = nodes->numbers[places != NULL ? places[i] : i];
        mask.words[number / word_bits] |= 1UL << number % word_bits;
    }
    return mask;
}

static long set_range(const char* begin, uint64_t bytes, int mode, const struct node_mask* mask) {
    return syscall(SYS_mbind, begin, bytes, mode, mask != NULL ? mask->words : NULL,
                   mask != NULL ? mask_bits : 0,
                   mode == MPOL_LOCAL || mode == MPOL_DEFAULT ? 0 : MPOL_MF_MOVE);
}

static bool is_node_of(unsigned processor, unsigned node) {
    char path[80];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/node%u", processor, node);
    return access(path, F_OK) == 0;
}

/* Where one of them is on no node that the process may use, none counts. */
static void find_thread_places(struct MemoryNodes* nodes, const char* processors) {
    const char* at = processors;
    unsigned count = 0;
    do {
        char* end = NULL;
        const unsigned long processor = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || processor >= most_threads || count == most_threads) return;
        unsigned place = 0;
        while (place < nodes->count && !is_node_of((unsigned)processor, nodes->numbers[place]))
            place++;
        if (place == nodes->count) return;
        nodes->thread_places[count++] = (uint16_t)place;
        at = end;
    } while (*at++ == ',');
    if (at[-1] == '\0') nodes->thread_count = count;
}

/* Above it, /sys/fs/cgroup is what the process sees as the highest one, whatever the path of its own says. */
static void find_control_group(struct MemoryNodes* nodes) {
    static const char root[] = "/sys/fs/cgroup";
    char text[most_group_path];
    nodes->group[0] = '\0';
    nodes->group_depth = 0;
    const int file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[size > 0 ? size : 0] = '\0';
    const char* const line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    const char* const path = line != NULL ? strchr(line, '/') : NULL;
    if (path == NULL) return;
    const int length = (int)strcspn(path, "\n");
    snprintf(nodes->group, sizeof nodes->group, "%s%.*s", root, path[1] == '\n' ? 0 : length, path);
    while (access(nodes->group, F_OK) != 0 && strlen(nodes->group) > strlen(root))
        *strrchr(nodes->group, '/') = '\0';
    for (const char* at = nodes->group + strlen(root); *at != '\0'; at++)
        nodes->group_depth += *at == '/';
}

/* What EINVAL means for other memory, which it does where memory is read-only, too. */
static const char* why_no_page_is_made(void) {
    void* const page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return "there is no memory for a page (mmap)";
    const int failed = madvise(page, page_bytes, populate_write);
    const int error = errno;
    munmap(page, page_bytes);
    if (failed == 0) return NULL;
    return error == EINVAL ? "this kernel cannot make pages without touching them (before 5.14)"
                           : "a sandbox forbids madvise(2): run the program outside of it";
}

/* Large pages are held off for the whole process, so one thread at a time does that; and no thread forks meanwhile,
 * as its child would never have them. */
static pthread_mutex_t large_pages = PTHREAD_MUTEX_INITIALIZER;

static void hold_large_pages(void) {
    pthread_mutex_lock(&large_pages);
}

static void release_large_pages(void) {
    pthread_mutex_unlock(&large_pages);
}

static void guard_forks(void) {
    pthread_atfork(hold_large_pages, release_large_pages, release_large_pages);
}

const char* find_memory_nodes(struct MemoryNodes* nodes, const char* processors) {
    struct node_mask mask = {{0}};
    nodes->count = 0;
    if (syscall(SYS_get_mempolicy, NULL, mask.words, mask_bits, NULL, MPOL_F_MEMS_ALLOWED) != 0)
        return errno == ENOSYS ? "this kernel has no policies of memory (CONFIG_NUMA)"
                               : "a sandbox forbids get_mempolicy(2): run the program outside of it";
    for (unsigned number = 0; number < most_nodes; number++)
        if ((mask.words[number / word_bits] >> number % word_bits & 1) != 0)
            nodes->numbers[nodes->count++] = (uint16_t)number;
    if (nodes->count == 0) return "the process may use no node of memory";
    static pthread_once_t is_guarded = PTHREAD_ONCE_INIT;
    pthread_once(&is_guarded, guard_forks);
    find_control_group(nodes);
    nodes->why_unmade = why_no_page_is_made();
    nodes->thread_count = 0;
    if (processors != NULL) find_thread_places(nodes, processors);
    return NULL;
}

/* The first number behind `name` in the beginning of a small file, or `otherwise`. */
static uint64_t number_in(int folder, const char* path, const char* name, uint64_t otherwise) {
    char text[read_at_once];
    const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return otherwise;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return otherwise;
    text[size] = '\0';
    const char* const at = strstr(text, name);
    char* end = NULL;
    const uint64_t number = at != NULL ? strtoull(at + strlen(name), &end, 10) : 0;
    return at != NULL && end != at + strlen(name) ? number : otherwise; /* `max` is no number */
}

/* What is left of the limits of the control group and of those above it (version 2). */
static uint64_t left_by_control_groups(const struct MemoryNodes* nodes) {
    uint64_t least = UINT64_MAX;
    int folder = nodes->group[0] != '\0' ? open(nodes->group, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    for (unsigned above = nodes->group_depth; folder >= 0; above--) {
        const uint64_t most = number_in(folder, "memory.max", "", UINT64_MAX);
        const uint64_t used = number_in(folder, "memory.current", "", 0);
        const uint64_t left = most == UINT64_MAX ? most : most > used ? most - used : 0;
        if (left < least) least = left;
        const int next = above > 0 ? openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        close(folder);
        folder = next;
    }
    return least;
}

/* Pages that are made at once may be more than the program would ever use. */
static bool is_room_for(const struct MemoryNodes* nodes, uint64_t bytes) {
    const uint64_t groups = left_by_control_groups(nodes);
    const uint64_t machine = number_in(AT_FDCWD, "/proc/meminfo", "MemAvailable:", 0);
    const uint64_t left = machine << 10 < groups ? machine << 10 : groups;
    return bytes <= left / 2;
}

static unsigned ranges_of_process(void) {
    char text[read_at_once];
    unsigned lines = 0;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    for (ssize_t size = 0; (size = read(file, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < size; i++)
            lines += text[i] == '\n';
    close(file);
    return lines;
}

/* The program needs ranges of its own. An area makes two at most, and gives them back when it is freed, of which
 * nobody tells: so they are counted when there may be too many, and then not soon again. */
static bool may_get_ranges(void) {
    static atomic_int calls_to_count = most_ranges / 4;
    static atomic_bool is_full;
    if (atomic_fetch_sub(&calls_to_count, 1) > 0) return !atomic_load(&is_full);
    const unsigned count = ranges_of_process();
    const bool is_now = count >= most_ranges;
    atomic_store(&is_full, is_now);
    atomic_store(&calls_to_count, refusals_between_counts + (is_now ? 0 : (int)(most_ranges - count) / 2));
    return !is_now;
}

static const char* give_to_kernel(const char* begin, uint64_t bytes, int mode, const struct node_mask* mask) {
    if (!may_get_ranges())
        return "the process has 32,768 ranges of memory, half of what it may by default: give the policy to "
               "larger areas only";
    if (set_range(begin, bytes, mode, mask) == 0) return NULL;
    if (errno == EPERM) return "a sandbox forbids mbind(2): run the program outside of it";
    if (errno == ENOMEM) return "the process has all ranges of memory that it may have (vm.max_map_count)";
    if (errno == EINVAL && mode == preferred_many) return "this kernel binds to one node only (before 5.15)";
    return "the kernel refuses it (mbind)";
}

static const char* make(const char* begin, uint64_t bytes) {
    while (madvise((void*)begin, bytes, populate_write) != 0)
        if (errno != EINTR && errno != EAGAIN)
            return errno == EINVAL ? "it is read-only" : "its pages cannot be made (madvise)";
    return NULL;
}

/* Ranges of several policies that were one when their first page was made can become one again, which mremap() needs
 * before Linux 6.17. No large page: it would lie in several ranges. */
static const char* make_first_page(const char* begin) {
    hold_large_pages();
    const int was_disabled = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    const bool is_held = was_disabled >= 0 && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
    const char* why = "large pages cannot be held off while its first page is made (prctl)";
    if (is_held) {
        why = make(begin, page_bytes);
        prctl(PR_SET_THP_DISABLE, was_disabled, 0, 0, 0);
    }
    release_large_pages();
    return why;
}

static const char* place_blocks(const struct MemoryNodes* nodes, const struct PagePlan* plan,
                                const char* begin) {
    if (plan->place_count == 0)
        return "bind_block needs threads that are pinned to processors whose nodes the program may use: give "
               "--pin";
    const char* const unmade = nodes->why_unmade != NULL ? nodes->why_unmade : make_first_page(begin);
    if (unmade != NULL) return unmade;
    for (unsigned thread = 0; thread < plan->place_count;) {
        unsigned behind = thread + 1; /* neighbours on a node are one range */
        while (behind < plan->place_count && plan->places[behind] == plan->places[thread])
            behind++;
        const uint64_t first = begin_of_block(plan, thread);
        const uint64_t end = begin_of_block(plan, behind);
        const struct node_mask mask = mask_of(nodes, &plan->places[thread], 1);
        const char* const why = first == end
                                    ? NULL
                                    : give_to_kernel(begin + first * page_bytes, (end - first) * page_bytes,
                                                     MPOL_PREFERRED, &mask);
        if (why != NULL) return why;
        thread = behind;
    }
    return NULL;
}

/* Makes the pages, each on its node as far as that has room. */
static const char* make_pages(const struct MemoryNodes* nodes, const struct PagePlan* plan, char* begin) {
    int old_mode = MPOL_DEFAULT;
    struct node_mask old = {{0}};
    if (syscall(SYS_get_mempolicy, &old_mode, old.words, mask_bits, NULL, 0) != 0)
        return "the kernel does not say what policy the thread has (get_mempolicy)";
    const char* why = NULL;
    for (unsigned place = 0; place < nodes->count && why == NULL; place++) {
        const uint16_t only = (uint16_t)place;
        const struct node_mask mask = mask_of(nodes, &only, 1);
        if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.words, mask_bits) != 0) {
            why = "the kernel refuses the thread another policy (set_mempolicy)";
            break;
        }
        for (uint64_t page = 0; page < plan->pages && why == NULL; page++) {
            if (node_of_page(plan, page) != (int)place) continue;
            const uint64_t first = page;
            while (page + 1 < plan->pages && node_of_page(plan, page + 1) == (int)place)
                page++;
            why = make(begin + first * page_bytes, (page + 1 - first) * page_bytes);
        }
    }
    const bool has_nodes = old_mode != MPOL_DEFAULT && old_mode != MPOL_LOCAL;
    syscall(SYS_set_mempolicy, old_mode, has_nodes ? old.words : NULL, has_nodes ? mask_bits : 0);
    return why;
}

/* Moves what is elsewhere, and counts what stays there. */
static const char* move_pages_of(const struct MemoryNodes* nodes, const struct PagePlan* plan, char* begin,
                                 struct PlacedPages* placed) {
    for (uint64_t first = 0; first < plan->pages; first += batch_pages) {
        void* pages[batch_pages];
        int wanted[batch_pages];
        int found[batch_pages];
        unsigned count = 0;
        for (; count < batch_pages && first + count < plan->pages; count++) {
            pages[count] = begin + (first + count) * page_bytes;
            wanted[count] = nodes->numbers[node_of_page(plan, first + count)];
            found[count] = -1;
        }
        /* Asking first is cheap: for a call that moves, the kernel empties lists of pages of all processors. Where it
         * moves but some of them it says how many it has left, and the status of each is known. */
        long result = syscall(SYS_move_pages, 0, (unsigned long)count, pages, NULL, found, 0);
        if (result == 0 && memcmp(found, wanted, count * sizeof *found) != 0)
            result = syscall(SYS_move_pages, 0, (unsigned long)count, pages, wanted, found, MPOL_MF_MOVE);
        if (result < 0)
            return errno == EPERM ? "a sandbox forbids move_pages(2): run the program outside of it"
                                  : "its pages cannot be moved (move_pages)";
        placed->pages += count;
        for (unsigned i = 0; i < count; i++)
            placed->elsewhere += found[i] != wanted[i];
    }
    return NULL;
}

/* The kernel's balancing would move pages to the threads that use them, except where a policy was set. */
static const char* keep_pages(const struct MemoryNodes* nodes, const struct PagePlan* plan,
                              const char* begin) {
    const struct node_mask all = mask_of(nodes, NULL, nodes->count);
    return syscall(SYS_mbind, begin, plan->pages * page_bytes, MPOL_INTERLEAVE, all.words, mask_bits, 0) == 0
               ? NULL
               : "the kernel may move its pages again (mbind)";
}

static const char* place_pages(const struct MemoryNodes* nodes, const struct PagePlan* plan, char* begin,
                               struct PlacedPages* placed) {
    const uint64_t bytes = plan->pages * page_bytes;
    if (nodes->why_unmade != NULL) return nodes->why_unmade;
    if (!is_room_for(nodes, bytes))
        return "its pages would be made at once, and are more than half of the memory that is left";
    madvise(begin, bytes, MADV_NOHUGEPAGE); /* EINVAL: the kernel has no large pages */
    const char* refused =
        give_to_kernel(begin, bytes, MPOL_DEFAULT, NULL); /* the thread's own policy counts */
    if (refused != NULL) return refused;
    const char* why = make_pages(nodes, plan, begin);
    if (why == NULL) why = move_pages_of(nodes, plan, begin, placed);
    return why != NULL ? why : keep_pages(nodes, plan, begin);
}

static const char* bind_area(const struct MemoryNodes* nodes, const struct MemoryRule* rule,
                             const char* begin, uint64_t bytes) {
    struct node_mask mask = {{0}};
    for (unsigned i = 0; i < rule->node_count; i++) {
        unsigned place = 0;
        while (place < nodes->count && nodes->numbers[place] != rule->nodes[i])
            place++;
        if (place == nodes->count) return "it is to be bound to a node that the program does not have";
        mask.words[rule->nodes[i] / word_bits] |= 1UL << rule->nodes[i] % word_bits;
    }
    return give_to_kernel(begin, bytes, rule->node_count == 1 ? MPOL_PREFERRED : preferred_many, &mask);
}

const char* place_area(const struct MemoryNodes* nodes, const struct MemoryRule* rule, const void* area,
                       uint64_t bytes, uint64_t seed, struct PlacedPages* placed) {
    const uintptr_t first = (uintptr_t)area / page_bytes;
    const uintptr_t last = ((uintptr_t)area + bytes - 1) / page_bytes;
    char* const begin = (char*)(first * page_bytes); /* NOLINT(performance-no-int-to-ptr) */
    const struct PagePlan plan = {.policy = rule->policy,
                                  .pages = last - first + 1,
                                  .nodes = nodes->count,
                                  .places = nodes->thread_places,
                                  .place_count = nodes->thread_count,
                                  .first_page = first,
                                  .seed = seed};
    *placed = (struct PlacedPages){0, 0};
    const struct node_mask all = mask_of(nodes, NULL, nodes->count);
    switch (rule->policy) {
        case page_first_touch:
            return give_to_kernel(begin, plan.pages * page_bytes, MPOL_LOCAL, NULL);
        case page_interleave:
            return give_to_kernel(begin, plan.pages * page_bytes, MPOL_INTERLEAVE, &all);
        case page_bind:
            return bind_area(nodes, rule, begin, plan.pages * page_bytes);
        case page_bind_block:
            return place_blocks(nodes, &plan, begin);
        default:
            return place_pages(nodes, &plan, begin, placed);
    }
}

void forget_area(const void* area, uint64_t bytes) {
    set_range(area, bytes, MPOL_DEFAULT, NULL);
}
