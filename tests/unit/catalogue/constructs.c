/* Every construct that clang turns into calls of its OpenMP runtime; compiled, never run. */
#include <omp.h>
void use(int, long);
int total;
long ltotal;
void f(int n, omp_lock_t* lock) {
    int sum = 0;
    long last = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum) firstprivate(last)
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; i++)
            use(i, 0);
#pragma omp for schedule(static, 2)
        for (long i = 0; i < n; i++)
            use(0, i);
#pragma omp for schedule(static)
        for (unsigned i = 0; i < n; i++)
            use(i, 0);
#pragma omp for schedule(static)
        for (unsigned long i = 0; i < n; i++)
            use(0, i);
#pragma omp for schedule(dynamic) reduction(+ : total)
        for (int i = 0; i < n; i++)
            use(i, 0);
#pragma omp for schedule(guided) ordered
        for (long i = 0; i < n; i++) {
#pragma omp ordered
            use(0, i);
        }
#pragma omp for ordered(1)
        for (int i = 1; i < n; i++) {
#pragma omp ordered depend(sink : i - 1)
            use(i, 0);
#pragma omp ordered depend(source)
        }
#pragma omp barrier
#pragma omp critical
        use(1, 1);
#pragma omp critical(named) hint(omp_sync_hint_contended)
        use(1, 1);
#pragma omp master
        use(2, 2);
#pragma omp single copyprivate(last)
        last = 3;
#pragma omp single
        {
#pragma omp taskgroup
            {
#pragma omp task depend(out : sum)
                use(1, 0);
#pragma omp task
                use(2, 0);
#pragma omp task depend(in : sum) if (0)
                use(3, 0);
#pragma omp taskyield
            }
#pragma omp taskwait
        }
#pragma omp for reduction(+ : ltotal)
        for (int i = 0; i < n; i++) {
#pragma omp cancel for if (i == 5)
            ltotal += i;
        }
    }
#pragma omp parallel if (n > 3)
    use(1, 1);
    omp_set_lock(lock);
}
