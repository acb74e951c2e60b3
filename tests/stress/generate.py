"""Writes a C++ program of random functions. The same seed gives the same program.

The program prints a checksum of everything its functions compute, and writes to the file in argv[1] how often each of
them was entered, counted by itself."""

import random

TYPES = ["char", "unsigned short", "int", "unsigned", "long", "unsigned long", "bool", "float", "double", "long double", "__int128",
         "_Complex double", "_Complex float", "const char*", "One", "Two", "Floats", "Doubles", "Mixed", "Large", "Odd", "Wide"]

PRELUDE = r"""
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#if defined(__clang__)
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
typedef std::uint64_t Hash;
struct One { int a; };
struct Two { long a, b; };
struct Floats { float a, b, c; };
struct Doubles { double a, b; };
struct Mixed { double a; long b; };
struct Large { long v[6]; };
struct Odd { char v[11]; };
typedef int Wide __attribute__((vector_size(16)));
struct Err { Hash value; };
static unsigned long counts[COUNT];
static inline void enter(int i) { __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED); }
static inline Hash mix(Hash a, Hash b) { a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2); return a * 0xff51afd7ed558ccdu; }
static const char texts[8][8] = {"zero", "one", "two", "three", "four", "five", "six", "seven"};
static thread_local std::jmp_buf back;
static thread_local Hash cleaned;
struct Cleanup { Hash h; ~Cleanup() { cleaned = mix(cleaned, h); } };

template <class T> struct Make { KEEP static T of(Hash h) { return static_cast<T>(h >> 7); } KEEP static Hash hash(T t) { return static_cast<Hash>(t); } };
#define NUMBER(T) template <> struct Make<T> { KEEP static T of(Hash h) { return static_cast<T>(static_cast<long>(h >> 40)) / 8; } \
    KEEP static Hash hash(T t) { return static_cast<Hash>(static_cast<long>(t * 8)); } };
NUMBER(float) NUMBER(double) NUMBER(long double)
#define COMPLEX(T) template <> struct Make<_Complex T> { \
    KEEP static _Complex T of(Hash h) { _Complex T c; __real__ c = Make<T>::of(h); __imag__ c = Make<T>::of(mix(h, 1)); return c; } \
    KEEP static Hash hash(_Complex T c) { return mix(Make<T>::hash(__real__ c), Make<T>::hash(__imag__ c)); } };
COMPLEX(float) COMPLEX(double)
template <> struct Make<bool> { KEEP static bool of(Hash h) { return (h >> 9) & 1; } KEEP static Hash hash(bool b) { return b; } };
template <> struct Make<__int128> { KEEP static __int128 of(Hash h) { return static_cast<__int128>(h) << 50 ^ h; }
    KEEP static Hash hash(__int128 n) { return mix(static_cast<Hash>(n), static_cast<Hash>(n >> 64)); } };
template <> struct Make<const char*> { KEEP static const char* of(Hash h) { return texts[(h >> 11) % 8]; }
    KEEP static Hash hash(const char* t) { return static_cast<Hash>(t[0]) * 31 + static_cast<Hash>(t[1]); } };
#define BYTES(T) template <> struct Make<T> { KEEP static T of(Hash h) { T t; unsigned char b[sizeof(T)]; \
    for (unsigned i = 0; i < sizeof b; ++i) b[i] = static_cast<unsigned char>(h >> (i * 5 % 56)) & 0x3f; std::memcpy(&t, b, sizeof t); return t; } \
    KEEP static Hash hash(const T& t) { unsigned char b[sizeof(T)]; std::memcpy(b, &t, sizeof b); Hash h = 0; for (unsigned char c : b) h = mix(h, c); return h; } };
BYTES(One) BYTES(Two) BYTES(Floats) BYTES(Doubles) BYTES(Mixed) BYTES(Large) BYTES(Odd) BYTES(Wide)
#define OF(T, h) Make<T>::of(h)
#define HASH(T, v) Make<T>::hash(v)
"""

DEEPEST = 4


class Function:
    def __init__(self, number: int, kind: str, result: str, parameters: list[str]):
        self.number, self.kind, self.result, self.parameters = number, kind, result, parameters
        self.name = f"fn_{number}"

    def signature(self) -> str:
        named = "".join(f", {type_} a{i}" for i, type_ in enumerate(self.parameters))
        return f"{self.result} {self.name}(int d{named}{', ...' if self.kind == 'variadic' else ''})"

    def call(self, depth: str, seed: str) -> str:
        """An expression of type Hash."""
        words = [depth] + [f"OF({type_}, mix({seed}, {i}))" for i, type_ in enumerate(self.parameters)]
        if self.kind == "variadic":
            words += [f"static_cast<long>({seed} % 1000 + {i})" if i % 2 else f"OF(double, mix({seed}, {i}))" for i in range(self.extra)]
        call = f"{self.name}({', '.join(words)})"
        if self.kind == "tiny":
            call = f"(enter({self.number}), {call})"
        return f"HASH({self.result}, {call})"


class Program:
    def __init__(self, seed: int, functions: int):
        self.random = random.Random(seed)
        self.functions: list[Function] = []
        for number in range(functions):
            self.functions.append(self.make(number))

    def make(self, number: int) -> Function:
        pick = self.random
        kind = pick.choices(["plain", "tiny", "recursive", "tail", "pointer", "variadic", "throws", "catches", "cleans", "jumps", "loops"],
                            [30, 8, 8, 10, 8, 6, 6, 8, 6, 2, 8])[0]
        parameters = [pick.choice(TYPES) for _ in range(pick.choice([0, 1, 2, 2, 3, 4, 6, 8, 12]))]
        function = Function(number, kind, pick.choice(TYPES), parameters)
        if kind == "tiny":
            function.parameters = [pick.choice(["int", "long", "double"])]
            function.result = function.parameters[0]
        if kind == "variadic":
            function.extra = pick.choice([1, 5, 20])
        if kind == "tail" and self.functions:
            before = pick.choice(self.functions)
            if before.kind not in ("variadic", "tiny"):
                function.target, function.result, function.parameters = before, before.result, list(before.parameters)
        return function

    def text(self, function: Function) -> str:
        pick = self.random
        where = "static " if pick.random() < 0.4 else ""
        lines = [f"{where}KEEP {function.signature()} {{"]
        if function.kind == "tiny":
            operation = pick.choice(["return a0;", "return a0 + 1;", "return -a0;", f"return a0 * {pick.randrange(2, 9)};"])
            return lines[0] + f" (void)d; asm volatile(\"\" : : \"i\"({function.number})); {operation} }}\n"
        lines.append(f"    enter({function.number});")
        if getattr(function, "target", None) is not None:
            arguments = "".join(f", a{i}" for i in range(len(function.parameters)))
            return "\n".join(lines + [f"    return {function.target.name}(d{arguments});", "}\n"])
        lines.append(f"    Hash h = mix({function.number}, d);")
        lines += [f"    h = mix(h, HASH({type_}, a{i}));" for i, type_ in enumerate(function.parameters)]
        lines += getattr(self, "body_" + function.kind, self.body_plain)(function)
        return "\n".join(lines + [f"    return OF({function.result}, h);", "}\n"])

    def calls(self, function: Function, most: int) -> list[str]:
        before = self.functions[max(0, function.number - 200):function.number]
        chosen = [self.random.choice(before) for _ in range(self.random.randint(0, most))] if before else []
        return [f"h = mix(h, {callee.call('d + 1', 'h')});" for callee in chosen]

    def body_plain(self, function: Function) -> list[str]:
        calls = self.calls(function, 2)
        return [f"    if (d < {DEEPEST}) {{ {' '.join(calls)} }}"] if calls else []

    def body_recursive(self, function: Function) -> list[str]:
        return [f"    if (d < {DEEPEST + 3}) h = mix(h, {function.call('d + 1', 'h')});"]

    def body_pointer(self, function: Function) -> list[str]:
        before = [f for f in self.functions[max(0, function.number - 200):function.number] if f.kind not in ("variadic", "tiny")]
        if not before:
            return []
        callee = self.random.choice(before)
        types = "".join(f", {type_}" for type_ in callee.parameters)
        call = callee.call("d + 1", "h").replace(f"{callee.name}(", "(*pointer)(", 1)
        return [f"    {callee.result} (*volatile pointer)(int{types}) = {callee.name};", f"    if (d < {DEEPEST}) h = mix(h, {call});"]

    def body_variadic(self, function: Function) -> list[str]:
        reads = [f"h = mix(h, static_cast<Hash>(va_arg(list, long)));" if i % 2 else "h = mix(h, HASH(double, va_arg(list, double)));"
                 for i in range(function.extra)]
        last = f"a{len(function.parameters) - 1}" if function.parameters else "d"
        return [f"    va_list list; va_start(list, {last});", *("    " + read for read in reads), "    va_end(list);"]

    def body_throws(self, function: Function) -> list[str]:
        return [f"    if (h % {self.random.choice([2, 3, 5])} == 0) throw Err{{h}};"]

    def body_catches(self, function: Function) -> list[str]:
        return ["    try {"] + self.body_plain(function) + ["    } catch (const Err& e) { h = mix(h, e.value); }"]

    def body_cleans(self, function: Function) -> list[str]:
        return ["    const Cleanup cleanup{h};"] + self.body_plain(function)

    def body_loops(self, function: Function) -> list[str]:
        return [f"    do h = mix(h, h >> 3); while (h % {self.random.choice([3, 7, 16])} != 0);"]

    def body_jumps(self, function: Function) -> list[str]:
        return ["    volatile Hash kept = h;", "    if (setjmp(back) == 0) deep(3, kept);", "    h = mix(kept, 77);"]

    def source(self) -> str:
        parts = [f"#define COUNT {len(self.functions)}\n", PRELUDE,
                 "KEEP void deep(int d, Hash h) { if (d == 0) std::longjmp(back, 1); deep(d - 1, h + 1); asm volatile(\"\"); }\n"]
        parts += [self.text(function) for function in self.functions]
        together = 40
        starts = range(0, len(self.functions), together)
        for start in starts:
            parts.append(f"KEEP static Hash part_{start}(Hash h) {{\n")
            parts += [f"    try {{ h = mix(h, {function.call('0', 'h')}); }} catch (const Err& e) {{ h = mix(h, e.value); }}\n"
                      for function in self.functions[start:start + together]]
            parts.append("    return h;\n}\n")
        parts.append("static void* run(void* result) {\n    Hash h = 1;\n    cleaned = 0;\n")
        parts += [f"    h = part_{start}(h);\n" for start in starts]
        parts.append("""    *static_cast<Hash*>(result) = mix(h, cleaned);
    return nullptr;
}
int main(int, char** arguments) {
    Hash results[2];
    pthread_t thread;
    pthread_create(&thread, nullptr, run, &results[1]);
    run(&results[0]);
    pthread_join(thread, nullptr);
    std::printf("%016lx %016lx\\n", results[0], results[1]);
    FILE* file = std::fopen(arguments[1], "w");
    for (int i = 0; i < COUNT; ++i) std::fprintf(file, "fn_%d %lu\\n", i, counts[i]);
    std::fclose(file);
    return 23;
}
""")
        return "".join(parts)
