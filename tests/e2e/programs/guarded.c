// Starts a program (argv[1…]) that may not make memory executable that was writable.
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int main(int count, char** arguments) {
    (void)count;
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) {
        perror("PR_SET_MDWE");
        return 77;
    }
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 1;
}
