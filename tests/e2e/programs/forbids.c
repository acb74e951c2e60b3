// Forbids itself every system call but those that it needs, then calls `work` often.
//   forbids CALLS [HOW]: fail, the others fail from then on (if not given); kill, they end the program;
//   strict, the kernel's own list
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3;
}

static const int needed[] = {SYS_write, SYS_exit, SYS_exit_group};

static unsigned short allow(struct sock_filter* rules, unsigned short size, const int* calls, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        rules[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
        rules[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    return size;
}

static int forbid(const char* how) {
    const int refused = !strcmp(how, "fail") ? SECCOMP_RET_ERRNO | 1 : SECCOMP_RET_KILL_PROCESS;
    struct sock_filter rules[32] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog program = {1, rules};
    if (!strcmp(how, "strict")) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    program.len = allow(rules, program.len, needed, sizeof needed / sizeof needed[0]);
    rules[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refused);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** words) {
    const long calls = count > 1 ? atol(words[1]) : 1000;
    const char* how = count > 2 ? words[2] : "fail";
    char text[32];
    long sum = work(0);
    if (forbid(how) != 0) return 77;
    for (long i = 0; i < calls; ++i)
        sum += work(i);
    const int size = snprintf(text, sizeof text, "%ld\n", sum);
    if (write(1, text, (size_t)size) != size) return 1;
    // exit_group is none of strict mode's.
    if (!strcmp(how, "strict")) syscall(SYS_exit, 3);
    _exit(3);
}
