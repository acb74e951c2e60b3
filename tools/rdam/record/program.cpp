#include "tools/rdam/record/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "libprobe/format/starter.h"
#include "tools/base/files.h"
#include "wrappers/catalogue/known_programs.h"
#include "wrappers/object/executable_facts.h"

namespace rdam {
namespace {

constexpr int kDeathBySignal = 128;
constexpr int kMaxInterpreters = 4;

std::string real_path(const std::string& path) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return error ? path : real.string();
}

/// The program among the arguments of glibc's dynamic linker; empty: there is none.
std::string given_to_linker(const std::vector<std::string>& arguments) {
    constexpr std::string_view kWithValue[] = {
        "--library-path",         "--inhibit-rpath",    "--audit", "--preload", "--argv0",
        "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};
    constexpr std::string_view kStartNothing[] = {"--list",    "--verify",        "--help",
                                                  "--version", "--list-tunables", "--list-diagnostics"};
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        if (!arguments[i].starts_with("--")) return arguments[i];
        if (std::ranges::find(kStartNothing, arguments[i]) != std::end(kStartNothing)) return {};
        if (std::ranges::find(kWithValue, arguments[i]) != std::end(kWithValue)) ++i;
    }
    return {};
}

/// The facts of the program that the dynamic linker is to start.
Result<ExecutableFacts> look_behind_linker(Program& program, ExecutableFacts linker) {
    const std::string given = given_to_linker(program.arguments);
    // One without a slash is looked for among the libraries.
    if (given.find('/') == std::string::npos) return linker;
    auto facts = inspect_executable(given, true);
    if (!facts) return facts;
    if (facts->is_script)
        return fail("{}: is a script, which {} cannot start: name its interpreter", given, program.path);
    program.judged = given;
    return facts;
}

/// In one line with the remedy; empty: it can be recorded.
std::string why_not(const Program& program, const ExecutableFacts& facts) {
    const std::string why = why_not_recordable(facts);
    const bool other_rights = facts.set_user_id || facts.set_group_id || facts.has_capabilities;
    const std::string_view name = file_name(program.judged);
    if (why.empty() || !other_rights || !KnownPrograms::builtin().is_launcher(name)) return why;
    return fmt::format(
        "{}: runs with other rights than its user's, which excludes LD_PRELOAD, and so does not pass it on: "
        "start rdam behind it: {} rdam record … -- PROGRAM",
        facts.path, name);
}

volatile std::sig_atomic_t child = 0;
void (*on_file_limit)(int) = SIG_DFL;

void pass_on(int signal) {
    if (child > 0) kill(child, signal);
}

void set_handler(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
}

/// What the run's processes find its starter by.
void mark(std::uint32_t token) {
    rlimit limit{};
    if (token == 0 || getrlimit(RLIMIT_LOCKS, &limit) != 0) return;
    limit.rlim_cur = run_mark::limit_of({run_mark::mark_in(limit.rlim_cur).adopter, token});
    setrlimit(RLIMIT_LOCKS, &limit);
}

/// In the child. Errors are reported through the pipe, which a successful exec closes.
[[noreturn]] void become(const Program& program,
                         const std::vector<std::pair<std::string, std::string>>& variables, int failure) {
    for (const auto& [name, value] : variables)
        setenv(name.c_str(), value.c_str(), 1);
    std::signal(SIGXFSZ, on_file_limit);
    // librdam.so ends this very process when it finds nothing to wrap (libprobe/start/init.cpp).
    mark(program.starter);
    if (!program.starts_others) setenv("RDAM_STRICT", std::to_string(getpid()).c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : program.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(program.path.c_str(), arguments.data());
    const int error = errno;
    if (write(failure, &error, sizeof error) < 0) _exit(kDeathBySignal - 1);
    _exit(kDeathBySignal - 1);
}

/// Reports a program that seccomp has killed, perhaps for a system call of the recorder. To be called before
/// the process is waited for: afterwards its rules are no longer known. False: it was not seccomp.
bool say_if_forbidden(pid_t pid, int signal) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    std::string line;
    while (std::getline(status, line) && !line.starts_with("Seccomp:")) {
    }
    // A filter; newer kernels: seccomp has ended it, whichever it was.
    const char mode = line.empty() ? '0' : line.back();
    if (signal == SIGSYS && (mode == '2' || mode == '3')) {
        std::fputs(
            "rdam: the program was killed for a system call that its seccomp filter forbids (SIGSYS): if "
            "this does not happen without rdam, let the filter allow what the recorder needs "
            "(docs/limits.md, "
            "System call filters)\n",
            stderr);
        return true;
    }
    return false;
}

ProgramEnd await(pid_t pid) {
    int status = 0;
    bool explained = false;
    siginfo_t end{};
    while (waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    if (end.si_code == CLD_KILLED || end.si_code == CLD_DUMPED)
        explained = say_if_forbidden(pid, end.si_status);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFSIGNALED(status)) return {.status = WEXITSTATUS(status), .signal = 0};
    return {.status = kDeathBySignal + WTERMSIG(status), .signal = explained ? 0 : WTERMSIG(status)};
}

}  // namespace

std::string find_in_path(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    const char* variable = std::getenv("PATH");
    const std::string path = variable == nullptr ? "/usr/local/bin:/usr/bin:/bin" : variable;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        std::string candidate = end > at ? path.substr(at, end - at) : ".";
        candidate.append("/").append(name);
        if (access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate))
            return candidate;
        at = end + 1;
    }
    return {};
}

Result<std::string> own_path() {
    std::error_code error;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        return fail("/proc/self/exe cannot be read: {}; mount /proc, which rdam needs", error.message());
    return own.string();
}

Result<Program> find_program(std::vector<std::string> arguments) {
    Program program;
    program.path = find_in_path(arguments[0]);
    if (program.path.empty()) return fail("'{}': not found in PATH; give its path", arguments[0]);
    program.arguments = std::move(arguments);
    program.judged = program.path;
    for (int i = 0; i < kMaxInterpreters; ++i) {
        auto facts = inspect_executable(program.judged);
        if (!facts) return tl::unexpected(facts.error());
        if (!facts->is_script) {
            if (facts->is_dynamic_linker && !program.is_script) facts = look_behind_linker(program, *facts);
            if (!facts) return tl::unexpected(facts.error());
            if (const std::string why = why_not(program, *facts); !why.empty()) return fail("{}", why);
            program.sanitizer = facts->sanitizer;
            break;
        }
        program.is_script = true;
        program.judged = facts->interpreter;
    }
    const KnownPrograms& known = KnownPrograms::builtin();
    // Debian 12's mpirun.openmpi is a link to orterun; an alternative of another name may lead to a known
    // one.
    for (const std::string& name : {program.judged, real_path(program.judged)}) {
        if (known.is_launcher(name) || known.is_interpreter(name)) program.starts_others = true;
        if (program.strips.empty()) program.strips = known.how_it_strips(name);
    }
    program.starts_others = program.starts_others || program.is_script;
    return program;
}

std::string signal_text(int signal) {
    const char* name = sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal)
                           : fmt::format("SIG{} ({})", name, sigdescr_np(signal));
}

void survive_file_limit() {
    on_file_limit = std::signal(SIGXFSZ, SIG_IGN);
}

Result<ProgramEnd> run_program(const Program& program,
                               const std::vector<std::pair<std::string, std::string>>& variables) {
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) != 0)
        return fail("cannot make a pipe: {}{}", std::strerror(errno),
                    errno == EMFILE ? " (raise ulimit -n)" : "");
    const pid_t pid = fork();
    if (pid < 0) return fail("cannot start '{}': {}", program.path, std::strerror(errno));
    if (pid == 0) become(program, variables, failure[1]);
    child = pid;
    close(failure[1]);
    // Signals that a program sends to its group, and handles, are not meant for rdam.
    for (const int signal : {SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM})
        set_handler(signal, SIG_IGN);
    for (const int signal : {SIGTERM, SIGHUP})
        set_handler(signal, pass_on);
    int error = 0;
    const bool failed = read(failure[0], &error, sizeof error) == sizeof error;
    close(failure[0]);
    const ProgramEnd end = await(pid);
    child = 0;
    if (failed) return fail("cannot start '{}': {}", program.path, std::strerror(error));
    return end;
}

Signals::Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], nullptr, &before_[i]);
}

Signals::~Signals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &before_[i], nullptr);
}

Result<ProgramEnd> run_tool(std::string path, std::vector<std::string> arguments) {
    const Signals signals;
    return run_program({.path = std::move(path),
                        .arguments = std::move(arguments),
                        .sanitizer = {},
                        .starts_others = true,
                        .judged = {},
                        .is_script = false,
                        .strips = {},
                        .alone = false,
                        .starter = 0},
                       {});
}

Result<ProgramEnd> run_rdam(std::vector<std::string> arguments) {
    const auto own = own_path();
    if (!own) return tl::unexpected(own.error());
    arguments.insert(arguments.begin(), "rdam");
    return run_tool(*own, std::move(arguments));
}

}  // namespace rdam
