// Calls `work`, makes the folder DIR its root and forks; both processes call `work` then.
//   chroots DIR
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) long work(long i) {
    __asm__ volatile("" : "+r"(i));
    return i * 3;
}

int main(int count, char** words) {
    long sum = work(1);
    if (count < 2) return 2;
    if (chroot(words[1]) != 0 || chdir("/") != 0) return 77;
    const pid_t child = fork();
    sum += work(2);
    if (child == 0) _exit(sum == 9 ? 4 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
