"""Writes a C++ program of random functions. The same seed gives the same program.

The program prints a checksum of everything its functions compute, and writes to the file in argv[1] how often each of
them was entered, counted by itself."""

import random

import prologues

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
KEEP static Hash mixed(Hash a, Hash b) { return mix(a, b); }
static const char texts[8][8] = {"zero", "one", "two", "three", "four", "five", "six", "seven"};
static thread_local std::jmp_buf back;
static thread_local int armed;  // how many calls deeper the jump back begins
template <class T> static inline T hide(T t) { T volatile hidden = t; return hidden; }
static thread_local Hash cleaned;
struct Cleanup { Hash h; ~Cleanup() { cleaned = mix(cleaned, h); } };

template <class T> struct Make { KEEP static T of(Hash h) { return static_cast<T>(h >> 7); }
    KEEP static Hash hash(T t) { return static_cast<Hash>(t); } };
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
    KEEP static Hash hash(const T& t) { unsigned char b[sizeof(T)]; std::memcpy(b, &t, sizeof b); \
        Hash h = 0; for (unsigned char c : b) h = mix(h, c); return h; } };
BYTES(One) BYTES(Two) BYTES(Floats) BYTES(Doubles) BYTES(Mixed) BYTES(Large) BYTES(Odd) BYTES(Wide)
#define OF(T, h) Make<T>::of(h)
#define HASH(T, v) Make<T>::hash(v)
"""

DEEPEST = 4
TURNS = 30  # of mutual recursion

KINDS = {"plain": 26, "tiny": 6, "recursive": 6, "tail": 8, "pointer": 7, "variadic": 6, "throws": 6, "catches": 7, "cleans": 5, "jumps": 3,
         "leaps": 5, "loops": 6, "virtual": 10, "mutual": 6, "raw": 12}
# Their callers count their calls: they have no room for it.
COUNTED_OUTSIDE = ("tiny", "raw")


class Function:
    def __init__(self, number: int, kind: str, result: str, parameters: list[str]):
        self.number, self.kind, self.result, self.parameters = number, kind, result, parameters
        self.name = f"fn_{number}"
        self.static = ""
        self.overrides: Function | None = None  # the method of a base class
        self.has_door = False

    @property
    def listed(self) -> str:
        """Its name in a list of functions."""
        return f"Class_{self.number}::{self.name}" if self.kind == "virtual" else self.name

    @property
    def can_be_pointed_to(self) -> bool:
        return self.kind not in ("variadic", "virtual", *COUNTED_OUTSIDE)

    def declaration(self, name: str) -> str:
        named = "".join(f", {type_} a{i}" for i, type_ in enumerate(self.parameters))
        return f"{self.result} {name}(int d{named}{', ...' if self.kind == 'variadic' else ''})"

    def signature(self) -> str:
        return self.declaration(self.listed)

    def callee(self, way: float) -> str:
        """What to write before the arguments."""
        if self.kind != "virtual":
            return self.name
        base = self.overrides or self
        objects = f"hide(static_cast<Class_{base.number}*>(&object_{self.number}))"
        return f"({objects}->*hide(&Class_{base.number}::{self.name}))" if way < 0.4 else f"{objects}->{self.name}"

    def call(self, depth: str, seed: str, way: float = 1.0, mix: str = "mix") -> str:
        """An expression of type Hash; `mix` makes the arguments from the seed."""
        words = [depth] + [f"OF({type_}, {mix}({seed}, {i}))" for i, type_ in enumerate(self.parameters)]
        if self.kind == "variadic":
            words += [f"static_cast<long>({seed} % 1000 + {i})" if i % 2 else f"OF(double, {mix}({seed}, {i}))" for i in range(self.extra)]
        call = f"{self.callee(way)}({', '.join(words)})"
        if self.kind in COUNTED_OUTSIDE:
            call = f"(enter({self.number}), {call})"
        return f"HASH({self.result}, {call})"


class Program:
    def __init__(self, seed: int, functions: int):
        self.random = random.Random(seed)
        self.functions: list[Function] = []
        self.waiting: Function | None = None  # for the other half of a mutual recursion
        for number in range(functions):
            self.functions.append(self.make(number))

    def make(self, number: int) -> Function:
        pick = self.random
        kind = pick.choices(list(KINDS), list(KINDS.values()))[0]
        parameters = [pick.choice(TYPES) for _ in range(pick.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 9, 12, 18]))]
        function = Function(number, kind, pick.choice(TYPES), parameters)
        function.static = "static " if pick.random() < 0.4 else ""
        if kind == "tiny":
            function.parameters = [pick.choice(["int", "long", "double"])]
            function.result = function.parameters[0]
        if kind == "raw":
            function.parameters, function.result = ["long"], "long"
            function.has_door = pick.random() < 0.15
        if kind == "variadic":
            function.extra = pick.choice([1, 5, 20])
        if kind == "tail" and self.functions:
            before = pick.choice(self.functions)
            if before.can_be_pointed_to:
                function.target = before
                self.give_signature(function, before)
        if kind == "virtual":
            self.make_virtual(function)
        if kind == "mutual":
            self.make_mutual(function)
        return function

    @staticmethod
    def give_signature(function: Function, like: Function) -> None:
        function.result, function.parameters = like.result, list(like.parameters)

    def make_virtual(self, function: Function) -> None:
        """A class of its own; some override the method of an earlier one."""
        bases = [f for f in self.functions if f.kind == "virtual" and f.overrides is None]
        if not bases or self.random.random() < 0.4:
            return
        function.overrides = self.random.choice(bases)
        function.name = function.overrides.name
        self.give_signature(function, function.overrides)

    def make_mutual(self, function: Function) -> None:
        first, self.waiting = self.waiting, None
        if first is None:
            self.waiting = function
            return
        self.give_signature(function, first)
        function.partner, first.partner = first, function
        first.is_tail = function.is_tail = self.random.random() < 0.6

    def text(self, function: Function) -> str:
        pick = self.random
        if function.kind == "raw":
            return self.raw_text(function)
        lines = [f"{self.class_text(function)}{function.static if function.kind != 'virtual' else ''}KEEP {function.signature()} {{"]
        if function.kind == "tiny":
            operation = pick.choice(["return a0;", "return a0 + 1;", "return -a0;", f"return a0 * {pick.randrange(2, 9)};"])
            return lines[0] + f" (void)d; asm volatile(\"\" : : \"i\"({function.number})); {operation} }}\n"
        lines.append(f"    enter({function.number});")
        if getattr(function, "target", None) is not None:
            arguments = "".join(f", a{i}" for i in range(len(function.parameters)))
            return "\n".join(lines + [f"    return {function.target.name}(d{arguments});", "}\n"])
        if getattr(function, "partner", None) is not None and function.is_tail:
            arguments = "".join(f", a{i}" for i in range(len(function.parameters)))
            lines.append(f"    if (d < {TURNS}) return {function.partner.name}(d + 1{arguments});")
        lines.append(f"    Hash h = mix({function.number}, d);")
        lines += [f"    h = mix(h, HASH({type_}, a{i}));" for i, type_ in enumerate(function.parameters)]
        lines += getattr(self, "body_" + function.kind, self.body_plain)(function)
        return "\n".join(lines + [f"    return OF({function.result}, h);", "}\n"])

    def raw_text(self, function: Function) -> str:
        text = f"extern \"C\" {function.signature()};\n"
        return text + (f"extern \"C\" {function.declaration(function.name + '_door')};\n" if function.has_door else "")

    def class_text(self, function: Function) -> str:
        """Where there are two bases the method is reached through a thunk that corrects `this`."""
        if function.kind != "virtual":
            return ""
        bases = "" if function.overrides is None else f" : {self.random.choice(['', 'Aside, '])}Class_{function.overrides.number}"
        name = f"Class_{function.number}"
        virtual, override = ("virtual ", "") if function.overrides is None else ("", " override")
        return (f"struct {name}{bases} {{ Hash own_{function.number} = {function.number}; "
                f"{virtual}{function.declaration(function.name)}{override}; }};\n"
                f"static thread_local {name} object_{function.number};\n")

    def calls(self, function: Function, most: int) -> list[str]:
        before = self.functions[max(0, function.number - 200):function.number]
        chosen = [self.random.choice(before) for _ in range(self.random.randint(0, most))] if before else []
        return [f"h = mix(h, {callee.call('d + 1', 'h', self.random.random())});" for callee in chosen]

    def body_plain(self, function: Function) -> list[str]:
        calls = self.calls(function, 2)
        return [f"    if (d < {DEEPEST}) {{ {' '.join(calls)} }}"] if calls else []

    def body_recursive(self, function: Function) -> list[str]:
        return [f"    if (d < {DEEPEST + 3}) h = mix(h, {function.call('d + 1', 'h')});"]

    def body_pointer(self, function: Function) -> list[str]:
        before = [f for f in self.functions[max(0, function.number - 200):function.number] if f.can_be_pointed_to]
        if not before:
            return []
        callee = self.random.choice(before)
        types = "".join(f", {type_}" for type_ in callee.parameters)
        call = callee.call("d + 1", "h").replace(f"{callee.name}(", "(*pointer)(", 1)
        return [f"    {callee.result} (*volatile pointer)(int{types}) = {callee.name};", f"    if (d < {DEEPEST}) h = mix(h, {call});"]

    def body_variadic(self, function: Function) -> list[str]:
        reads = ["h = mix(h, static_cast<Hash>(va_arg(list, long)));" if i % 2 else "h = mix(h, HASH(double, va_arg(list, double)));"
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

    def body_virtual(self, function: Function) -> list[str]:
        return [f"    h = mix(h, own_{function.number}++);"] + self.body_plain(function)

    def body_mutual(self, function: Function) -> list[str]:
        if getattr(function, "partner", None) is None:
            return self.body_plain(function)
        return [f"    if (d < {DEEPEST + 3}) h = mix(h, {function.partner.call('d + 1', 'h')});"] if not function.is_tail else []

    def leapers(self, function: Function) -> list[Function]:
        return [f for f in self.functions[max(0, function.number - 400):function.number] if f.kind == "leaps"]

    def body_jumps(self, function: Function) -> list[str]:
        """What it calls does not come back: it jumps, over some functions more."""
        leapers = self.leapers(function)
        if not leapers:
            return self.body_plain(function)
        call = self.random.choice(leapers).call("d + 1", "kept")
        return ["    volatile Hash kept = h;", f"    armed = {self.random.randint(1, 5)};",
                f"    if (setjmp(back) == 0) kept = mix(kept, {call});", "    armed = 0;", "    h = mix(kept, 77);"]

    def body_leaps(self, function: Function) -> list[str]:
        next_one = self.random.choice(self.leapers(function) + [function])
        return ["    if (armed > 0) {", "        if (--armed == 0) std::longjmp(back, 1);",
                f"        h = mix(h, {next_one.call('d + 1', 'h')});", "    }"]

    def assembly(self) -> str:
        return prologues.source(self.random, [function for function in self.functions if function.kind == "raw"])

    def first_calls(self, function: Function) -> str:
        """By what is no random function: its arguments mixed inline would be much of what is compiled."""
        call = function.call("0", "h", self.random.random(), mix="mixed")
        text = f"    try {{ h = mixed(h, {call}); }} catch (const Err& e) {{ h = mixed(h, e.value); }}\n"
        if function.has_door:
            text += f"    h = mixed(h, static_cast<Hash>({function.name}_door(1, static_cast<long>(h % 100))));\n"
        return text

    def source(self) -> str:
        parts = [f"#define COUNT {len(self.functions)}\n", PRELUDE, "struct Aside { long aside = 3; virtual long beside() { return aside; } };\n"]
        parts += [f"{function.static}KEEP {function.signature()};\n" for function in self.functions if function.kind == "mutual"]
        parts += [self.text(function) for function in self.functions]
        together = 40
        starts = range(0, len(self.functions), together)
        for start in starts:
            parts.append(f"KEEP static Hash part_{start}(Hash h) {{\n")
            parts += [self.first_calls(function) for function in self.functions[start:start + together]]
            parts.append("    return h;\n}\n")
        parts.append("static const char* const names[] = {" + ", ".join(f'"{function.listed}"' for function in self.functions) + "};\n")
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
    for (int i = 0; i < COUNT; ++i) std::fprintf(file, "%s %lu\\n", names[i], counts[i]);
    std::fclose(file);
    return 23;
}
""")
        return "".join(parts)
