#include "tools/study-native/frequencies.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <new>

#include "tools/study-native/system.h"

namespace rdam::study {
namespace {

std::string place_of(int processor) {
    return "cpu" + std::to_string(processor) + "/cpufreq/scaling_cur_freq";
}

/// 0: there is none.
std::int64_t number_in(int file) {
    std::array<char, 32> text{};
    return pread(file, text.data(), text.size() - 1, 0) > 0 ? std::strtoll(text.data(), nullptr, 10) : 0;
}

}  // namespace

/// In kHz. The process that writes it is killed at any moment: a sum that lacks its last value or the other
/// way round makes no difference that could be seen.
struct FrequencyLog::Seen {
    std::atomic<std::int64_t> values = 0, sum = 0, least = 0, greatest = 0;

    void add(std::int64_t value) {
        sum += value;
        if (values == 0 || value < least) least = value;
        greatest = std::max<std::int64_t>(greatest, value);
        ++values;
    }
};

FrequencyLog::FrequencyLog(const std::filesystem::path& folder, const std::vector<int>& processors,
                           int processor, int every_ms)
    : processor_(processor), every_ms_(every_ms) {
    for (const int each : processors)
        files_.push_back(folder / place_of(each));
    void* const memory =
        mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    seen_ = new (memory) Seen;
}

FrequencyLog::~FrequencyLog() {
    stop();
    munmap(seen_, sizeof(Seen));
}

std::optional<std::string> FrequencyLog::start() {
    std::array<int, 2> ready{};
    if (pipe2(ready.data(), O_CLOEXEC) != 0)
        return "the log of frequencies has no pipe: " + errno_text(errno);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        end_with(parent);
        const std::string why = read_for_ever(ready[1]);
        static_cast<void>(write(ready[1], why.data(), why.size()));
        _exit(1);
    }
    close(ready[1]);
    std::string said;
    char letter = 0;
    while (pid_ > 0 && read(ready[0], &letter, 1) == 1 && letter != '\0')
        said += letter;
    close(ready[0]);
    if (pid_ < 0) return "the log of frequencies cannot be started: " + errno_text(errno);
    if (said.empty()) return std::nullopt;
    stop();
    return said;
}

/// What is wrong, if it cannot begin.
std::string FrequencyLog::read_for_ever(int ready) {
    if (const auto why = set_processors({processor_})) return "the log of frequencies " + *why;
    std::vector<int> files;
    for (const std::filesystem::path& path : files_) {
        files.push_back(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (files.back() < 0)
            return path.string() + ": cannot be opened: " + errno_text(errno) + "; leave --frequencies out";
        if (number_in(files.back()) <= 0)
            return path.string() + ": has no frequency; leave --frequencies out";
    }
    static_cast<void>(write(ready, "", 1));
    close(ready);
    timespec next{};
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        next.tv_nsec += every_ms_ % 1000 * 1'000'000L;
        next.tv_sec += every_ms_ / 1000 + next.tv_nsec / 1'000'000'000;
        next.tv_nsec %= 1'000'000'000;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr) == EINTR) {
        }
        for (const int file : files)
            if (const std::int64_t khz = number_in(file); khz > 0) seen_->add(khz);
    }
}

void FrequencyLog::stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void FrequencyLog::read_into(nlohmann::json& answer) const {
    for (const char* name : {"frequency_khz", "least_frequency_khz", "greatest_frequency_khz"})
        answer[name] = nullptr;
    if (seen_->values == 0) return;
    answer["frequency_khz"] = static_cast<double>(seen_->sum) / static_cast<double>(seen_->values);
    answer["least_frequency_khz"] = seen_->least.load();
    answer["greatest_frequency_khz"] = seen_->greatest.load();
}

}  // namespace rdam::study
