// rdam-agent FD PID [TOKEN]: the process beside the profiled one. Plans what is wrapped and writes the trace
// (docs/recorder.md, "The agent"). The first of its run gets a token and leaves a starter behind (starter.h).
// Started by librdam.so; not meant for people.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>

#include "tools/agent/births.h"
#include "tools/agent/chunks/output_file.h"
#include "tools/agent/counters.h"
#include "tools/agent/memory/measured_once.h"
#include "tools/agent/memory/ready_chunks.h"
#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/plan/answers.h"
#include "tools/agent/plan/plan_area.h"
#include "tools/agent/plan/planning.h"
#include "tools/agent/process/machine_share.h"
#include "tools/agent/process/numa_nodes.h"
#include "tools/agent/process/priorities.h"
#include "tools/agent/process/priority_keeper.h"
#include "tools/agent/process/privileges.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/process/process_numbers.h"
#include "tools/agent/record_loop.h"
#include "tools/agent/sampling/window_sampler.h"
#include "tools/agent/starter.h"
#include "tools/agent/switches/switch_recorder.h"
#include "tools/agent/watch.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "wrappers/catalogue/known_programs.h"
#include "wrappers/plan/plan_store.h"

namespace rdam::agent {
namespace {

/// Nothing of the program's may stay open here: its reader would wait for us. The terminal's signals are not
/// for us.
void detach_from_program(int memory_fd) {
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd)
        dup2(null, fd);
    close_range(3, static_cast<unsigned>(memory_fd) - 1, 0);
    close_range(static_cast<unsigned>(memory_fd) + 1, ~0u, 0);
    for (int signal = 1; signal < 32; ++signal)
        if (signal != SIGKILL && signal != SIGSTOP) std::signal(signal, SIG_DFL);
    for (const int signal :
         {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2})
        std::signal(signal, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

void describe_clock(const SharedMemory& shared, const TickRate& rate, trace::ClockInfo& clock) {
    constexpr double kScale = 1.0 / 16;
    const shm::Measured& measured = shared.measured();
    clock.source = shm::kClockNames[static_cast<std::size_t>(shared.start().clock)];
    clock.ticks_per_second = rate.result();
    clock.start_tsc = rate.start_tsc();
    clock.start_unix_ns = rate.start_unix_ns();
    clock.probe_ticks = static_cast<double>(measured.probe_ticks_x16) * kScale;
    clock.probe_inner_ticks = static_cast<double>(measured.inner_ticks_x16) * kScale;
    clock.floor_ticks = static_cast<double>(measured.floor_ticks_x16) * kScale;
    clock.step_ticks = measured.step;
    clock.flow_ticks = static_cast<double>(measured.flow_ticks_x16) * kScale;
    clock.error_ticks = static_cast<double>(measured.error_ticks_x16) * kScale;
}

void put_message(shm::Control& control, const std::string& text) {
    control.message_size = static_cast<std::uint32_t>(text.copy(control.message, sizeof control.message));
}

/// With a name of the user's in it, perhaps.
void refuse_for(const SharedMemory& shared, const Error& error) {
    refuse(shared, "rdam: " + printable(error.message) + "\n");
}

/// Instructions are counted only on request, so it is reported if they are not.
std::string no_counters(const trace::CounterInfo& counters) {
    if (counters.state != trace::CounterInfo::State::unavailable) return {};
    return "rdam: instructions were not counted: " + counters.reason + "\n";
}

/// The traces of fork children, of launchers and of what scripts call have the pid in their names: the run's
/// name is for the program that the user means. If another run has it, it is left alone as long as that run
/// lasts. `beside`: this process is one of those.
std::string own_output(const Configuration& configuration, bool beside, const trace::NameLock& name,
                       trace::TraceInfo& info) {
    const bool taken = name.state() == trace::NameLock::State::taken;
    if (!taken && (!beside || configuration.output_has_pid)) return configuration.output;
    std::string output = trace::numbered_name(configuration.output, info.process.pid);
    if (taken && info.process.run.empty())
        info.remarks.push_back(fmt::format("the trace of process {} is in {}: another run is writing {}",
                                           info.process.pid, output, configuration.output));
    return output;
}

/// What the trace says of the process from the start.
trace::ProcessInfo describe(const ProcessDescription& process, const Configuration& configuration,
                            const StartFacts& start) {
    trace::ProcessInfo info = describe_machine(process.pid);
    info.command = process.command;
    info.executable = process.executable;
    info.run = configuration.run;
    info.stack_period = static_cast<std::uint32_t>(start.settings[settings::Id::stack_period]);
    info.max_overhead = start.max_overhead();
    return info;
}

/// As many descriptors as the program's objects, the sources about the process, and the trace need at a time;
/// fewer: of what cannot be opened nothing true could be said.
constexpr std::size_t kSpareDescriptors = 8;
std::vector<Descriptor> spare_descriptors() {
    std::vector<Descriptor> taken;
    while (taken.size() < kSpareDescriptors)
        if (taken.emplace_back(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)).get() < 0) return {};
    return taken;
}

/// What the machine withholds from the recorder; empty: nothing.
std::string obstacle(const Watch& watch) {
    if (!watch.works()) return "rdam: rdam-agent cannot start a thread: raise ulimit -u\n";
    if (spare_descriptors().empty())
        return "rdam: Too many open files: the recorder needs a few more descriptors (raise ulimit -n)\n";
    return {};
}

/// One process, from its description to the end of its trace.
struct Job {
    SharedMemory& shared;
    Births& births;
    std::mutex& chores;  ///< of the priority_keeper
    ProcessDescription& process;
    const Configuration& configuration;
    TickRate& rate;
    trace::TraceInfo& info;
    const Watch& watch;
    ThreadPriorities& priorities;
    PriorityKeeper& priority_keeper;
    Planning& planning;
    ThreadNumbers& numbers;
    trace::NameLock& name;
    const std::string& output;
    bool rationed;
};

/// What concerns the run is told under its name, and where each process fills that in for itself, under the
/// name as the user has given it.
template <typename Tell>
void tell_run(trace::NameLock& name, const Configuration& configuration, const Tell& tell) {
    tell(name);
    if (configuration.run.empty() || configuration.pattern.empty()) return;
    trace::NameLock pattern(configuration.pattern, configuration.whole_run);
    tell(pattern);
}

/// False: the process has been told why it is not recorded.
bool plan(const Job& job) {
    const bool forked = job.shared.start().forked;
    if (const auto planned = forked ? job.planning.resume() : job.planning.start(); !planned) {
        refuse(job.shared, planned.error().message, job.planning.list_path());
        return false;
    }
    // After the plan: a process with nothing to record has nothing to write. An obstacle to the name of the
    // run, such as another user's lock, is no obstacle to a name of the process's own.
    const trace::NameLock none;
    const trace::NameLock& name = job.output == job.configuration.output ? job.name : none;
    if (const auto writable = trace::check_place(job.output, name); !writable) {
        refuse_for(job.shared, writable.error());
        tell_run(job.name, job.configuration,
                 [&](trace::NameLock& told) { told.tell_failure(writable.error().message); });
        return false;
    }
    tell_run(job.name, job.configuration, [](trace::NameLock& told) { told.tell_planned(); });
    return true;
}

/// Lets the process begin, and waits until it knows what its probes cost. False: the memory in which it says
/// so was overwritten.
bool let_begin(const Job& job) {
    shm::Control& control = job.shared.control();
    hand_on_measurement(job.shared);
    control.ticks_per_second = static_cast<std::uint64_t>(job.rate.result());
    job.shared.announce(shm::AgentState::planned);
    // The first event of a fork child comes at once, and waits for the file.
    control.agent_sleeps.store(1);
    while (control.process_state.load() == shm::ProcessState::starting && job.watch.end() == End::none)
        futex_wait(control.work_futex, control.work_futex.load(), 1);
    control.agent_sleeps.store(0);
    const bool measured = job.shared.read_measured();
    if (measured) keep_measurement(job.shared);
    describe_clock(job.shared, job.rate, job.info.clock);
    job.info.counters = describe_counters(job.shared.measured());
    return measured;
}

/// When all has been written: `rdam record` waits for our end. What the priority_keeper does for a child it does to
/// the end. Anything else goes with the process: to take it apart would be to wait for each of our threads.
[[noreturn]] void leave(const Job& job) {
    job.chores.lock();
    job.births.look();  // who has asked is answered
    job.births.end();
    job.shared.drop_chunks();
    job.name = {};
    _exit(0);
}

/// Ends this process.
[[noreturn]] void record(const Job& job, MachineShare& machine) {
    const auto& [shared, births, chores, process, configuration, rate, info, watch, priorities,
                 priority_keeper, planning, numbers, name, output, rationed] = job;
    // While the process waits, so that no thread it makes is missed.
    std::vector<Descriptor> spare = spare_descriptors();
    SwitchRecorder switches(process.pid, shared.start().clock, configuration.switches, info.switches);
    spare.clear();
    const double spun = machine.result();
    info.process.machine_share = share_of_run(spun, {});
    const std::vector<std::uint32_t> processors = processors_of(process.pid);
    const ProcessorTimes before = processor_times(processors);
    const bool measured = let_begin(job);
    ProcessTitle title(process.pid, process.command);
    Channels channels(process.pid, info.channels);
    WindowSampler windows(shared, rate, [&](pid_t child) { switches.watch_agent(child); });
    windows.add_functions(info, process.numbers);
    AgentUsage usage(info.agent, [&] { return windows.used_seconds(); });
    Recording recording(shared, process, info, rate, numbers, output, name);
    if (!measured) recording.note_damage();
    Privileges privileges(process.pid, [&recording, &job] {
        // Where the trace is to be, the program's new user may not be allowed to write.
        recording.file().open();
        job.priorities.keep_way_back();
    });
    record_until_end({.shared = shared,
                      .planning = planning,
                      .info = info,
                      .switches = switches,
                      .windows = windows,
                      .watch = watch,
                      .rate = rate,
                      .priority_keeper = priority_keeper,
                      .usage = usage,
                      .title = title,
                      .channels = channels,
                      .privileges = privileges,
                      .priority_comes_back = priorities.reversible(),
                      .rationed = rationed},
                     recording);
    info.process.machine_share = share_of_run(spun, processor_times(processors) - before);
    // A process that becomes another program has ended in order as far as this trace goes, and so has one
    // that told its end and could not wait for us. `rdam record` itself says when there is no trace at all.
    const bool none_took = shared.control().none_took.load() != 0;
    std::string text = recording.finish(watch.end() != End::exited || told_end(shared.control()) != 0,
                                        configuration.top && configuration.run.empty() && !none_took);
    if (none_took && recording.file().writer() == nullptr) {
        const std::string reason =
            fmt::format("none of the functions that were to be wrapped in {} could be", process.executable);
        tell_run(name, configuration, [&](trace::NameLock& told) { told.tell_failure(reason); });
        if (configuration.run.empty())
            text += fmt::format("rdam: {}: no trace was written\n", printable(reason));
    }
    put_message(shared.control(), planning.awaited_text() + windowed_text(info, configuration) +
                                      (configuration.top ? no_counters(info.counters) : "") + text);
    shared.announce(shm::AgentState::finished);
    leave(job);
}

/// Finds the program of `ld.so PROGRAM`, of which the kernel knows only the dynamic linker.
void look_behind_linker(ProcessDescription& process) {
    if (process.objects.empty() || !file_name(process.executable).starts_with("ld")) return;
    ProcessObject& program = process.objects.front();
    const std::string mapped = mapped_file(process.pid, program.base, program.end);
    if (!mapped.empty()) process.executable = program.path = mapped;
}

/// Returns, and has said why, where the process cannot be recorded.
void serve(SharedMemory& shared, Births& births, ProcessDescription& process, TickRate& rate) {
    look_behind_linker(process);
    const Configuration configuration =
        read_configuration(process.pid, shared.start().settings, shared.start().forked);
    const auto processors = read_agent_cpus(configuration.agent_cpus);
    if (!processors) return refuse_for(shared, processors.error());
    trace::TraceInfo info;
    if (const auto placed = place_agent(*processors, process.pid); !placed)
        info.remarks.push_back(placed.error().message);
    // Behind the placement, which threads inherit.
    const Watch watch(shared);
    if (const std::string missing = obstacle(watch); !missing.empty()) return refuse(shared, missing);
    ThreadPriorities priorities(static_cast<pid_t>(process.pid));
    priorities.enlist();
    const auto has_ended = [&] { return watch.end() != End::none; };
    const FilterWatch filters(process.pid);
    ReadyChunks chunks(shared);
    ThreadNumbers numbers(process.pid);
    std::mutex chores;
    PriorityKeeper priority_keeper(shared.control(), priorities, has_ended, [&] {
        const std::lock_guard guard(chores);
        shm::Control& control = shared.control();
        // What the process has told of it has also prepared for.
        if (control.filtered.load() != shm::kFilterSeen && filters.more())
            control.filter_seen.store(shm::kFilterSeen);
        chunks.look();
        births.look();
        numbers.look(control.threads_started.load());
    });
    info.process = describe(process, configuration, shared.start());
    trace::NameLock name(configuration.output,
                         configuration.run.empty() ? name_of_run(info.process) : configuration.whole_run);
    const bool launcher = KnownPrograms::builtin().is_launcher(process.executable);
    tell_run(name, configuration, [&](trace::NameLock& told) {
        told.tell_loaded(launcher ? file_name(process.executable) : std::string_view{});
    });
    const bool minor = launcher || configuration.called;
    const std::string output = own_output(configuration, minor || shared.start().forked, name, info);
    if (!configuration.children && launcher) return refuse(shared, "");
    // Once for a run, not in each of its processes; and not where the time is taken from the program's.
    const bool rationed = has_cpu_quota(process.pid);
    MachineShare machine(
        configuration.top && !rationed ? processors_of(process.pid) : std::vector<std::uint32_t>{},
        PlanStore{plan_folder(), PlanStore::kMeasurements});
    Planning planning(shared, process, configuration, info, has_ended);
    const Job job{shared,     births,          chores,   process, configuration, rate,   info,    watch,
                  priorities, priority_keeper, planning, numbers, name,          output, rationed};
    if (plan(job)) record(job, machine);
}

/// `pid`: the process's number here; 0: as it says itself.
int run(int fd, std::uint32_t pid = 0) {
    auto shared = SharedMemory::map(fd, pid);
    close(fd);
    if (!shared) return 1;
    if (shares_pid_namespace(shared->start().pid))
        shared->control().agent_pid.store(static_cast<std::uint32_t>(getpid()));
    Births births(*shared);
    TickRate rate(shared->start().clock);
    auto described = shared->describe_process();
    if (described)
        serve(*shared, births, *described, rate);
    else
        refuse_for(*shared, described.error());
    shared->drop_chunks();
    return 0;
}

}  // namespace
}  // namespace rdam::agent

int main(int count, char** arguments) {
    // Nobody is to see an agent end by a signal.
    std::set_terminate([] { _exit(1); });
    if (rdam::agent::is_starter(count, arguments)) {
        const auto served = rdam::agent::serve_run(arguments);
        if (!served) _exit(0);
        if (served->memory < 0) _exit(1);
        rdam::agent::detach_from_program(served->memory);
        _exit(rdam::agent::run(served->memory, served->pid));
    }
    char* end = nullptr;
    const long fd = count == 3 || count == 4 ? std::strtol(arguments[1], &end, 10) : -1;
    if (fd < 3 || end == nullptr || *end != '\0') {
        std::fputs("rdam-agent is started by librdam.so; use 'rdam record'\n", stderr);
        return 2;
    }
    // Others know an agent by this name, whatever it was executed as.
    prctl(PR_SET_NAME, "rdam-agent");
    rdam::agent::detach_from_program(static_cast<int>(fd));
    // Before there are threads.
    if (count == 4)
        rdam::agent::leave_starter(arguments[0], std::atoi(arguments[2]),
                                   static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10)));
    // Threads that wait for the process are still there: nothing is taken away under them.
    _exit(rdam::agent::run(static_cast<int>(fd)));
}
