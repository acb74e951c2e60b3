// `queries LIBRARY COUNT [FORK]`: loads so many copies of a library with functions fn_00 to fn_99, each under
// a name of its own and one after the other. Calls function j of copy i (i + j) % 3 times, and unloads and
// removes the copy. What it does besides, and what a recorder must not take for calls of a later copy:
//
// - Copy 1 stays. At the end its fn_42 is called five times more.
// - While copy 2 is there, another thread calls its fn_07 four times, and then nothing until the end.
// - Before copy FORK a child is forked, which does the rest as well.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned function(unsigned);

static char content[1 << 20];
static size_t size;
static volatile unsigned sum;
static pthread_barrier_t called, over;

static function* find(void* library, int number) {
    char name[16];
    snprintf(name, sizeof name, "fn_%02d", number);
    function* found = (function*)dlsym(library, name);
    if (found == NULL) exit(1);
    return found;
}

static void* call_and_wait(void* library) {
    function* seven = find(library, 7);
    for (int i = 0; i < 4; i++)
        sum += seven(i);
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&over);
    return NULL;
}

static void* load(int number) {
    char name[64];
    snprintf(name, sizeof name, "./query_%d_%d.so", number, getpid());
    FILE* file = fopen(name, "wb");
    if (file == NULL || fwrite(content, 1, size, file) != size) exit(1);
    fclose(file);
    char other[64];
    snprintf(other, sizeof other, "./query_%d.so", number);
    if (rename(name, other) != 0) exit(1);
    void* library = dlopen(other, RTLD_NOW);
    if (library == NULL) exit(1);
    return library;
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    FILE* file = fopen(arguments[1], "rb");
    if (file == NULL) return 1;
    size = fread(content, 1, sizeof content, file);
    fclose(file);
    const int copies = atoi(arguments[2]);
    const int forks_before = count > 3 ? atoi(arguments[3]) : -1;
    void* kept = NULL;
    pthread_t thread;
    pthread_barrier_init(&called, NULL, 2);
    pthread_barrier_init(&over, NULL, 2);
    pid_t child = -1;
    for (int i = 0; i < copies; i++) {
        if (i == forks_before) {
            child = fork();
            if (child > 0) {
                int status = 0;
                if (waitpid(child, &status, 0) != child || status != 0) return 1;
            }
        }
        void* library = load(i);
        for (int j = 0; j < 100; j++)
            for (int k = 0; k < (i + j) % 3; k++)
                sum += find(library, j)(k);
        if (i == 2) {
            pthread_create(&thread, NULL, call_and_wait, library);
            pthread_barrier_wait(&called);
        }
        char name[64];
        snprintf(name, sizeof name, "query_%d.so", i);
        unlink(name);
        if (i == 1)
            kept = library;
        else
            dlclose(library);
    }
    for (int k = 0; k < 5; k++)
        sum += find(kept, 42)(k);
    if (child == 0) return 0;
    pthread_barrier_wait(&over);
    pthread_join(thread, NULL);
    printf("%u\n", sum);
    return 0;
}
