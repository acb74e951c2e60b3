/* A library with two versions of one function, and one that is chosen when the program starts. */
#define KEPT __attribute__((noinline, noclone))

__attribute__((symver("versioned@VERSIONS_1"))) KEPT int versioned_old(int x) {
    __asm__ volatile("");
    return x + 1;
}
__attribute__((symver("versioned@@VERSIONS_2"))) KEPT int versioned_new(int x) {
    __asm__ volatile("");
    return x * 2;
}

KEPT static int chosen_there(int x) {
    __asm__ volatile("");
    return x - 3;
}
static int (*resolve(void))(int) {
    return chosen_there;
}
__attribute__((ifunc("resolve"))) int chosen_in_library(int);
