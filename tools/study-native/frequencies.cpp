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

Prefetcher::Prefetcher(const std::filesystem::path& devices, const std::vector<int>& processors,
                       std::int64_t register_number, std::uint64_t mask)
    : number_(register_number), mask_(mask) {
    for (const int processor : processors)
        registers_.push_back({.path = devices / std::to_string(processor) / "msr"});
}

Prefetcher::~Prefetcher() {
    static_cast<void>(restore());
    for (const Register& each : registers_)
        if (each.file >= 0) close(each.file);
}

std::optional<std::uint64_t> Prefetcher::read_from(const Register& from) const {
    std::uint64_t value = 0;
    if (pread(from.file, &value, sizeof value, number_) != ssize_t{sizeof value}) return std::nullopt;
    return value;
}

bool Prefetcher::write_to(const Register& to, std::uint64_t value) const {
    return pwrite(to.file, &value, sizeof value, number_) == ssize_t{sizeof value};
}

std::optional<std::string> Prefetcher::set(bool is_on) {
    const auto problem = [](const Register& at, const std::string& what) {
        return at.path.string() + ": " + what + "; leave --prefetcher out";
    };
    // All before the first is written: both hardware threads of a core have the same register.
    for (Register& each : registers_) {
        each.file = open(each.path.c_str(), O_RDWR | O_CLOEXEC);
        if (each.file < 0) return problem(each, "cannot be opened: " + errno_text(errno));
        const auto value = read_from(each);
        if (!value)
            return problem(each, "the register of the prefetchers cannot be read: " + errno_text(errno));
        each.former = *value;
    }
    is_changed_ = true;
    for (const Register& each : registers_) {
        const std::uint64_t wanted = is_on ? each.former & ~mask_ : each.former | mask_;
        if (!write_to(each, wanted))
            return problem(each, "the register of the prefetchers cannot be written: " + errno_text(errno));
        if (read_from(each) != wanted)
            return problem(each, "the prefetchers stay as they were, whatever is written to their register");
    }
    return std::nullopt;
}

std::optional<std::string> Prefetcher::restore() {
    std::optional<std::string> why;
    for (const Register& each : registers_)
        if (is_changed_ && !write_to(each, each.former))
            why = each.path.string() + ": the prefetchers cannot be restored: " + errno_text(errno);
    is_changed_ = false;
    return why;
}

}  // namespace rdam::study
