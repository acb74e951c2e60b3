// A program with a dl_iterate_phdr of its own, as ThreadSanitizer and some servers have one: it leads to
// libc's, which is looked up in a constructor, and does not work before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

typedef int (*Callback)(struct dl_phdr_info*, size_t, void*);

static int (*next)(Callback, void*);
static long passed;

int dl_iterate_phdr(Callback callback, void* data) {
    ++passed;
    return next(callback, data);
}

__attribute__((constructor)) static void look_up(void) {
    next = (int (*)(Callback, void*))dlsym(RTLD_NEXT, "dl_iterate_phdr");
}

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static int any(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    *(long*)data += info->dlpi_phnum > 0;
    return 1;
}

int main(void) {
    long sum = 0;
    for (long i = 0; i < 100; ++i)
        sum += work(i);
    dl_iterate_phdr(any, &sum);
    printf("%ld %ld\n", sum, passed);
    return 5;
}
