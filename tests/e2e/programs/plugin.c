// A library that is loaded while the program runs. Its constructor calls its function already.
static volatile unsigned sink;

__attribute__((noinline)) static unsigned inner(unsigned x) {
    sink += x;
    return x * 2654435761u;
}

__attribute__((noinline)) static unsigned chosen_there(unsigned x) {
    __asm__ volatile("");
    return x ^ 5;
}
static unsigned (*resolve(void))(unsigned) {
    return chosen_there;
}
__attribute__((ifunc("resolve"))) unsigned plugin_chosen(unsigned x);

__attribute__((noinline)) unsigned plugin_work(unsigned x, unsigned y) {
    return inner(plugin_chosen(x)) ^ inner(y);
}

static __thread int kept;

int plugin_keep(int x) {
    kept += x;
    return kept;
}

__attribute__((constructor)) static void begins(void) {
    sink = plugin_work(1, 2);
}
