/* unmaps [over]: calls work() ten times, then unmaps the recorder's shared memory, or maps its own over it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) int work(int x) {
    for (int i = 0; i < 3; i++)
        __asm__ volatile("" : "+r"(x));
    return x * x + 3 * x;
}

int main(int argc, char** argv) {
    enum { kMost = 64 };
    const int over = argc > 1 && !strcmp(argv[1], "over");
    unsigned long begin[kMost];
    unsigned long end[kMost];
    char line[512];
    int pieces = 0;
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += work(i);
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps && pieces < kMost && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:rdam") && sscanf(line, "%lx-%lx", &begin[pieces], &end[pieces]) == 2)
            pieces++;
    for (int i = 0; i < pieces; i++) {
        void* at = (void*)begin[i];
        if (over)
            mmap(at, end[i] - begin[i], PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        else
            munmap(at, end[i] - begin[i]);
    }
    return sum > 0 && pieces > 0 ? 5 : 1;
}
