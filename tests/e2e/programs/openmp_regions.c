// Parallel regions whose number, and the threads' moves between them, are known. Prints what it expects of
// those that count (which are in no other one):
//
//   openmp_regions moves ROUNDS MOVED MOVERS   so many regions; behind each of the first MOVED ones the last
//                                              MOVERS threads go to the other one of two processors
//   openmp_regions kinds                       one of each way in which a region can begin
//   openmp_regions one                         one region, whose threads end with the process. Those of a pool that
//                                              ends earlier leave by pthread_exit(), and in a static program its
//                                              unwinder aborts where main() has just returned
//   openmp_regions teams                       two regions in each team of a league
//   openmp_regions forks                       one on each of two processors, and between them one in each of
//                                              three children, which have not moved
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int processors[2];
static _Thread_local int at;

static void go_to(int number) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processors[number], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) exit(3);
    at = number;
}

static void find_processors(void) {
    cpu_set_t set;
    int found = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &set)) processors[found++] = i;
    if (found < 2) exit(4);
}

static void move(int rounds, int moved, int movers) {
    find_processors();
    go_to(0);  // the threads that are started in the first region, too
    omp_set_dynamic(0);
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2)
        if (i < moved && omp_get_thread_num() >= omp_get_num_threads() - movers) go_to(!at);
    }
    printf("%d %d %d\n", rounds, moved, moved * movers);
}

enum { kIterations = 1000 };
static long sum;

static void add(long value) {
    __atomic_fetch_add(&sum, value, __ATOMIC_RELAXED);
}

static void* begin_one(void* unused) {
#pragma omp parallel num_threads(2)
    add(1);
    return unused;
}

static void kinds(void) {
    long reduced = 0, by_tasks = 0;
    omp_set_dynamic(0);
    omp_set_num_threads(2);
    omp_set_max_active_levels(2);
#pragma omp parallel
    add(1);
#pragma omp parallel for
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(static, 3)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(dynamic, 3)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(monotonic : dynamic, 3)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(monotonic : guided)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(monotonic : runtime)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for schedule(nonmonotonic : runtime)
    for (int i = 0; i < kIterations; i++)
        add(1);
#pragma omp parallel for ordered
    for (int i = 0; i < kIterations; i++) {
#pragma omp ordered
        add(1);
    }
#pragma omp parallel sections
    {
        add(1);
#pragma omp section
        add(1);
#pragma omp section
        add(1);
    }
#pragma omp parallel reduction(+ : reduced)
    reduced += 2;
#pragma omp parallel reduction(task, + : by_tasks)
    {
#pragma omp task in_reduction(+ : by_tasks)
        by_tasks += 2;
    }
#pragma omp parallel if (0)
    add(1);
    // Those inside others do not count.
#pragma omp parallel
    {
#pragma omp parallel
        add(1);
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < kIterations; i++)
            add(1);
    }
    // Nor if a task begins them, which a thread may run at the region's end.
#pragma omp parallel
    {
#pragma omp task
        {
#pragma omp parallel
            add(1);
        }
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, begin_one, NULL) != 0) exit(5);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (sum != 12 * kIterations + 18 || reduced != 4 || by_tasks != 4) {
        fprintf(stderr, "%ld %ld %ld\n", sum, reduced, by_tasks);
        exit(6);
    }
    printf("19\n");
}

static void begin_in_teams(void) {
#pragma omp teams num_teams(2)
    {
        begin_one(NULL);
        begin_one(NULL);
    }
    printf("4\n");
}

static void fork_children(void) {
    find_processors();
    go_to(0);
#pragma omp parallel num_threads(1)
    add(1);
    go_to(1);
    for (int i = 0; i < 3; i++) {
        const pid_t child = fork();
        if (child < 0) exit(7);
        if (child == 0) {
            begin_one(NULL);
            _exit(0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) exit(8);
    }
    begin_one(NULL);
    printf("5 1 1\n");
}

int main(int count, char** arguments) {
    const char* what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "moves") == 0 && count == 5)
        move(atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]));
    else if (strcmp(what, "kinds") == 0)
        kinds();
    else if (strcmp(what, "one") == 0)
        begin_one(NULL);
    else if (strcmp(what, "teams") == 0)
        begin_in_teams();
    else if (strcmp(what, "forks") == 0)
        fork_children();
    else
        return 2;
    return 0;
}
