// rdam-study-run: runs one program for `rdam study`, beside its co-runners, and measures it. The request is a
// JSON object on stdin. Two lines of JSON on stdout are the answer: the program's process when it has begun,
// and what was measured; or one that says what is wrong (tools/python/rdam/study/runs.py has the fields).
// Before them one of a duet says that it is ready. Not meant for people.
//
// Texts that need not be UTF-8 (command, environment, paths) have a character of the request for each byte.
//
// Nothing that it started outlives it: it adopts what a program leaves behind and ends that, too, and each of
// its own children ends with it, however it ends. It ends when the study does.
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools/study-native/surroundings.h"
#include "tools/study-native/system.h"

namespace rdam::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kExitBadRequest = 2;

void say(const Json& answer) {
    std::cout << answer.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n' << std::flush;
}

std::int64_t ns_of(const timeval& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1000;
}

std::vector<std::string> bytes_of_each(std::vector<std::string> texts) {
    for (std::string& text : texts)
        text = bytes_of(text);
    return texts;
}

/// `local`, `interleave`, `bind`, with the nodes of the latter two.
void set_memory(const Json& memory) {
    const std::string policy = memory.at("policy");
    constexpr unsigned kWordBits = 64, kMaxNodes = 1024;  // the latter as the kernel has it
    std::array<unsigned long, kMaxNodes / kWordBits> mask{};
    for (const unsigned node : memory.value("nodes", std::vector<unsigned>{})) {
        if (node >= kMaxNodes)
            throw Failure{"cannot have its memory placed: there is no node " + std::to_string(node)};
        mask[node / kWordBits] |= 1UL << node % kWordBits;
    }
    const int mode = policy == "interleave" ? MPOL_INTERLEAVE : policy == "bind" ? MPOL_BIND : MPOL_LOCAL;
    const bool has_nodes = mode != MPOL_LOCAL;
    if (syscall(SYS_set_mempolicy, mode, has_nodes ? mask.data() : nullptr, has_nodes ? kMaxNodes : 0) != 0)
        fail_by_errno("cannot have its memory placed (" + policy + ")");
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (std::string& each : strings)
        pointers.push_back(each.data());
    pointers.push_back(nullptr);
    return pointers;
}

int open_for(const Json& request, const char* key, int flags) {
    const std::string path = bytes_of(request.value(key, "/dev/null"));
    const int file = open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (file < 0) fail_by_errno(path + ": cannot be opened");
    return file;
}

/// As a program that is not started by this one has them.
void reset_signals() {
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGTSTP, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The co-runners of the 2010 report: listings 2 (busy), 5 (sleep) and 6 (array).
class CoRunner {
  public:
    explicit CoRunner(const Json& wanted)
        : wanted_(wanted),
          kind_(wanted.at("kind")),
          command_(bytes_of_each(wanted.value("command", std::vector<std::string>{}))) {}

    /// Returns when it is at its work.
    void start() {
        const Child child = start_child("a co-runner cannot be started", [this](int ready) {
            setpgid(0, 0);
            reset_signals();
            set_processors(wanted_.value("processors", std::vector<int>{}));
            work(ready);
        });
        pid_ = child.pid;
        // A program that could be started closes the pipe.
        if (const std::string said = said_by(child.pipe); !said.empty()) throw Failure{"a co-runner " + said};
    }

    /// It is not at its work any more: its command has ended.
    bool has_ended() const {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid == pid_;
    }

    void end() const {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }

    std::string name() const { return kind_ == "command" ? command_.front() : kind_; }

  private:
    [[noreturn]] void work(int ready) {
        if (kind_ == "command") {
            for (const int output : {STDOUT_FILENO, STDERR_FILENO})
                dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), output);
            execvp(command_.front().c_str(), pointers_to(command_).data());
            fail_by_errno(command_.front() + ": cannot be run");
        }
        if (kind_ == "busy") {
            tell_ready(ready);
            for (;;)
                __asm__ volatile("");
        }
        if (kind_ == "sleep") {
            tell_ready(ready);
            for (;;) {
                for (int i = 0; i < 65536; ++i)
                    __asm__ volatile("");
                usleep(wanted_.value("sleep_us", 0U));
            }
        }
        if (kind_ != "array") throw Failure{"is of the unknown kind '" + kind_ + "'"};
        std::vector<long> all(wanted_.value("longs", std::size_t{196608}), 1);
        tell_ready(ready);
        for (;;) {
            for (long& each : all)
                ++each;
            __asm__ volatile("" : : "r"(all.data()) : "memory");
        }
    }

    Json wanted_;
    std::string kind_;
    std::vector<std::string> command_;
    pid_t pid_ = -1;
};

/// Counts of the program and of all threads and processes that it starts; absent where the kernel or the
/// machine has none.
class Counters {
  public:
    explicit Counters(pid_t program) : program_(program) {
        open_one("migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
        open_one("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
        open_one("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
        open_one("last_level_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES);
    }

    void read_into(Json& answer) const {
        for (const auto& [name, file] : open_) {
            std::array<std::uint64_t, 3> values{};  // count, time enabled, time running
            const bool counted = file >= 0 &&
                                 read(file, values.data(), sizeof values) == ssize_t{sizeof values} &&
                                 values[2] > 0;
            answer[name] = nullptr;
            if (!counted) continue;
            const double scale = static_cast<double>(values[1]) / static_cast<double>(values[2]);
            answer[name] = static_cast<std::uint64_t>(static_cast<double>(values[0]) * scale);
        }
    }

  private:
    void open_one(const char* name, std::uint32_t type, std::uint64_t config) {
        perf_event_attr event{};
        event.size = sizeof event;
        event.type = type;
        event.config = config;
        event.disabled = 1;
        event.enable_on_exec = 1;
        event.inherit = 1;
        event.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        const auto open_event = [&] {
            return static_cast<int>(
                syscall(SYS_perf_event_open, &event, program_, -1, -1, PERF_FLAG_FD_CLOEXEC));
        };
        int file = open_event();
        // Migrations happen in the kernel, where others may not count.
        if (file < 0 && type == PERF_TYPE_HARDWARE) {
            event.exclude_kernel = 1;
            file = open_event();
        }
        open_.emplace_back(name, file);
    }

    pid_t program_;
    std::vector<std::pair<const char*, int>> open_;
};

/// Of a `stat` in /proc, the fields from the third one on. The name before them, in parentheses, may contain
/// anything.
std::string behind_name(const fs::path& stat) {
    const std::string content = content_of(stat);
    return content.substr(content.rfind(')') + 1);
}

/// Of a process that has ended and is not waited for yet.
void read_first_thread(pid_t pid, Json& answer) {
    const std::string process = "/proc/" + std::to_string(pid);
    answer["first_thread_ns"] = nullptr;
    answer["first_thread_user_ns"] = nullptr;
    answer["first_thread_waited_ns"] = nullptr;
    long long ran = 0, waited = 0;
    if (std::sscanf(content_of(process + "/schedstat").c_str(), "%lld %lld", &ran, &waited) == 2) {
        answer["first_thread_ns"] = ran;
        answer["first_thread_waited_ns"] = waited;
    }
    const std::string stat = behind_name(process + "/task/" + std::to_string(pid) + "/stat");
    unsigned long long user = 0;
    if (std::sscanf(stat.c_str(), " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu", &user) == 1)
        answer["first_thread_user_ns"] =
            user * 1'000'000'000ULL / static_cast<unsigned long long>(sysconf(_SC_CLK_TCK));
}

void read_usage(const rusage& usage, Json& answer) {
    answer["user_ns"] = ns_of(usage.ru_utime);
    answer["system_ns"] = ns_of(usage.ru_stime);
    answer["minor_faults"] = usage.ru_minflt;
    answer["major_faults"] = usage.ru_majflt;
    answer["voluntary_switches"] = usage.ru_nvcsw;
    answer["involuntary_switches"] = usage.ru_nivcsw;
    answer["max_memory_bytes"] = std::int64_t{usage.ru_maxrss} * 1024;
}

class Program {
  public:
    explicit Program(const Json& request)
        : request_(request),
          command_(bytes_of_each(request.at("command").get<std::vector<std::string>>())),
          environment_(bytes_of_each(request.at("environment").get<std::vector<std::string>>())) {}

    /// It waits until it is let go.
    void start() {
        const int in = open_for(request_, "stdin", O_RDONLY);
        const int out = open_for(request_, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
        const int errors = open_for(request_, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
        std::array<int, 2> go{};
        if (pipe2(go.data(), O_CLOEXEC) != 0) fail_by_errno("no pipe");
        child_ = start_child("no process can be started", [&](int) {
            close(go[1]);
            setpgid(0, 0);
            dup2(in, STDIN_FILENO), dup2(out, STDOUT_FILENO), dup2(errors, STDERR_FILENO);
            become(go[0]);
        });
        for (const int end : {go[0], in, out, errors})
            close(end);
        go_ = go[1];
    }

    /// Returns when the program was begun.
    void let_go() {
        tell_ready(go_);  // where it fails, the program says why
        if (const std::string why = said_by(child_.pipe); !why.empty())
            throw Failure{command_.front() + " " + why};
    }

    pid_t pid() const { return child_.pid; }
    void stop() const {
        kill(-pid(), SIGKILL);
        kill(pid(), SIGKILL);
    }

  private:
    [[noreturn]] void become(int go) {
        set_processors(request_.value("processors", std::vector<int>{}));
        if (request_.contains("memory")) set_memory(request_["memory"]);
        if (request_.contains("randomize")) {
            const int now = personality(0xffffffff);
            const int wanted =
                request_["randomize"].get<bool>() ? now & ~ADDR_NO_RANDOMIZE : now | ADDR_NO_RANDOMIZE;
            if (now < 0 || personality(static_cast<unsigned long>(wanted)) < 0)
                fail_by_errno("cannot have its addresses fixed");
        }
        std::vector<char*> arguments = pointers_to(command_);
        std::vector<char*> environment = pointers_to(environment_);
        reset_signals();
        char letter = 0;
        if (read(go, &letter, 1) != 1) throw Failure{"was given up"};
        // PATH is the study's, whatever the program's environment is.
        execvpe(arguments.front(), arguments.data(), environment.data());
        fail_by_errno("cannot be run");
    }

    const Json& request_;
    std::vector<std::string> command_;
    std::vector<std::string> environment_;
    Child child_{.pid = -1, .pipe = -1};
    int go_ = -1;
};

/// Children of this process, adopted ones among them.
std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const fs::directory_entry& entry : fs::directory_iterator{"/proc"}) {
        const std::string name = entry.path().filename();
        pid_t parent = 0;
        if (name.find_first_not_of("0123456789") == std::string::npos &&
            std::sscanf(behind_name(entry.path() / "stat").c_str(), " %*c %d", &parent) == 1 &&
            parent == getpid())
            found.push_back(std::stoi(name));
    }
    return found;
}

/// A process that has been told to end may have started others before: these are adopted and come next.
std::size_t end_what_is_left() {
    std::size_t ended = 0;
    for (;;) {
        const std::vector<pid_t> left = children();
        if (left.empty()) return ended;
        for (const pid_t child : left) {
            int status = 0;
            kill(child, SIGKILL);
            if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) ++ended;
        }
    }
}

/// What the processors that this process may use have done since the machine was started, in ticks.
struct Ticks {
    std::int64_t busy = 0;
    std::int64_t stolen = 0;  // by the host of a virtual machine
};

Ticks ticks_now() {
    const std::vector<int> own = processors_of_this_process();
    std::istringstream lines{content_of("/proc/stat")};
    Ticks sum;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("cpu ")) continue;  // of all
        int processor = 0;
        long long user = 0, nice = 0, system = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
        if (std::sscanf(line.c_str(), "cpu%d %lld %lld %lld %*d %*d %lld %lld %lld", &processor, &user, &nice,
                        &system, &interrupts, &soft_interrupts, &stolen) != 7 ||
            !std::ranges::binary_search(own, processor))
            continue;
        sum.busy += user + nice + system + interrupts + soft_interrupts;
        sum.stolen += stolen;
    }
    return sum;
}

/// Two runs begin at once: when both have said that they are ready, the other end of this pipe is closed.
void wait_for_other(int go) {
    say({{"ready", true}});
    char nothing = 0;
    while (read(go, &nothing, 1) < 0 && errno == EINTR) {
    }
}

enum class End { itself, too_long, told };

/// Until the program has ended, or is to be ended.
End await(pid_t program, int signals, std::int64_t deadline) {
    for (;;) {
        siginfo_t info{};
        if (waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == program)
            return End::itself;
        const std::int64_t left_ms =
            deadline == 0 ? -1 : std::max<std::int64_t>((deadline - now_ns()) / 1'000'000, 0);
        if (left_ms == 0) return End::too_long;
        pollfd wait{.fd = signals, .events = POLLIN, .revents = 0};
        poll(&wait, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 1'000'000)));
        signalfd_siginfo signal{};
        while (read(signals, &signal, sizeof signal) == ssize_t{sizeof signal})
            if (signal.ssi_signo != SIGCHLD) return End::told;
    }
}

Json measure(const Json& request, int signals, const Surroundings& surroundings) {
    for (const auto& each : surroundings)
        each->prepare();
    std::vector<CoRunner> co_runners;
    for (const Json& each : request.value("co_runners", Json::array()))
        co_runners.emplace_back(each);
    for (CoRunner& each : co_runners)
        each.start();

    Program program{request};
    program.start();
    const Counters counters{program.pid()};
    Json answer;
    if (request.contains("go")) wait_for_other(request["go"]);
    const double limit = request.value("time_limit_s", 0.0);
    for (const auto& each : surroundings)
        each->begin();
    const Ticks before = ticks_now();
    const std::int64_t begin = now_ns();
    program.let_go();
    say({{"pid", program.pid()}});
    const std::int64_t deadline = limit > 0 ? begin + static_cast<std::int64_t>(limit * 1e9) : 0;
    const End end = await(program.pid(), signals, deadline);
    answer["wall_ns"] = now_ns() - begin;
    const Ticks after = ticks_now();
    for (const auto& each : surroundings)
        each->end(answer);
    const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    answer["busy_s"] = static_cast<double>(after.busy - before.busy) * tick_s;
    answer["stolen_s"] = static_cast<double>(after.stolen - before.stolen) * tick_s;
    const auto idle = std::ranges::find_if(co_runners, &CoRunner::has_ended);
    const std::string gone = idle == co_runners.end() ? "" : idle->name();
    if (end != End::itself) {
        program.stop();
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(program.pid()), &info, WEXITED | WNOWAIT);
    }
    read_first_thread(program.pid(), answer);
    int status = 0;
    rusage usage{};
    wait4(program.pid(), &status, 0, &usage);
    read_usage(usage, answer);
    counters.read_into(answer);
    for (const CoRunner& each : co_runners)
        each.end();
    answer["left_behind"] = end_what_is_left();  // by the co-runners as well
    rusage all{};
    getrusage(RUSAGE_CHILDREN, &all);
    answer["all_cpu_ns"] = ns_of(all.ru_utime) + ns_of(all.ru_stime);
    for (const auto& each : surroundings)
        each->leave(answer, program.pid());
    if (!gone.empty() && end == End::itself)
        throw Failure{"the co-runner " + gone +
                      " ended before the program: give a command that keeps running"};
    answer["exit_code"] = WIFEXITED(status) ? Json(WEXITSTATUS(status)) : Json(nullptr);
    answer["signal"] = WIFSIGNALED(status) ? Json(WTERMSIG(status)) : Json(nullptr);
    answer["too_long"] = end == End::too_long;
    answer["interrupted"] = end == End::told;
    return answer;
}

Json run(const Json& request, int signals) {
    if (request.contains("go")) fcntl(request["go"], F_SETFD, FD_CLOEXEC);
    // They end last: nothing that they have changed stays so.
    const auto surroundings = surroundings_of(request);
    try {
        return measure(request, signals, surroundings);
    } catch (...) {
        end_what_is_left();
        throw;
    }
}

/// The study's end comes as a signal, and so does the program's.
int catch_signals() {
    sigset_t caught;
    sigemptyset(&caught);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
        sigaddset(&caught, number);
    sigprocmask(SIG_BLOCK, &caught, nullptr);
    // Ctrl-Z stops the study between two runs: a run that it stopped would have taken longer.
    std::signal(SIGTSTP, SIG_IGN);
    const int signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) fail_by_errno("no signals");
    return signals;
}

int serve() {
    const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
    const Json request = Json::parse(text, nullptr, false);
    if (!request.is_object())
        throw Failure{"the request is no JSON object; this program is started by rdam study"};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGPIPE, SIG_IGN);
    const int signals = catch_signals();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != request.at("study").get<pid_t>()) return 1;
    say(run(request, signals));
    return 0;
}

}  // namespace
}  // namespace rdam::study

int main() {
    using namespace rdam::study;
    try {
        return serve();
    } catch (const Failure& failure) {
        say({{"error", failure.what()}});
    } catch (const std::exception& error) {
        say({{"error", std::string{"the request cannot be carried out: "} + error.what()}});
    }
    return kExitBadRequest;
}
