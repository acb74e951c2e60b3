// starve N PROGRAM…: starts a program for which memory gets short: the kernel's answer to all but the first N
// madvise(MADV_POPULATE_WRITE) of a chunk is "no memory". Exits as the program did; 77: this kernel cannot do
// it.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define POPULATE_WRITE 23
#define CHUNK 65536  // bytes; the counters of calls take a page

static int install_filter(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CHUNK, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, POPULATE_WRITE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void send_descriptor(int socket, int descriptor) {
    char data = 'd';
    struct iovec part = {&data, 1};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket, &message, 0) != 1) _exit(77);
}

static int receive_descriptor(int socket) {
    char data;
    struct iovec part = {&data, 1};
    char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, 0) != 1) return -1;
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    int descriptor = -1;
    if (header != NULL) memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

static void answer(int listener, long* left) {
    // Larger than any kernel's.
    union {
        struct seccomp_notif notice;
        char room[512];
    } asked;
    struct seccomp_notif_resp response;
    memset(&asked, 0, sizeof asked);
    memset(&response, 0, sizeof response);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked.notice) != 0) return;
    response.id = asked.notice.id;
    if ((*left)-- > 0)
        response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    else
        response.error = -ENOMEM;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

int main(int count, char** arguments) {
    int ends[2];
    if (count < 3 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return 77;
    long left = atol(arguments[1]);
    const pid_t pid = fork();
    if (pid == 0) {
        const int listener = install_filter();
        if (listener < 0) _exit(77);
        send_descriptor(ends[1], listener);
        close(listener);
        execvp(arguments[2], arguments + 2);
        _exit(77);
    }
    close(ends[1]);
    const int listener = receive_descriptor(ends[0]);
    int status = 0;
    for (;;) {
        struct pollfd wait = {listener, POLLIN, 0};
        if (listener >= 0 && poll(&wait, 1, 50) > 0 && (wait.revents & POLLIN) != 0) answer(listener, &left);
        if (waitpid(pid, &status, WNOHANG) == pid) break;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
