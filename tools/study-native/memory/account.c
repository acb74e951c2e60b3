#include "tools/study-native/memory/account.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct memory_account own;
static struct memory_account* account = &own;

void open_memory_account(const char* path) {
    struct stat facts;
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (file < 0) return;
    void* found = MAP_FAILED;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= (off_t)sizeof *account)
        found = mmap(NULL, sizeof *account, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (found == MAP_FAILED) return;
    if (memcmp(found, "memory1", sizeof account->magic) == 0)
        account = found;
    else
        munmap(found, sizeof *account);
}

void note_process(unsigned nodes) {
    atomic_fetch_add(&account->processes, 1);
    uint64_t before = atomic_load(&account->nodes);
    while (before < nodes && !atomic_compare_exchange_weak(&account->nodes, &before, nodes)) {
    }
}

void note_reason(const char* what, const char* why) {
    uint64_t nobody = 0;
    if (!atomic_compare_exchange_strong(&account->has_reason, &nobody, 1)) return;
    const size_t room = sizeof account->reason;
    snprintf(account->reason, room, "%s: %s", what, why);
    for (char* at = account->reason; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = '?';
    if (account != &own) return;
    char line[320];
    const int size = snprintf(line, sizeof line, "librdam-memory: left alone: %s\n", account->reason);
    if (write(STDERR_FILENO, line, (size_t)size) < 0) return;
}

void note_area(unsigned rule, const char* name, uint64_t bytes, const char* why,
               const struct PlacedPages* placed, uint64_t nanoseconds) {
    atomic_fetch_add(&account->fitting[rule], 1);
    atomic_fetch_add(&account->nanoseconds, nanoseconds);
    atomic_fetch_add(&account->pages, placed->pages);
    atomic_fetch_add(&account->elsewhere, placed->elsewhere);
    atomic_fetch_add(why == NULL ? &account->areas : &account->left_alone, 1);
    if (why == NULL) return;
    char what[160];
    snprintf(what, sizeof what, "%s (%llu KiB)", *name != '\0' ? name : "an allocation",
             (unsigned long long)bytes >> 10);
    note_reason(what, why);
}
