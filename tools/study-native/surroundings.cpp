#include "tools/study-native/surroundings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/study-native/system.h"

namespace rdam::study {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path path_in(const Json& wanted, const char* key) {
    return bytes_of(wanted.at(key).get<std::string>());
}

/// 0: there is none.
std::int64_t number_in(int file) {
    std::array<char, 32> text{};
    return pread(file, text.data(), text.size() - 1, 0) > 0 ? std::strtoll(text.data(), nullptr, 10) : 0;
}

/// The frequencies of a run's processors, read while it goes on from a processor that it leaves alone, as Cui,
/// Papadopoulou and Pericàs do it (SC-W 2023, section 3): `frequency_khz` of the answer, the mean over time and
/// processors, `least_frequency_khz` and `greatest_frequency_khz`; null if the run was too short to be looked
/// at.
class FrequencyLog : public Surrounding {
  public:
    /// Every `every_ms` milliseconds from `processor`; `folder` has a folder for each processor, as
    /// /sys/devices/system/cpu.
    FrequencyLog(const Json& wanted, const std::vector<int>& processors)
        : processor_(wanted.at("processor")), every_ms_(wanted.at("every_ms")) {
        for (const int each : processors)
            files_.push_back(path_in(wanted, "folder") /
                             ("cpu" + std::to_string(each) + "/cpufreq/scaling_cur_freq"));
        void* const memory =
            mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc{};
        seen_ = new (memory) Seen;
    }

    void restore() override {
        stop();
        munmap(seen_, sizeof(Seen));
    }

    /// Starts the process that reads.
    void prepare() override {
        const Child child = start_child("the log of frequencies cannot be started",
                                        [this](int ready) { read_for_ever(ready); });
        pid_ = child.pid;
        if (const std::string said = said_by(child.pipe); !said.empty()) throw Failure{said};
    }

    void end(Json& answer) override {
        stop();
        const bool is_known = seen_->values > 0;
        const auto told = [&](auto khz) { return is_known ? Json(khz) : Json(nullptr); };
        answer["frequency_khz"] = told(static_cast<double>(seen_->sum) / static_cast<double>(seen_->values));
        answer["least_frequency_khz"] = told(seen_->least.load());
        answer["greatest_frequency_khz"] = told(seen_->greatest.load());
    }

  private:
    /// In kHz. The process that writes it is killed at any moment: a sum that lacks its last value or the
    /// other way round makes no difference that could be seen.
    struct Seen {
        std::atomic<std::int64_t> values = 0, sum = 0, least = 0, greatest = 0;

        void add(std::int64_t value) {
            sum += value;
            if (values == 0 || value < least) least = value;
            greatest = std::max<std::int64_t>(greatest, value);
            ++values;
        }
    };

    [[noreturn]] void read_for_ever(int ready) {
        set_processors({processor_}, "the log of frequencies ");
        std::vector<int> files;
        for (const fs::path& path : files_) {
            files.push_back(open(path.c_str(), O_RDONLY | O_CLOEXEC));
            if (files.back() < 0)
                fail_by_errno(path.string() + ": cannot be opened", "; leave --frequencies out");
            if (number_in(files.back()) <= 0)
                throw Failure{path.string() + ": has no frequency; leave --frequencies out"};
        }
        tell_ready(ready);
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

    void stop() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

    std::vector<fs::path> files_;
    int processor_, every_ms_;
    Seen* seen_;  // in memory that the process shares
    pid_t pid_ = -1;
};

/// The hardware prefetchers of a run's processors, on or off by a model-specific register.
class Prefetcher : public Surrounding {
  public:
    /// `devices` has a folder for each processor with its registers in `msr`, as /dev/cpu. The bits of `mask`
    /// are set in it where prefetchers are off.
    Prefetcher(const Json& wanted, const std::vector<int>& processors)
        : number_(wanted.at("register")), mask_(wanted.at("mask")), is_on_(wanted.at("on")) {
        for (const int processor : processors)
            registers_.push_back({.path = path_in(wanted, "devices") / std::to_string(processor) / "msr"});
    }

    void restore() override {
        static_cast<void>(put_back());
        for (const Register& each : registers_)
            if (each.file >= 0) close(each.file);
    }

    /// It fails also where what was written is not there afterwards, as on a virtual machine whose host
    /// ignores it.
    void prepare() override {
        const std::string remedy = "; leave --prefetcher out";
        // All before the first is written: both hardware threads of a core have the same register.
        for (Register& each : registers_) {
            each.file = open(each.path.c_str(), O_RDWR | O_CLOEXEC);
            if (each.file < 0) fail_by_errno(each.path.string() + ": cannot be opened", remedy);
            if (!read_from(each, each.former))
                fail_by_errno(each.path.string() + ": the register of the prefetchers cannot be read",
                              remedy);
        }
        is_changed_ = true;
        for (const Register& each : registers_) {
            const std::uint64_t wanted = is_on_ ? each.former & ~mask_ : each.former | mask_;
            std::uint64_t found = 0;
            if (!write_to(each, wanted))
                fail_by_errno(each.path.string() + ": the register of the prefetchers cannot be written",
                              remedy);
            if (!read_from(each, found) || found != wanted)
                throw Failure{each.path.string() +
                              ": the prefetchers stay as they were, whatever is written to their register" +
                              remedy};
        }
    }

    void leave(Json& /*answer*/, pid_t /*program*/) override {
        if (const Register* const lost = put_back())
            fail_by_errno(lost->path.string() + ": the prefetchers cannot be set as they were");
    }

  private:
    struct Register {
        fs::path path;
        int file = -1;
        std::uint64_t former = 0;
    };

    bool read_from(const Register& from, std::uint64_t& value) const {
        return pread(from.file, &value, sizeof value, number_) == ssize_t{sizeof value};
    }

    bool write_to(const Register& to, std::uint64_t value) const {
        return pwrite(to.file, &value, sizeof value, number_) == ssize_t{sizeof value};
    }

    /// One of which that is not possible.
    const Register* put_back() {
        const Register* lost = nullptr;
        for (const Register& each : registers_)
            if (is_changed_ && !write_to(each, each.former)) lost = &each;
        is_changed_ = false;
        return lost;
    }

    std::vector<Register> registers_;
    std::int64_t number_;
    std::uint64_t mask_;
    bool is_on_;
    bool is_changed_ = false;
};

constexpr std::string_view kWorkload = "OSNOISE_WORKLOAD";
constexpr std::array kSources{"nmi", "irq", "softirq", "thread"};
/// An interrupt, and softirqs, by the names that the kernel gives them.
constexpr std::array<std::string_view, 5> kClocks{"local_timer", "TIMER", "HRTIMER", "SCHED", "RCU"};

/// No file is made: what is not there, the kernel does not have. What is wrong is in errno.
bool put(const fs::path& path, std::string_view text) {
    const int file = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    const bool is_written = file >= 0 && write(file, text.data(), text.size()) == std::ssize(text);
    const int reason = errno;
    if (file >= 0) close(file);
    errno = reason;
    return is_written;
}

void need(const fs::path& path, std::string_view text) {
    if (!put(path, text))
        fail_by_errno(path.string() + ": cannot be written",
                      "; the kernel's osnoise tracer cannot be used here: leave --osnoise out");
}

/// The number behind the last `name` of the text; -1: there is none.
std::int64_t number_behind(std::string_view text, std::string_view name) {
    std::int64_t number = -1;
    if (const std::size_t at = text.rfind(name); at != std::string_view::npos)
        std::from_chars(text.data() + at + name.size(), text.data() + text.size(), number);
    return number;
}

/// A line of the trace: "     rcu_preempt-16    [001] d..2.   81.637220: thread_noise:  rcu_preempt:16
/// start 81.637 duration 1845 ns". What stands before the event may be any text: it is the name of a thread.
struct Event {
    int processor;
    std::string_view text;  // behind the event's name
};

std::optional<Event> event_in(std::string_view line, const std::string& name) {
    const std::string mark = ": " + name + ": ";
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    return Event{.processor = static_cast<int>(number_behind(line.substr(0, at), "[")),
                 .text = line.substr(at + mark.size())};
}

/// What the kernel's osnoise tracer says of a run: how long NMIs, interrupts, softirqs and other threads had
/// its processors (Documentation/trace/osnoise-tracer.rst in Linux). It goes without the tracer's own threads,
/// which would take a processor each to look for noise (NO_OSNOISE_WORKLOAD): what disturbs the program is
/// measured, not what would disturb those. It has an instance of the tracing system to itself.
class Noise : public Surrounding {
  public:
    /// `tracefs`: the tracing system, as in /sys/kernel/tracing; `instance`: a name that no one else uses.
    Noise(const Json& wanted, std::vector<int> processors)
        : options_(path_in(wanted, "tracefs") / "osnoise/options"),
          instance_(path_in(wanted, "tracefs") / "instances" / wanted.at("instance").get<std::string>()),
          processors_(std::move(processors)) {}

    void restore() override {
        if (!is_prepared_) return;
        put(instance_ / "tracing_on", "0");
        put(instance_ / "current_tracer", "nop");
        if (had_workload_) put(options_, kWorkload);
        std::error_code ignored;
        fs::remove(instance_, ignored);
    }

    void prepare() override {
        had_workload_ = content_of(options_).find("NO_" + std::string{kWorkload}) == std::string::npos;
        if (mkdir(instance_.c_str(), 0700) != 0 && errno != EEXIST)
            fail_by_errno(instance_.string() + ": cannot be made", "; leave --osnoise out");
        is_prepared_ = true;
        need(options_, "NO_OSNOISE_WORKLOAD");
        need(instance_ / "tracing_on", "0");
        need(instance_ / "trace", "");  // of one whose study was killed
        need(instance_ / "events/sched/sched_process_fork/enable", "1");
        for (const std::string source : kSources)
            need(instance_ / "events/osnoise" / (source + "_noise") / "enable", "1");
        need(instance_ / "current_tracer", "osnoise");
    }

    void begin() override { need(instance_ / "tracing_on", "1"); }

    void end(Json& /*answer*/) override { put(instance_ / "tracing_on", "0"); }

    /// `osnoise` of the answer: ns by source, on these processors (in ascending order), while it was started.
    /// The kernel's clocks, which tick while a processor is busy, are reported as `timer`. `program` and
    /// all that it has started since are no noise. Null if the kernel had to drop events, so that nobody
    /// knows.
    void leave(Json& answer, pid_t program) override {
        answer["osnoise"] = nullptr;
        if (has_dropped()) return;
        std::map<std::string, std::int64_t> sums{{"timer", 0}};
        for (const char* source : kSources)
            sums[source] = 0;
        std::set<std::int64_t> own{0, program};  // 0: the idle thread
        std::istringstream lines{content_of(instance_ / "trace")};
        for (std::string line; std::getline(lines, line);) {
            // The trace is in the order of time, and a thread is started before it runs.
            if (const auto fork = event_in(line, "sched_process_fork")) {
                const std::size_t child = fork->text.rfind(" child_comm=");
                if (child != std::string_view::npos &&
                    own.contains(number_behind(fork->text.substr(0, child), " pid=")))
                    own.insert(number_behind(fork->text.substr(child), " child_pid="));
                continue;
            }
            for (const std::string source : kSources) {
                const auto event = event_in(line, source + "_noise");
                if (!event || !std::ranges::binary_search(processors_, event->processor)) continue;
                const std::string_view who = event->text.substr(0, event->text.rfind(" start "));
                if (source == "thread" && own.contains(number_behind(who, ":"))) continue;
                const std::size_t begin = std::min(who.find_first_not_of(' '), who.size());
                const bool is_clock =
                    source != "thread" &&
                    std::ranges::find(kClocks, who.substr(begin, who.rfind(':') - begin)) != kClocks.end();
                sums[is_clock ? "timer" : source] +=
                    std::max<std::int64_t>(number_behind(event->text, " duration "), 0);
            }
        }
        answer["osnoise"] = sums;
    }

  private:
    bool has_dropped() const {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator{instance_ / "per_cpu", error})
            for (const char* kind : {"overrun: ", "dropped events: "})
                if (number_behind(content_of(entry.path() / "stats"), kind) != 0) return true;
        return bool{error};
    }

    fs::path options_, instance_;
    std::vector<int> processors_;
    bool is_prepared_ = false;
    bool had_workload_ = false;
};

using Counts = std::map<std::string, std::int64_t>;

/// Of a line behind its counts: the chip, the kind of line and the name that the driver has given, as in
/// "PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0". The kernel's own sources have a description there.
std::string name_of(const std::string& label, std::istringstream& rest) {
    if (label.find_first_not_of("0123456789") != std::string::npos) return label;
    std::string chip, line, name, word;
    rest >> chip >> line;
    while (rest >> word)
        name += (name.empty() ? "" : " ") + word;
    return name.empty() ? "irq " + label : name;
}

/// How often the kernel has interrupted a set of processors, as `interrupts` and `softirqs` of the answer: null
/// where nothing can be read. Interrupts are told by the kernel's own short names (LOC, RES, TLB, ...), and by
/// those of the devices, as in virtio1-req.0.
class Interruptions : public Surrounding {
  public:
    explicit Interruptions(std::vector<int> processors) : processors_(std::move(processors)) {}

    void begin() override { before_ = now(); }

    void end(Json& answer) override {
        for (const auto& [file, after] : now()) {
            Json& found = answer[file] = after.empty() ? Json(nullptr) : Json::object();
            for (const auto& [name, count] : after)
                if (const std::int64_t more = count - before_[file][name]; more > 0) found[name] = more;
        }
    }

  private:
    /// Since the machine was started, by file. Empty where the kernel has no such file.
    std::map<std::string, Counts> now() const {
        return {{"interrupts", counts_in("/proc/interrupts")}, {"softirqs", counts_in("/proc/softirqs")}};
    }

    /// A head with a word for each processor, then a line for each source.
    Counts counts_in(const char* path) const {
        std::istringstream lines{content_of(path)};
        std::string line, word;
        std::getline(lines, line);
        std::istringstream head{line};
        std::vector<bool> is_counted;
        while (head >> word) {
            int processor = 0;
            is_counted.push_back(std::sscanf(word.c_str(), "CPU%d", &processor) == 1 &&
                                 std::ranges::binary_search(processors_, processor));
        }
        Counts counts;
        while (std::getline(lines, line)) {
            const std::size_t colon = line.find(':');
            if (colon == std::string::npos) continue;
            const std::size_t begin = line.find_first_not_of(' ');
            std::istringstream rest{line.substr(colon + 1)};
            std::int64_t sum = 0, count = 0;
            std::size_t column = 0;
            for (; column < is_counted.size() && rest >> count; ++column)
                if (is_counted[column]) sum += count;
            // Errors (ERR, MIS) are counted for the whole machine.
            if (column == is_counted.size()) counts[name_of(line.substr(begin, colon - begin), rest)] += sum;
        }
        return counts;
    }

    std::vector<int> processors_;
    std::map<std::string, Counts> before_;
};

}  // namespace

Surroundings surroundings_of(const Json& request) {
    std::vector<int> processors = request.value("processors", std::vector<int>{});
    if (processors.empty()) processors = processors_of_this_process();
    std::ranges::sort(processors);
    Surroundings found;
    if (request.contains("osnoise")) found.emplace_back(new Noise{request["osnoise"], processors});
    if (request.contains("prefetcher")) found.emplace_back(new Prefetcher{request["prefetcher"], processors});
    found.emplace_back(new Interruptions{processors});
    if (request.contains("frequencies"))
        found.emplace_back(new FrequencyLog{request["frequencies"], processors});
    return found;
}

}  // namespace rdam::study
