#!/usr/bin/python3
"""The signatures of the catalogue against the declarations of the system's own headers.

headers_test.py CATALOGUE C-COMPILER C++-COMPILER CONSTRUCTS

Every header that is installed is read as C and compiled as C++, where templates compare each function that it declares
with its entry: how many parameters, of which kind and size, and what is returned.
"""

import re
import subprocess
import sys
import tomllib
import unittest

CATALOGUE, CC, CXX, CONSTRUCTS = sys.argv[1:5]

# What a header must declare so that a mistake in reading it cannot pass as agreement.
POSIX = """aio arpa/inet dirent fcntl malloc math mqueue netdb poll pthread sched semaphore signal spawn stdio stdlib string strings
sys/epoll sys/eventfd sys/file sys/inotify sys/ioctl sys/ipc sys/mman sys/msg sys/random sys/resource sys/select sys/sem sys/sendfile
sys/shm sys/socket sys/stat sys/syscall sys/time sys/timerfd sys/types sys/uio sys/wait termios threads time unistd wchar""".split()

LIBRARIES = re.compile(r"u?n?compress2?$|deflate|inflate|crc32|adler32|gz|ZSTD_|LZ4|BZ2_|lzma_|snappy_|Brotli|XXH|EVP_|MD5_|SHA\d+|RAND_|CRYPTO_"
                       r"|fftwf?_|cblas_|LAPACKE_")

TEMPLATES = """
namespace check {
enum Kind { is_signed, is_unsigned, is_pointer, is_bool, is_float, is_enum, is_handle };
struct Value { Kind kind; unsigned size; };
template <class T> struct Of;
template <class T> struct Of<T*> { static constexpr Value value{is_pointer, 8}; };
template <> struct Of<bool> { static constexpr Value value{is_bool, 1}; };
#define SCALAR(type, kind) template <> struct Of<type> { static constexpr Value value{kind, sizeof(type)}; };
SCALAR(char, is_signed) SCALAR(wchar_t, is_signed) SCALAR(signed char, is_signed) SCALAR(short, is_signed)
SCALAR(int, is_signed) SCALAR(long, is_signed) SCALAR(long long, is_signed) SCALAR(unsigned char, is_unsigned) SCALAR(unsigned short, is_unsigned)
SCALAR(unsigned, is_unsigned) SCALAR(unsigned long, is_unsigned) SCALAR(unsigned long long, is_unsigned) SCALAR(float, is_float)
SCALAR(double, is_float)
template <class T> requires (__is_enum(T) || __is_union(T)) struct Of<T> { static constexpr Value value{is_enum, sizeof(T)}; };

constexpr bool like(Value real, Value catalogued) {
    if (catalogued.kind == is_handle) return real.kind == is_pointer || real.size == 4;
    if (real.size != catalogued.size) return false;
    if (real.kind == catalogued.kind) return true;
    // An enumeration may be called the integer that it is, and a union of pointers travels as one.
    return real.kind == is_enum && catalogued.kind != is_float;
}
template <class T> constexpr bool returns(const Value* result) {
    if constexpr (__is_same(T, void)) return result == nullptr;
    else return result != nullptr && like(Of<T>::value, *result);
}
template <class... A> constexpr bool takes(bool open, const Value* catalogued, unsigned count) {
    if (count > sizeof...(A) || (count < sizeof...(A) && !open)) return false;
    const Value real[] = {Of<A>::value..., {is_bool, 0}};
    for (unsigned i = 0; i < count; ++i)
        if (!like(real[i], catalogued[i])) return false;
    return true;
}
// An entry that ends in ... leaves open what follows, be it that versions differ.
template <class T> struct Function;
#define FUNCTION(end, quality, variadic_) \\
template <class R, class... A> struct Function<R(A... end) quality> { \\
    static constexpr bool fits(bool variadic, const Value* result, const Value* values, unsigned count) { \\
        return (variadic || !variadic_) && returns<R>(result) && takes<A...>(variadic && !variadic_, values, count); \\
    } \\
};
#define COMMA ,
FUNCTION(, , false) FUNCTION(, noexcept, false) FUNCTION(COMMA ..., , true) FUNCTION(COMMA ..., noexcept, true)
}
"""

# Types that C++ has under other names.
FLOATS = ["-D_Float32=float", "-D_Float64=double", "-D_Float32x=double", "-D_Float64x=long double", "-D_Float128=__float128"]

KINDS = {"i": "is_signed", "u": "is_unsigned", "f": "is_float"}
SPECIAL = {"ptr": "is_pointer, 8", "bool": "is_bool, 1", "enum": "is_enum, 4", "handle": "is_handle, 4"}


def value(type_name: str) -> str:
    inside = SPECIAL.get(type_name) or f"{KINDS[type_name[0]]}, {int(type_name[1:]) // 8}"
    return f"{{check::{inside}}}"


def signatures() -> dict[str, str]:
    with open(CATALOGUE, "rb") as file:
        catalogue = tomllib.load(file)
    found = {}
    for group in catalogue["group"]:
        for name, signature in group["functions"].items():
            if group.get("futex"):
                # What a call has for `...` is read from the registers, whatever that is.
                signature = re.sub(r",.*(?=, \.\.\.)", "", signature)
            found[name] = signature
            if "also-with-prefix" in group:
                found[group["also-with-prefix"] + name] = signature
    for name, same in catalogue["alias"].items():
        found[name] = found[same]
    return found


def assertion(name: str, signature: str, builtin: str = "") -> str:
    parameters, _, result = (part.strip() for part in signature.replace("-> size ", "-> ").partition("->"))
    types = [parameter.split(":")[1].strip() for parameter in parameters.split(",") if parameter.strip() not in ("", "...")]
    variadic = "true" if parameters.endswith("...") else "false"
    values = ", ".join(map(value, [*types, result or "ptr"]))
    returned = f"values + {len(types)}" if result else "nullptr"
    return (f"constexpr check::Value values_of_{name}[] = {{{values}}};\n"
            f"static_assert(check::Function<decltype({builtin}{name})>::fits({variadic}, {returned.replace('values', 'values_of_' + name)},"
            f' values_of_{name}, {len(types)}), "{name}");\n')


def run(command: list[str], text: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)


class Headers(unittest.TestCase):
    longMessage = True

    def declarations(self, headers: list[str], *options: str) -> str:
        text = "".join(f"#if __has_include(<{name}.h>)\n#include <{name}.h>\n#endif\n" for name in headers)
        done = run([*CC.split(), "-std=gnu17", "-D_GNU_SOURCE", *options, "-E", "-P", "-xc", "-"], text)
        self.assertEqual(done.returncode, 0, done.stderr)
        # C++ has no such arrays.
        return re.sub(r"\[ *((__)?restrict[^]]*|\(?\*?[a-z]+_[a-z_]+\)?) *\]", "[]", done.stdout)

    def compare(self, declared: str, names: list[str], *options: str, builtin: str = "") -> None:
        known = signatures()
        words = set(re.findall(r"\b(\w+) *\)? *\(", declared))
        wanted = [name for name in names if builtin or name in words]
        self.check(declared, {name: known[name] for name in wanted}, options, builtin)
        self.assertTrue(wanted)
        internal = [name for name in set(names) - set(wanted) if name.startswith("_")]
        others = sorted(set(names) - set(wanted) - set(internal))
        print(f"compared: {len(wanted)} of {len(names)}; not declared: {len(internal)} internal names, and {' '.join(others) or 'no other'}")
        # Each of them, had it one parameter more, would have been noticed.
        for name in wanted[:3]:
            with self.assertRaises(AssertionError):
                self.check(declared, {name: ", ".join(["more: ptr", *filter(None, [known[name].strip()])]).replace(", ->", " ->")}, options, builtin)

    def check(self, declared: str, wanted: dict[str, str], options, builtin: str) -> None:
        asserted = "".join(assertion(name, signature, builtin) for name, signature in wanted.items())
        text = f'extern "C" {{\n{declared}\n}}\n{TEMPLATES}\n{asserted}'
        done = run([*CXX.split(), "-std=gnu++20", "-fpermissive", "-w", "-D_Bool=bool", "-D_Noreturn=", "-Drestrict=__restrict",
                    *FLOATS, *options,
                    "-fsyntax-only", "-xc++", "-"], text)
        wrong = re.findall(r"static assertion failed: (.*)", done.stderr)
        self.assertEqual(wrong, [])
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def test_posix_and_libc(self):
        names = [name for name in signatures() if not re.match(r"P?MPI_|GOMP_|omp_|__kmpc_|_Z|g_", name) and not LIBRARIES.match(name)]
        self.compare(self.declarations(POSIX), names)

    def test_fortified_calls(self):
        """What calls become where the compiler knows the size of a buffer."""
        declared = self.declarations(POSIX, "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")
        self.compare(declared, [name for name in signatures() if name.endswith("_chk")])

    def test_libraries(self):
        """Compression, cryptography and linear algebra."""
        headers = "zlib zstd lz4 lz4hc lz4frame bzlib lzma snappy-c brotli/encode brotli/decode xxhash openssl/evp openssl/sha openssl/md5 \
                   openssl/rand openssl/crypto fftw3 cblas lapacke".split()
        declared = self.declarations(headers, "-D_Complex=", "-Dlapack_complex_float=float", "-Dlapack_complex_double=double")
        if "crc32" not in declared:
            self.skipTest("zlib.h is not installed")
        self.compare(declared, [name for name in signatures() if LIBRARIES.match(name)])

    def test_libm(self):
        names = [name for name in signatures() if name in ("sin", "cosf", "pow", "fmodf", "sincos", "lgamma_r", "jn")]
        self.compare(self.declarations(["math"]), names)

    def test_mpi(self):
        for command in (["mpicc", "--showme:compile"], ["mpicc", "-compile_info"]):
            try:
                done = run(command, "")
            except FileNotFoundError:
                self.skipTest("mpicc is not installed")
            if done.returncode == 0:
                break
        options = [word for word in done.stdout.split() if word.startswith(("-I", "-D"))]
        self.compare(self.declarations(["mpi"], *options), [name for name in signatures() if re.match(r"P?MPI_", name)])

    def test_openmp_locks(self):
        declared = self.declarations(["omp"], "-fopenmp")
        if "omp_set_lock" not in declared:
            self.skipTest("omp.h is not installed")
        self.compare(declared, [name for name in signatures() if name.startswith("omp_")])

    def test_libgomp(self):
        """The compiler that calls these functions knows their types."""
        names = [name for name in signatures() if name.startswith("GOMP_")]
        if run([*CXX.split(), "-fopenmp", "-fsyntax-only", "-xc++", "-"], "using T = decltype(__builtin_GOMP_barrier);").returncode != 0:
            self.skipTest("this compiler does not call libgomp")
        builtins = [name for name in names if run([*CXX.split(), "-fopenmp", "-fsyntax-only", "-xc++", "-"],
                                                  f"using T = decltype(__builtin_{name});").returncode == 0]
        self.compare("", builtins, "-fopenmp", builtin="__builtin_")
        print(f"unknown to the compiler: {' '.join(sorted(set(names) - set(builtins))) or 'none'}")

    def test_libomp(self):
        """clang's code says in which registers it expects what."""
        try:
            done = run(["clang", "-fopenmp", "-O0", "-S", "-emit-llvm", "-o", "-", CONSTRUCTS], "")
        except FileNotFoundError:
            self.skipTest("clang is not installed")
        if "omp.h" in done.stderr:
            self.skipTest("clang's omp.h is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        called = re.findall(r"^declare (?:![\w ]+)*?(\w+\*?|.*?) @(__kmpc_\w+)\((.*)\)[^)]*$", done.stdout, re.MULTILINE)
        known = signatures()
        sizes = {"i32": "i32", "u32": "i32", "enum": "i32", "i64": "i64", "u64": "i64", "ptr": "ptr", "": "void"}
        self.assertGreater(len(called), 30)
        for result, name, parameters in called:
            # Functions, structures and arrays, all by their addresses.
            plain = re.sub(r"\((?:[^()]|\([^()]*\))*\)\*", "*", parameters)
            given = ["ptr" if part.endswith("*") or part == "ptr" else part for part in re.split(r", (?![^\[]*\])", plain)]
            if name not in known:
                continue
            takes, _, returns = (part.strip() for part in known[name].partition("->"))
            expected = [part if part == "..." else sizes[part.split(":")[1].strip()] for part in map(str.strip, takes.split(","))]
            self.assertEqual((given, "ptr" if result.endswith("*") else result.split()[-1]), (expected, sizes[returns]), name)
        unknown = sorted({name for _, name, _ in called} - set(known))
        print(f"compared: {len(called) - len(unknown)}; called by clang and not in the catalogue: {' '.join(unknown) or 'none'}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
