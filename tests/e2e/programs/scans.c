// Where the first instruction of `fails` has failed, looks for its tables as LLVM's unwinder does: in the
// header, and through the descriptions from the one on that the header names, up to their end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

struct found {
    uint64_t flags;
    char* begin;
    char* end;
    void* map;
    const uint8_t* header;
    uint64_t reserved[7];
};

static int (*find)(void* address, struct found* found);
static sigjmp_buf back;
static int ends, searches;
static const int* volatile nothing;
static volatile int sum;

__attribute__((noinline, noclone)) int fails(const int* p) {
    return *p + 1;
}

static int32_t word(const uint8_t* at) {
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void look(int number, siginfo_t* info, void* context) {
    struct found found;
    ++searches;
    if (find((void*)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP], &found) == 0) {
        const uint8_t* at = found.header + 4 + word(found.header + 4);
        while ((char*)at >= found.begin && (char*)at < found.end && word(at) != 0)
            at += 4 + (int64_t)(uint32_t)word(at);
        ends += (char*)at >= found.begin && (char*)at < found.end;
    }
    siglongjmp(back, 1);
    (void)number, (void)info;
}

int main(void) {
    struct sigaction action;
    find = (int (*)(void*, struct found*))dlsym(RTLD_DEFAULT, "_dl_find_object");
    if (find == NULL) return 77;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = look;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
    for (volatile int i = 0; i < 10; ++i)
        if (sigsetjmp(back, 1) == 0) sum += fails(nothing);
    printf("%d of %d end\n", ends, searches);
    return 0;
}
