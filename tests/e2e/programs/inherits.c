// Forks children that call work() 100 times each; arguments: how many, and what it does before:
// title: moves its environment away and writes over it, as programs do that show a title in ps
// wipe: the same, and it clears the pointers to the variables as well
// away: goes to the root directory
// wait: waits for a line
// load=FILE: loads a library, whose plugin_work() its children call as well, and waits for a line
// With a third argument the last child becomes that program.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

__attribute__((noinline)) static long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3 + 1;
}

static void write_title(char** arguments, int wipe) {
    char* const begin = arguments[0];
    char* end = begin;
    int count = 0;
    for (char** each = arguments; *each != NULL; ++each)
        if (*each == end) end += strlen(end) + 1;
    while (environ[count] != NULL) {
        if (environ[count] == end) end += strlen(end) + 1;
        ++count;
    }
    char** copy = calloc((size_t)count + 1, sizeof *copy);
    for (int i = 0; i < count; ++i) {
        copy[i] = strdup(environ[i]);
        if (wipe) environ[i] = NULL;
    }
    environ = copy;
    memset(begin, 0, (size_t)(end - begin));
    snprintf(begin, (size_t)(end - begin),
             "inherits: master process, with a title longer than its arguments");
}

int main(int count, char** arguments) {
    if (count < 3) return 2;
    const int children = atoi(arguments[1]);
    const char* how = arguments[2];
    char* last = count > 3 ? strdup(arguments[3]) : NULL;
    unsigned (*plugin)(unsigned, unsigned) = NULL;
    long sum = work(1);
    if (strncmp(how, "load=", 5) == 0) {
        void* library = dlopen(how + 5, RTLD_NOW);
        if (library == NULL) return 3;
        plugin = (unsigned (*)(unsigned, unsigned))dlsym(library, "plugin_work");
        if (plugin == NULL) return 3;
    }
    if (plugin != NULL || strcmp(how, "wait") == 0) {
        puts("waiting");
        fflush(stdout);
        getchar();
    }
    if (strcmp(how, "away") == 0 && chdir("/") != 0) return 4;
    if (strcmp(how, "title") == 0) write_title(arguments, 0);
    if (strcmp(how, "wipe") == 0) write_title(arguments, 1);
    for (int child = 0; child < children; ++child) {
        if (fork() == 0) {
            for (int i = 0; i < 100; ++i)
                sum += work(i) + (plugin == NULL ? 0 : (long)plugin((unsigned)i, 1));
            if (last != NULL && child == children - 1) execl(last, last, "1", "10", (char*)NULL);
            return sum == 0;
        }
        wait(NULL);
    }
    return 5;
}
