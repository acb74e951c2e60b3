// Compiled so that rbx, rbp and r12 to r15 are no callee's to save, as gcc 14's no_callee_saved_registers
// does for single functions.
volatile long calls_of_vm, calls_of_op, calls_of_last, calls_of_next;
#define NI __attribute__((noinline, noclone))

NI long last(long x) {
    calls_of_last++;
    return x * 3 + 1;
}

NI long vm(long pc, long acc) {
    long a = pc, b = acc, d = pc ^ acc, e = acc * 3, f = pc + 7, g = acc - pc;
    calls_of_vm++;
    for (int i = 0; i < 20; i++) {
        a += last(b);
        b ^= d + i;
        d += e;
        e ^= f;
        f += g;
        g ^= a;
    }
    return a ^ b ^ d ^ e ^ f ^ g;
}

NI long op(long x) {
    calls_of_op++;
    const long y = last(x), z = last(y), w = last(z);
    return x + y * 3 + z * 5 + w * 7;
}

// A jump to one of them in place of a return, of which its own code shows nothing.
long (*volatile behind)(long) = op;
NI long next(long x) {
    calls_of_next++;
    return behind(x + 1);
}

long run(long n) {
    long h = 0;
    for (long i = 0; i < n; i++) {
        h ^= vm(i, h);
        h += op(h) + next(h);
    }
    return h;
}
