// Functions of the shapes that a wrapper can get wrong. Prints what it computed; the counts are in the names'
// comments.
#include <pthread.h>

#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {
struct Big {
    long values[10];
};
}  // namespace

extern "C" {
[[gnu::noinline]] int thrower(int i) {  // 1000
    if (i % 3 == 0) throw std::runtime_error("a third of them");
    asm volatile("");
    return i;
}
[[gnu::noinline]] int with_cleanup(int i, double d) {  // 1000, a third left by the exception
    const std::string text(static_cast<size_t>(d * 16), 'a');
    return thrower(i) + static_cast<int>(text.size());
}
[[gnu::noinline]] long by_value(Big big, int x) {  // 1
    asm volatile("" : : "m"(big));
    long sum = x;
    for (const long value : big.values)
        sum += value;
    return sum;
}
[[gnu::noinline]] double variadic(int n, ...) {  // 1
    va_list arguments;
    va_start(arguments, n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 2 != 0 ? va_arg(arguments, double) : va_arg(arguments, int);
    va_end(arguments);
    return sum;
}
[[gnu::noinline]] Big in_memory(int first) {  // 1
    Big big;
    for (int i = 0; i < 10; i++)
        big.values[i] = first + i;
    asm volatile("" : : "m"(big));
    return big;
}
[[gnu::noinline]] long double wide(long double x, __int128 y) {  // 1
    asm volatile("" : "+m"(x));
    return x * 2 + static_cast<long double>(y);
}
[[gnu::noinline]] int recursive(int n) {  // 11
    const int below = n == 0 ? 0 : recursive(n - 1);
    asm volatile("");
    return below + n;
}
[[gnu::noinline]] int many(int a, int b, int c, int d, int e, int f, int g, long h, double x, int i) {  // 1
    asm volatile("");
    return a + b + c + d + e + f + g + static_cast<int>(h) + static_cast<int>(x) + i;
}
[[gnu::noinline]] void leaves_thread() {  // 1, left by pthread_exit
    pthread_exit(reinterpret_cast<void*>(5));
}
}

int main() {
    int caught = 0;
    long sum = 0;
    for (int i = 0; i < 1000; i++) {
        try {
            sum += with_cleanup(i, 2.5);
        } catch (const std::exception&) {
            ++caught;
        }
    }
    const double twenty = variadic(20, 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0, 11, 12.0, 13, 14.0, 15, 16.0,
                                   17, 18.0, 19, 20.0);
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
            leaves_thread();
            return nullptr;
        },
        nullptr);
    void* result = nullptr;
    pthread_join(thread, &result);
    std::printf("%d %ld %ld %g %Lg %d %d %ld\n", caught, sum, by_value(in_memory(1), 3), twenty,
                wide(3.5L, 7), recursive(10), many(1, 2, 3, 4, 5, 6, 7, 8, 9.0, 10),
                reinterpret_cast<long>(result));
}
