// Loads a library (argv[1]) again and again: argv[2] rounds of loading, ten calls, unloading. Then, by
// argv[3]:
//   elsewhere   something else takes the place of the library between two rounds
//   namespace   two more copies in namespaces of their own, at the same time
//   fork        a child that loads nothing, while the library is loaded; the child makes 30 calls
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned (*Work)(unsigned, unsigned);

static unsigned sum;

static void* load(const char* path, int calls, int other_namespace) {
    void* library = other_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);
    if (library == NULL) {
        puts(dlerror());
        exit(1);
    }
    const Work work = (Work)dlsym(library, "plugin_work");
    for (int i = 0; i < calls; ++i)
        sum += work(i, sum);
    return library;
}

int main(int count, char** arguments) {
    const char* path = arguments[1];
    const int rounds = atoi(arguments[2]);
    const char* what = count > 3 ? arguments[3] : "";
    for (int i = 0; i < rounds; ++i) {
        void* library = load(path, 10, 0);
        Dl_info info;
        dladdr(dlsym(library, "plugin_work"), &info);
        void* place = info.dli_fbase;
        dlclose(library);
        if (strcmp(what, "elsewhere") == 0)
            place = mmap(place, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    if (strcmp(what, "namespace") == 0) {
        load(path, 10, 1);
        load(path, 10, 1);
    }
    if (strcmp(what, "fork") == 0) {
        void* library = load(path, 10, 0);
        fflush(stdout);
        if (fork() == 0) {
            const Work work = (Work)dlsym(library, "plugin_work");
            for (int i = 0; i < 30; ++i)
                sum += work(i, sum);
            printf("child %u\n", sum);
            return 0;
        }
        wait(NULL);
    }
    printf("%u\n", sum);
    return 0;
}
