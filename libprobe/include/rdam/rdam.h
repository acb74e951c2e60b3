/* Manual probes: make a region of a function, such as the iterations of a loop, appear in rdam's trace like a
 * call to a function. For C99, C++11 and later; for Fortran, use rdam.f90 next to this file.
 *
 *     RDAM_BEGIN("solve", level);                    C++:  { RDAM_SCOPE("solve", level);
 *     …                                                      … }
 *     RDAM_END("solve");
 *
 *     RDAM_LOOP(rows, "100 rows", 100);              one call per 100 iterations, and one for the rest
 *     for (…) { RDAM_STEP(rows); … }
 *     RDAM_LOOP_END(rows);
 *
 * The rest of a loop is compared with rests of the same length, which a call to the region "loop's rest"
 * inside it gives.
 *
 * A region is identified by its name: the same name in two places is the same function. Up to six values
 * (integers or pointers, 64 bits) are recorded as its parameters, under their names in the source. Regions
 * nest like calls, and must end in the thread that began them. The name must live as long as the program, as
 * a string literal does.
 *
 * No library has to be linked. Unless librdam.so is preloaded, a probe is one branch on a null pointer.
 * A process can have 256 regions; further ones are not recorded. Thread-safe; may be used in signal handlers.
 */
#ifndef RDAM_RDAM_H
#define RDAM_RDAM_H

/* A region without values is a macro call without variable arguments, about which -pedantic warns before C23
 * and C++20, except in macros of system headers (clang: wherever they are used). */
#pragma GCC system_header
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long rdam_value;

/* One place in the source. The macros fill it in; `number` belongs to the recorder. */
struct rdam_region {
    const char* name;
    const char* file;
    const char* value_names; /* separated by commas */
    unsigned line;
    unsigned values; /* 0…6 */
    unsigned number; /* 0: not yet known to the recorder */
};

/* A loop whose iterations are grouped. */
struct rdam_loop {
    struct rdam_region* region;
    struct rdam_region* rest;
    unsigned long every;
    unsigned long left;
    int open;
};

#ifndef RDAM_RECORDER /* the recorder implements the other side */

typedef void rdam_begin_function(struct rdam_region* region, const rdam_value* values);
typedef void rdam_end_function(struct rdam_region* region);

/* The hooks are looked up on first use, because the linker resolves the weak symbols of position-dependent
 * programs. dlsym itself is weak: statically linked programs do not have it, and are not recorded. */
static void* rdam_dlsym(void* handle, const char* name) __attribute__((weakref("dlsym")));

#endif

#ifdef __cplusplus
}
#endif

#ifndef RDAM_RECORDER

#define RDAM_JOIN_(a, b) a##b
#define RDAM_JOIN(a, b) RDAM_JOIN_(a, b)

static void rdam_begin_first(struct rdam_region* region, const rdam_value* values) __attribute__((unused));
static void rdam_end_first(struct rdam_region* region) __attribute__((unused));
/* After the first use: the functions in librdam.so, or null. `values` has region->values elements. */
static rdam_begin_function* rdam_begin_hook __attribute__((unused)) = rdam_begin_first;
static rdam_end_function* rdam_end_hook __attribute__((unused)) = rdam_end_first;

static void rdam_look_up(void) {
    void* const begin = rdam_dlsym ? rdam_dlsym(0, "rdam_region_begin") : 0;
    void* const end = begin ? rdam_dlsym(0, "rdam_region_end") : 0;
    rdam_begin_function* begin_hook;
    rdam_end_function* end_hook;
    __builtin_memcpy(&begin_hook, &begin, sizeof begin);
    __builtin_memcpy(&end_hook, &end, sizeof end);
    __atomic_store_n(&rdam_begin_hook, begin_hook, __ATOMIC_RELAXED);
    __atomic_store_n(&rdam_end_hook, end_hook, __ATOMIC_RELAXED);
}
static void rdam_begin_first(struct rdam_region* region, const rdam_value* values) {
    rdam_look_up();
    if (rdam_begin_hook) rdam_begin_hook(region, values);
}
static void rdam_end_first(struct rdam_region* region) {
    rdam_look_up();
    if (rdam_end_hook) rdam_end_hook(region);
}

static inline void rdam_loop_step(struct rdam_loop* loop) {
    if (loop->left == 0) {
        if (loop->open && rdam_end_hook) rdam_end_hook(loop->region);
        if (rdam_begin_hook) rdam_begin_hook(loop->region, 0);
        loop->open = 1;
        loop->left = loop->every;
    }
    --loop->left;
}

static inline void rdam_loop_end(struct rdam_loop* loop) {
    if (loop->open && loop->left > 0 && rdam_begin_hook && rdam_end_hook) {
        const rdam_value iterations = loop->every - loop->left;
        rdam_begin_hook(loop->rest, &iterations);
        rdam_end_hook(loop->rest);
    }
    if (loop->open && rdam_end_hook) rdam_end_hook(loop->region);
    loop->open = 0;
    loop->left = 0;
}

#define RDAM_LOOP(loop, name, every)                                                           \
    static struct rdam_region RDAM_JOIN(loop, _region) = {name, __FILE__, "", __LINE__, 0, 0}; \
    static struct rdam_region RDAM_JOIN(loop, _rest) = {"loop's rest", __FILE__, "iterations", \
                                                        __LINE__,      1,        0};           \
    struct rdam_loop loop = {&RDAM_JOIN(loop, _region), &RDAM_JOIN(loop, _rest), every, 0, 0}
#define RDAM_STEP(loop) ((void)(rdam_begin_hook ? (rdam_loop_step(&(loop)), 0) : 0))
#define RDAM_LOOP_END(loop) ((void)(rdam_end_hook ? (rdam_loop_end(&(loop)), 0) : 0))

#define RDAM_END(name)                                                              \
    do {                                                                            \
        static struct rdam_region rdam_here = {name, __FILE__, "", __LINE__, 0, 0}; \
        if (rdam_end_hook) rdam_end_hook(&rdam_here);                               \
    } while (0)

#ifdef __cplusplus

namespace rdam {
namespace detail {

template <unsigned n>
struct Count {
    static_assert(n <= 6, "a region has up to six values");
    enum : unsigned { value = n };
};
template <class... Values>
Count<sizeof...(Values)> count(const Values&...);

template <class Value>
rdam_value to_value(Value value) {
    return static_cast<rdam_value>(value);
}
template <class Target>
rdam_value to_value(Target* pointer) {
    return reinterpret_cast<rdam_value>(pointer);
}
inline rdam_value to_value(decltype(nullptr)) {
    return 0;
}

template <class... Values>
void begin(rdam_region& region, Values... values) {
    const rdam_value words[sizeof...(Values) + 1] = {to_value(values)..., 0};
    rdam_begin_hook(&region, words);
}

}  // namespace detail

/// A region that lasts as long as the object, even when an exception is thrown.
class Scope {
  public:
    template <class... Values>
    explicit Scope(rdam_region& region, Values... values)
        : region_(region), open_(rdam_begin_hook != nullptr) {
        if (open_) detail::begin(region, values...);
    }
    ~Scope() {
        if (open_ && rdam_end_hook != nullptr) rdam_end_hook(&region_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    rdam_region& region_;
    const bool open_;
};

}  // namespace rdam

#define RDAM_REGION_(variable, name, ...) \
    static rdam_region variable = {       \
        name, __FILE__, #__VA_ARGS__, __LINE__, decltype(rdam::detail::count(__VA_ARGS__))::value, 0}
#define RDAM_BEGIN(name, ...)                                               \
    do {                                                                    \
        RDAM_REGION_(rdam_here, name, ##__VA_ARGS__);                       \
        if (rdam_begin_hook) rdam::detail::begin(rdam_here, ##__VA_ARGS__); \
    } while (0)
#define RDAM_SCOPE(name, ...)                                             \
    RDAM_REGION_(RDAM_JOIN(rdam_region_, __LINE__), name, ##__VA_ARGS__); \
    const rdam::Scope RDAM_JOIN(rdam_scope_, __LINE__)(RDAM_JOIN(rdam_region_, __LINE__), ##__VA_ARGS__)

#else

/* The first element allows for no values. Pointers must be cast to rdam_value. */
#define RDAM_WORDS_(...) ((rdam_value[]){0, ##__VA_ARGS__})
#define RDAM_COUNT_(...) (sizeof RDAM_WORDS_(__VA_ARGS__) / sizeof(rdam_value) - 1)
#define RDAM_BEGIN(name, ...)                                                                 \
    do {                                                                                      \
        static struct rdam_region rdam_here = {                                               \
            name, __FILE__, #__VA_ARGS__, __LINE__, RDAM_COUNT_(__VA_ARGS__), 0};             \
        typedef char rdam_region_has_up_to_six_values[RDAM_COUNT_(__VA_ARGS__) <= 6 ? 1 : -1] \
            __attribute__((unused));                                                          \
        if (rdam_begin_hook) rdam_begin_hook(&rdam_here, RDAM_WORDS_(__VA_ARGS__) + 1);       \
    } while (0)

#endif

#endif

#endif
