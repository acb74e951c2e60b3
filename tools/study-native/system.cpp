#include "tools/study-native/system.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

namespace rdam::study {

std::string errno_text(int number) {
    return std::strerror(number);  // NOLINT(concurrency-mt-unsafe): there is one thread
}

std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file{path};
    try {
        return {std::istreambuf_iterator<char>{file}, {}};
    } catch (const std::ios_base::failure&) {  // a process of /proc that has ended since it was opened
        return {};
    }
}

void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

std::vector<int> processors_of_this_process() {
    constexpr int kMost = 8192;  // of Linux on x86-64
    std::array<unsigned long, kMost / 64> mask{};
    std::vector<int> found;
    if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask.data()) < 0) return found;
    for (int i = 0; i < kMost; ++i)
        if ((mask.at(static_cast<std::size_t>(i) / 64) >> static_cast<unsigned>(i) % 64U & 1U) != 0)
            found.push_back(i);
    return found;
}

std::optional<std::string> set_processors(const std::vector<int>& processors) {
    if (processors.empty()) return std::nullopt;
    const int most = *std::ranges::max_element(processors);
    const std::size_t size = CPU_ALLOC_SIZE(most + 1);
    cpu_set_t* const set = CPU_ALLOC(most + 1);
    CPU_ZERO_S(size, set);
    for (const int processor : processors)
        CPU_SET_S(processor, size, set);
    const int failed = sched_setaffinity(0, size, set);
    const int reason = errno;
    CPU_FREE(set);
    if (failed == 0) return std::nullopt;
    return "cannot be bound to the processors: " + errno_text(reason);
}

}  // namespace rdam::study
