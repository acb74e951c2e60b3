#include "tools/study-native/noise.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/study-native/system.h"

namespace rdam::study {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorkload = "OSNOISE_WORKLOAD";
constexpr std::array kSources{"nmi", "irq", "softirq", "thread"};
/// An interrupt, and softirqs, by the names that the kernel gives them.
constexpr std::array<std::string_view, 5> kClocks{"local_timer", "TIMER", "HRTIMER", "SCHED", "RCU"};
constexpr const char* kForks = "events/sched/sched_process_fork/enable";

/// No file is made: what is not there, the kernel does not have.
std::optional<std::string> put(const fs::path& path, std::string_view text) {
    const int file = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    const bool is_written = file >= 0 && write(file, text.data(), text.size()) == std::ssize(text);
    const int reason = errno;
    if (file >= 0) close(file);
    if (is_written) return std::nullopt;
    return path.string() + ": cannot be written: " + errno_text(reason) +
           "; the kernel's osnoise tracer cannot be used here: leave --osnoise out";
}

bool has_word(const std::string& text, std::string_view wanted) {
    std::istringstream words{text};
    for (std::string word; words >> word;)
        if (word == wanted) return true;
    return false;
}

/// The number behind the last `name` of the text; -1: there is none.
std::int64_t number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.rfind(name);
    if (at == std::string_view::npos) return -1;
    const std::string rest{text.substr(at + name.size())};
    char* end = nullptr;
    const long long number = std::strtoll(rest.c_str(), &end, 10);
    return end == rest.c_str() ? -1 : number;
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
    const std::size_t bracket = line.rfind('[', at);
    if (bracket == std::string_view::npos) return std::nullopt;
    return Event{.processor = static_cast<int>(number_behind(line.substr(bracket, at - bracket), "[")),
                 .text = line.substr(at + mark.size())};
}

}  // namespace

Noise::Noise(fs::path tracefs, const std::string& instance)
    : tracefs_(std::move(tracefs)), instance_(tracefs_ / "instances" / instance) {}

Noise::~Noise() {
    if (!is_prepared_) return;
    static_cast<void>(put(instance_ / "tracing_on", "0"));
    static_cast<void>(put(instance_ / "current_tracer", "nop"));
    if (had_workload_) static_cast<void>(put(tracefs_ / "osnoise/options", kWorkload));
    std::error_code ignored;
    fs::remove(instance_, ignored);
}

std::optional<std::string> Noise::prepare() {
    const fs::path options = tracefs_ / "osnoise/options";
    had_workload_ = has_word(content_of(options), kWorkload);
    if (mkdir(instance_.c_str(), 0700) != 0 && errno != EEXIST)
        return instance_.string() + ": cannot be made: " + errno_text(errno) + "; leave --osnoise out";
    is_prepared_ = true;
    if (auto why = put(options, "NO_OSNOISE_WORKLOAD")) return why;
    std::vector<fs::path> events{kForks};
    for (const char* source : kSources)
        events.push_back(fs::path{"events/osnoise"} / (std::string{source} + "_noise") / "enable");
    if (auto why = put(instance_ / "tracing_on", "0")) return why;
    if (auto why = put(instance_ / "trace", "")) return why;  // of one whose study was killed
    for (const fs::path& event : events)
        if (auto why = put(instance_ / event, "1")) return why;
    return put(instance_ / "current_tracer", "osnoise");
}

std::optional<std::string> Noise::start() const {
    return put(instance_ / "tracing_on", "1");
}

void Noise::stop() const {
    static_cast<void>(put(instance_ / "tracing_on", "0"));
}

bool Noise::has_dropped() const {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{instance_ / "per_cpu", error})
        for (const char* kind : {"overrun: ", "dropped events: "})
            if (number_behind(content_of(entry.path() / "stats"), kind) != 0) return true;
    return bool{error};
}

void Noise::read_into(nlohmann::json& answer, pid_t program, const std::vector<int>& processors) const {
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
            if (!event || !std::ranges::binary_search(processors, event->processor)) continue;
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

namespace {

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

/// /proc/interrupts and /proc/softirqs: a head with a word for each processor, then a line for each source.
Counts counts_in(const char* path, const std::vector<int>& processors) {
    std::istringstream lines{content_of(path)};
    std::string line, word;
    std::getline(lines, line);
    std::istringstream head{line};
    std::vector<bool> is_counted;
    while (head >> word) {
        int processor = 0;
        is_counted.push_back(std::sscanf(word.c_str(), "CPU%d", &processor) == 1 &&
                             std::ranges::binary_search(processors, processor));
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

nlohmann::json increase(const Counts& before, const Counts& after) {
    if (after.empty()) return nullptr;
    nlohmann::json found = nlohmann::json::object();
    for (const auto& [name, count] : after) {
        const auto was = before.find(name);
        const std::int64_t more = count - (was == before.end() ? 0 : was->second);
        if (more > 0) found[name] = more;
    }
    return found;
}

}  // namespace

Interruptions interruptions_now(const std::vector<int>& processors) {
    return {.interrupts = counts_in("/proc/interrupts", processors),
            .softirqs = counts_in("/proc/softirqs", processors)};
}

void read_interruptions(const Interruptions& before, const Interruptions& after, nlohmann::json& answer) {
    answer["interrupts"] = increase(before.interrupts, after.interrupts);
    answer["softirqs"] = increase(before.softirqs, after.softirqs);
}

}  // namespace rdam::study
