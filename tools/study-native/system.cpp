#include "tools/study-native/system.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>

namespace rdam::study {

namespace {

constexpr std::size_t kMaxProcessors = 8192, kWordBits = 64;  // the former of Linux on x86-64
using Mask = std::array<unsigned long, kMaxProcessors / kWordBits>;

}  // namespace

void fail_by_errno(const std::string& what, const std::string& remedy) {
    throw Failure{what + ": " + std::strerror(errno) + remedy};  // NOLINT(concurrency-mt-unsafe): one thread
}

std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string bytes_of(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool is_lead = byte >= 0xc2 && byte <= 0xc3 && i + 1 < text.size();
        bytes += is_lead
                     ? static_cast<char>((byte & 3U) << 6U | (static_cast<unsigned char>(text[++i]) & 0x3fU))
                     : text[i];
    }
    return bytes;
}

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file{path};
    try {
        return {std::istreambuf_iterator<char>{file}, {}};
    } catch (const std::ios_base::failure&) {  // a process of /proc that has ended since it was opened
        return {};
    }
}

Child start_child(const std::string& problem, const std::function<void(int)>& work) {
    std::array<int, 2> told{};
    if (pipe2(told.data(), O_CLOEXEC) != 0) fail_by_errno(problem);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) fail_by_errno(problem);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        try {
            work(told[1]);
        } catch (const std::exception& error) {
            static_cast<void>(write(told[1], error.what(), std::strlen(error.what())));
        }
        _exit(1);
    }
    close(told[1]);
    return {.pid = pid, .pipe = told[0]};
}

std::string said_by(int pipe) {
    std::string said;
    for (char letter = 0; read(pipe, &letter, 1) == 1 && letter != '\0';)
        said += letter;
    close(pipe);
    return said;
}

void tell_ready(int pipe) {
    static_cast<void>(write(pipe, "", 1));
    close(pipe);
}

std::vector<int> processors_of_this_process() {
    Mask mask{};
    std::vector<int> found;
    if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask.data()) < 0) return found;
    for (std::size_t i = 0; i < kMaxProcessors; ++i)
        if ((mask.at(i / kWordBits) >> i % kWordBits & 1U) != 0) found.push_back(static_cast<int>(i));
    return found;
}

void set_processors(const std::vector<int>& processors, const std::string& who) {
    Mask mask{};
    for (const int processor : processors)
        mask.at(static_cast<std::size_t>(processor) / kWordBits) |= 1UL << processor % kWordBits;
    if (!processors.empty() && syscall(SYS_sched_setaffinity, 0, sizeof mask, mask.data()) < 0)
        fail_by_errno(who + "cannot be bound to the processors");
}

}  // namespace rdam::study
