// A function in C beside functions in C++ of its name, and two functions that are the same code.
#include <cstdio>
#include <cstdlib>

extern "C" [[gnu::noinline]] long fun() {
    static volatile long calls = 0;
    return calls = calls + 1;
}

[[gnu::noinline]] long fun(int x) {
    long sum = 0;
    for (volatile long i = 0; i < 200000; i = i + 1)
        sum += x;
    return sum;
}

struct A {
    long value;
};
struct B {
    long value;
};

[[gnu::noinline]] long get_a(A* a, long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i)
        sum = sum * 5 + a[i].value;
    return sum;
}

[[gnu::noinline]] long get_b(B* b, long n) {
    long sum = 0;
    for (long i = 0; i < n; ++i)
        sum = sum * 5 + b[i].value;
    return sum;
}

int main(int, char** arguments) {
    const long n = std::atol(arguments[1]);
    A a[4] = {{1}, {2}, {3}, {4}};
    B b[4] = {{1}, {2}, {3}, {4}};
    long sum = fun();
    for (long i = 0; i < n; ++i)
        sum += fun(static_cast<int>(i)) + get_a(a, 4) - get_b(b, 4) * (i % 2);
    std::printf("%ld\n", sum);
}
