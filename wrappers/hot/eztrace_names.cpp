#include "wrappers/hot/eztrace_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace rdam {
namespace {

// The names of EZTrace 2.0 as in Debian 12, sorted.

constexpr std::string_view kPthread[] = {
    "pthread_barrier_wait",
    "pthread_cond_broadcast",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "sem_post",
    "sem_wait",
};

constexpr std::string_view kPosixio[] = {
    "close",    "creat",   "dup",    "dup2",   "dup3",  "fclose", "fdopen", "fopen",
    "fread",    "freopen", "fseek",  "fwrite", "lseek", "open",   "open64", "openat",
    "openat64", "pread",   "pwrite", "read",   "readv", "write",  "writev",
};

constexpr std::string_view kMemory[] = {
    "calloc",
    "free",
    "malloc",
    "realloc",
};

constexpr std::string_view kMpi[] = {
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Bsend",
    "MPI_Bsend_init",
    "MPI_Cancel",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Comm_create",
    "MPI_Comm_create_group",
    "MPI_Comm_disconnect",
    "MPI_Comm_dup",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_free",
    "MPI_Comm_get_parent",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Comm_spawn",
    "MPI_Comm_split",
    "MPI_Comm_split_type",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Finalize",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Get",
    "MPI_Graph_create",
    "MPI_Iallgather",
    "MPI_Iallgatherv",
    "MPI_Iallreduce",
    "MPI_Ialltoall",
    "MPI_Ialltoallv",
    "MPI_Ibarrier",
    "MPI_Ibcast",
    "MPI_Ibsend",
    "MPI_Igather",
    "MPI_Igatherv",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Intercomm_create",
    "MPI_Intercomm_merge",
    "MPI_Iprobe",
    "MPI_Irecv",
    "MPI_Ireduce",
    "MPI_Ireduce_scatter",
    "MPI_Irsend",
    "MPI_Iscan",
    "MPI_Iscatter",
    "MPI_Iscatterv",
    "MPI_Isend",
    "MPI_Issend",
    "MPI_Probe",
    "MPI_Put",
    "MPI_Recv",
    "MPI_Recv_init",
    "MPI_Reduce",
    "MPI_Reduce_scatter",
    "MPI_Rsend",
    "MPI_Rsend_init",
    "MPI_Scan",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Send",
    "MPI_Send_init",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Ssend",
    "MPI_Ssend_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Type_size",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
};

constexpr std::string_view kOpenmp[] = {
    "GOMP_critical_end",
    "GOMP_critical_start",
    "GOMP_parallel",
    "GOMP_parallel_end",
    "GOMP_parallel_loop_dynamic",
    "GOMP_parallel_loop_dynamic_start",
    "GOMP_parallel_loop_guided",
    "GOMP_parallel_loop_guided_start",
    "GOMP_parallel_loop_runtime",
    "GOMP_parallel_loop_runtime_start",
    "GOMP_parallel_loop_static",
    "GOMP_parallel_loop_static_start",
    "GOMP_parallel_start",
};

constexpr std::string_view kUsed[] = {
    "MPI_Wtime",
    "abort",
    "alphasort",
    "backtrace",
    "backtrace_symbols",
    "basename",
    "calloc",
    "clock_gettime",
    "close",
    "dlclose",
    "dlerror",
    "dlopen",
    "dlsym",
    "dprintf",
    "dup",
    "execlp",
    "exit",
    "fclose",
    "feof",
    "ferror",
    "fflush",
    "fgets",
    "fopen",
    "fork",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "free",
    "fseek",
    "fwrite",
    "getcwd",
    "getenv",
    "gethostid",
    "gethostname",
    "getpid",
    "gettimeofday",
    "kill",
    "malloc",
    "memchr",
    "memcpy",
    "memmove",
    "memset",
    "mkdir",
    "open",
    "perror",
    "printf",
    "pthread_getspecific",
    "pthread_key_create",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutexattr_destroy",
    "pthread_self",
    "pthread_setspecific",
    "putchar",
    "qsort",
    "read",
    "realloc",
    "sbrk",
    "scandir",
    "sched_yield",
    "setenv",
    "signal",
    "snprintf",
    "sprintf",
    "sscanf",
    "stat",
    "strchr",
    "strcmp",
    "strcpy",
    "strcspn",
    "strerror",
    "strlen",
    "strncmp",
    "strncpy",
    "strspn",
    "strstr",
    "strtok",
    "strtok_r",
    "strtol",
    "syscall",
    "sysinfo",
    "timer_create",
    "timer_settime",
    "unsetenv",
    "vsnprintf",
    "waitpid",
    "write",
};

template <std::size_t Count>
bool is_among(const std::string_view (&names)[Count], std::string_view name) {
    return std::binary_search(std::begin(names), std::end(names), name);
}

/// `MPI_Send` of Fortran's `mpi_send_`.
std::string name_in_c(std::string_view name) {
    if (name.substr(0, 4) != "mpi_" || name.size() < 6 || name.back() != '_') return std::string{name};
    std::string result = "MPI_";
    result += static_cast<char>(std::toupper(static_cast<unsigned char>(name[4])));
    result += name.substr(5, name.find_last_not_of('_') - 4);
    return result;
}

}  // namespace

std::string_view eztrace_module_of(std::string_view name) {
    if (is_among(kPthread, name)) return "pthread";
    if (is_among(kPosixio, name)) return "posixio";
    if (is_among(kMemory, name)) return "memory";
    if (is_among(kMpi, name_in_c(name))) return "openmpi";
    if (is_among(kOpenmp, name)) return "openmp";
    return {};
}

bool is_used_by_eztrace(std::string_view name) {
    return is_among(kUsed, name);
}

}  // namespace rdam
