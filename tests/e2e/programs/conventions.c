/* One function for each way of passing arguments and results. Every one is called ROUNDS times, from main. */
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>

#define KEPT __attribute__((noinline, noclone, noipa))
#define ROUNDS 50

typedef struct {
    long words[40];
} Large;
typedef struct {
    double x, y;
} TwoDoubles;
typedef struct {
    long n;
    double x;
} Mixed;
typedef struct {
    long double wide;
    int n;
} WithLongDouble;
typedef struct {
    float x, y, z;
} ThreeFloats;
typedef double Vector4 __attribute__((vector_size(32)));
typedef double Vector8 __attribute__((vector_size(64)));

KEPT long twelve_integers(long a, int b, short c, char d, long e, long f, long g, int h, short i, char j,
                          long k, long l) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}
KEPT double eleven_doubles(double a, float b, double c, double d, double e, double f, double g, double h,
                           double i, float j, double k) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
}
KEPT double both_kinds(int a, double b, long c, float d, long e, double f, long g, double h, long i, double j,
                       long k, double l, long m, double n, long o, double p, long q, double r, long s,
                       double t) {
    return a + b * c + d * e + f * g + h * i + j * k + l * m + n * o + p * q + r * s + t;
}
KEPT long large_by_value(Large large, int at) {
    return large.words[at] + large.words[39 - at];
}
KEPT Large large_result(int first) {
    Large large;
    for (int i = 0; i < 40; i++)
        large.words[i] = first * i;
    return large;
}
KEPT TwoDoubles two_doubles(TwoDoubles a, Mixed b, ThreeFloats c) {
    return (TwoDoubles){a.x + b.x + c.z, a.y + (double)b.n + c.x * c.y};
}
KEPT Mixed mixed_result(Mixed a, TwoDoubles b) {
    return (Mixed){a.n * 2, a.x + b.x * b.y};
}
KEPT WithLongDouble long_double_in_struct(WithLongDouble a, long double b) {
    return (WithLongDouble){a.wide * b, a.n + 1};
}
KEPT long double long_double_result(int a, long double b, double c, long double d) {
    return a + b * c - d;
}
KEPT double complex complex_double(double complex a, float complex b) {
    return a * b;
}
KEPT float complex complex_float(float complex a, int n) {
    return a * (float)n;
}
/* Its result comes in st(0) and st(1). */
KEPT long double complex complex_long_double(long double complex a, long double complex b) {
    return a * b + 1;
}
KEPT __int128 int128(__int128 a, long b, __int128 c, __int128 d, __int128 e) {
    return a * b + c - d * 3 + e;
}
KEPT double variadic_twenty(const char* kinds, ...) {
    va_list arguments;
    va_start(arguments, kinds);
    double sum = 0;
    for (int i = 1; *kinds; kinds++, i++) {
        if (*kinds == 'i') sum += i * va_arg(arguments, int);
        if (*kinds == 'l') sum += i * (double)va_arg(arguments, long);
        if (*kinds == 'd') sum += i * va_arg(arguments, double);
        if (*kinds == 'w') sum += i * (double)va_arg(arguments, long double);
        if (*kinds == 's') sum += i * (double)va_arg(arguments, Large).words[1];
    }
    va_end(arguments);
    return sum;
}
KEPT __attribute__((target("avx"))) Vector4 avx(Vector4 a, Vector4 b, Vector4 c, Vector4 d, Vector4 e,
                                                Vector4 f, Vector4 g, Vector4 h, Vector4 i) {
    return a + b * c + d * e + f * g + h * i;
}
KEPT __attribute__((target("avx512f"))) Vector8 avx512(Vector8 a, Vector8 b, Vector8 c, Vector8 d, Vector8 e,
                                                       Vector8 f, Vector8 g, Vector8 h, Vector8 i) {
    return a + b * c + d * e + f * g + h * i;
}
__attribute__((target("avx"))) static void try_avx(int n) {
    const Vector4 v = {n, 2, 3, 4};
    const Vector4 sum = avx(v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8);
    printf("avx %g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
}
__attribute__((target("avx512f"))) static void try_avx512(int n) {
    const Vector8 v = {n, 2, 3, 4, 5, 6, 7, 8};
    const Vector8 sum = avx512(v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8);
    for (int i = 0; i < 8; i++)
        printf("avx512 %g\n", sum[i]);
}

/* Of the stack, where the return address ends. */
KEPT long aligned(void) {
    return (long)__builtin_dwarf_cfa() & 63;
}
KEPT long aligned_arguments(long a, long b, long c, long d, long e, long f, long g) {
    return ((long)__builtin_dwarf_cfa() & 63) + a + b + c + d + e + f + 100 * g;
}
/* As a caller does that was compiled with -mpreferred-stack-boundary=6. */
static long call_aligned(void* function) {
    long result;
    __asm__ volatile(
        "mov %%rsp, %%rbx\n\tlea -128(%%rsp), %%rsp\n\tand $-64, %%rsp\n\tsub $64, %%rsp\n\tmovq $7, "
        "(%%rsp)\n\t"
        "mov $1, %%edi\n\tmov %%edi, %%esi\n\tmov %%edi, %%edx\n\tmov %%edi, %%ecx\n\tmov %%edi, %%r8d\n\t"
        "mov %%edi, %%r9d\n\tcall *%1\n\tmov %%rbx, %%rsp"
        : "=a"(result)
        : "r"(function)
        : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}
int main(void) {
    for (int n = 1; n <= ROUNDS; n++) {
        int from_outside = n;
        KEPT int nested(int x) {
            from_outside += x;
            return from_outside * 2;
        }
        const Large large = large_result(n);
        const TwoDoubles two = two_doubles((TwoDoubles){n, 2}, (Mixed){3, 4}, (ThreeFloats){5, 6, 7});
        const Mixed mixed = mixed_result((Mixed){n, 1.5}, two);
        const WithLongDouble wide = long_double_in_struct((WithLongDouble){1.25L * n, n}, 3.5L);
        const double complex c = complex_double(n + 2 * I, 3 - 1 * I);
        const float complex cf = complex_float(1 + 2 * I, n);
        const long double complex cl = complex_long_double(n + 2 * I, 3 + 1 * I);
        const __int128 big = int128((__int128)n << 70, 5, 6, 7, (__int128)8 << 65);
        printf("%ld %g %g\n", twelve_integers(n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
               eleven_doubles(n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
               both_kinds(n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
        printf("%ld %g %g %ld %g %Lg %d %Lg\n", large_by_value(large, n % 40), two.x, two.y, mixed.n, mixed.x,
               wide.wide, wide.n, long_double_result(n, 2.5L, 3.5, 4.25L));
        printf("%g %g %g %g %Lg %Lg %lx %lx\n", creal(c), cimag(c), crealf(cf), cimagf(cf), creall(cl),
               cimagl(cl), (unsigned long)(big >> 64), (unsigned long)big);
        printf("%g\n", variadic_twenty("idlidwlidsdilddwiiid", n, 2.0, 3L, 4, 5.0, 6.0L, 7L, 8, 9.0, large,
                                       11.0, 12, 13L, 14.0, 15.0, 16.0L, 17, 18, 19, 20.0));
        printf("%d\n", nested(n));
        printf("aligned %ld %ld\n", call_aligned((void*)aligned), call_aligned((void*)aligned_arguments));
        if (__builtin_cpu_supports("avx")) try_avx(n);
        if (__builtin_cpu_supports("avx512f")) try_avx512(n);
    }
    return 9;
}
