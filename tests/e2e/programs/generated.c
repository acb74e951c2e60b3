// `generated LIBRARY COUNT`: loads so many copies of a library, each under a name of its own, calls its
// plugin_work() once, and unloads and removes it again, as programs do that compile queries.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char content[1 << 20];

int main(int count, char** arguments) {
    if (count != 3) return 2;
    FILE* file = fopen(arguments[1], "rb");
    if (file == NULL) return 1;
    const size_t size = fread(content, 1, sizeof content, file);
    fclose(file);
    unsigned sum = 0;
    for (int i = 0; i < atoi(arguments[2]); i++) {
        char name[64];
        snprintf(name, sizeof name, "./query_%d.so", i);
        file = fopen(name, "wb");
        if (file == NULL || fwrite(content, 1, size, file) != size) return 1;
        fclose(file);
        void* library = dlopen(name, RTLD_NOW);
        if (library == NULL) return 1;
        unsigned (*work)(unsigned, unsigned) =
            (unsigned (*)(unsigned, unsigned))dlsym(library, "plugin_work");
        sum += work(i, i + 1);
        dlclose(library);
        unlink(name);
    }
    printf("%u\n", sum);
    return 0;
}
