// Uses everything that looks at its caller, returns twice, or switches stacks, and says what came of it.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define KEPT extern "C" [[gnu::noipa]]

static jmp_buf back;
static sigjmp_buf signal_back;
static ucontext_t main_context, other_context;

static const char* object_of(const void* address) {
    Dl_info info;
    if (dladdr(address, &info) == 0) return "nothing";
    const char* slash = std::strrchr(info.dli_fname, '/');
    return slash == nullptr ? info.dli_fname : slash + 1;
}

// Says who calls it.
KEPT int asks_who_calls() {
    Dl_info info;
    const int known = dladdr(__builtin_return_address(0), &info);
    std::printf("called by %s\n", known != 0 && info.dli_sname != nullptr ? info.dli_sname : "nobody");
    return known;
}
KEPT int asks_through_a_frame() {
    char text[64];
    std::snprintf(text, sizeof text, "%s",
                  object_of(__builtin_extract_return_addr(__builtin_return_address(0))));
    std::puts(text);
    return static_cast<int>(std::strlen(text));
}
KEPT int calls_both() {
    const int sum = asks_who_calls() + asks_through_a_frame();
    asm volatile("");
    return sum;
}

KEPT void jumps(int n) {
    if (n % 2 == 0) longjmp(back, n + 1);
    siglongjmp(signal_back, n + 1);
}

static void use_jumps() {
    volatile int sum = 0;
    for (volatile int i = 0; i < 10; i = i + 2) {
        const int value = _setjmp(back);
        sum = sum + value;
        if (value == 0) jumps(i);
    }
    for (volatile int i = 1; i < 10; i = i + 2) {
        const int value = sigsetjmp(signal_back, 1);
        sum = sum + value;
        if (value == 0) jumps(i);
    }
    std::printf("jumps %d\n", sum);
}

static void other_stack(int n) {
    for (int i = 0; i < 5; i++) {
        std::printf("context %d\n", n + i);
        swapcontext(&other_context, &main_context);
    }
}

static void use_contexts() {
    static char stack[65536];
    volatile int rounds = 0;
    getcontext(&main_context);
    rounds = rounds + 1;
    if (rounds < 3) setcontext(&main_context);
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof stack;
    other_context.uc_link = &main_context;
    makecontext(&other_context, reinterpret_cast<void (*)()>(other_stack), 1, 40);
    for (int i = 0; i < 6; i++)
        swapcontext(&main_context, &other_context);
    std::printf("contexts %d\n", rounds);
}

static int cloned(void* data) {
    return *static_cast<int*>(data) + 1;
}

static void use_processes() {
    int status = 0;
    const pid_t child = vfork();
    if (child == 0) _exit(31);
    waitpid(child, &status, 0);
    std::printf("vfork %d\n", WEXITSTATUS(status));
    alignas(16) static char stack[65536];
    int number = 41;
    const pid_t thread = clone(cloned, stack + sizeof stack, SIGCHLD, &number);
    waitpid(thread, &status, 0);
    std::printf("clone %d\n", WEXITSTATUS(status));
}

static _Unwind_Reason_Code note_frame(_Unwind_Context* context, void* data) {
    static bool ours;
    if (*static_cast<int*>(data) == 0) ours = true;
    // What is above main belongs to the C library.
    const void* at = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(_Unwind_GetIP(context)));
    Dl_info info;
    if (ours && dladdr(at, &info) != 0 && info.dli_sname != nullptr) {
        std::printf("frame %s\n", info.dli_sname);
        ours = std::strcmp(info.dli_sname, "main") != 0;
    }
    ++*static_cast<int*>(data);
    return _URC_NO_REASON;
}

KEPT void walks() {
    int frames = 0;
    _Unwind_Backtrace(note_frame, &frames);
    void* addresses[16];
    std::printf("backtrace %d\n", backtrace(addresses, 16) > 2);
}

KEPT int throws(int n) {
    if (n % 3 == 0) throw n;
    return n;
}

static void* ends(void* data) {
    pthread_exit(data);
}

static void use_unwinder() {
    walks();
    int sum = 0;
    for (int i = 0; i < 9; i++) {
        try {
            sum += throws(i);
        } catch (int n) {
            sum += 100 * n;
        }
    }
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, ends, &sum);
    pthread_join(thread, &result);
    std::printf("thrown %d %d\n", sum, result == &sum);
}

static int count_objects(dl_phdr_info*, size_t, void* data) {
    ++*static_cast<int*>(data);
    return 0;
}

static void use_linker() {
    std::printf("next puts in %s\n", object_of(dlsym(RTLD_NEXT, "puts")));
    std::printf("versioned %s\n", object_of(dlvsym(RTLD_DEFAULT, "memcpy", "GLIBC_2.14")));
    // By its bare name: only this program's own run path leads there.
    void* library = dlopen("libplugin.so", RTLD_LAZY);
    std::printf("run path %s\n", library != nullptr ? "found" : dlerror());
    const auto keep = reinterpret_cast<int (*)(int)>(dlsym(library, "plugin_keep"));
    std::printf("thread-local %d %d\n", keep(5), keep(6));
    void* elsewhere = dlmopen(LM_ID_NEWLM, "libplugin.so", RTLD_NOW);
    std::printf("namespace %s\n", elsewhere != nullptr ? "found" : dlerror());
    int objects = 0;
    dl_iterate_phdr(count_objects, &objects);
    std::printf("objects %d\n", objects > 3);
}

int main() {
    std::printf("%d\n", calls_both());
    use_jumps();
    use_contexts();
    std::fflush(stdout);
    use_processes();
    use_unwinder();
    use_linker();
    return 14;
}
