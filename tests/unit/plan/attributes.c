// Conventions of which gcc's debug information says nothing but where the parameters are.
#define NI __attribute__((noinline, noclone))

__attribute__((ms_abi)) NI long microsoft(long a, long b, long c, long d, long e, double x) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + (long)x;
}

__attribute__((ms_abi)) NI long microsoft_without_arguments(void) {
    return 5;
}

NI long ordinary(long a, long b, double x, long c, long d, long e, long f, long g) {
    return a + 2 * b + (long)x + 4 * c + 5 * d + 6 * e + 7 * f + 8 * g;
}

NI long unused(long a, long b, long c) {
    (void)b;
    return a * c;
}
