#include "libprobe/agent/agent_link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <cstdint>
#include <string_view>

#include "libprobe/agent/adoption.h"
#include "libprobe/agent/births.h"
#include "libprobe/agent/inheritance.h"
#include "libprobe/agent/request.h"
#include "libprobe/agent/starter.h"
#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/code/gates.h"
#include "libprobe/event/chunk_pool.h"
#include "libprobe/format/settings.h"
#include "libprobe/format/starter.h"

namespace rdam::probe {
namespace {

// How much memory the process may use before the kernel kills it.

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// The beginning of a file; empty when it cannot be read.
std::string_view read_file(const char* path, char* to, std::size_t room) {
    const long fd = sys::call(SYS_open, sys::word(path), O_RDONLY | O_CLOEXEC);
    if (sys::failed(fd)) return {};
    const long size = sys::call(SYS_read, fd, sys::word(to), static_cast<long>(room));
    sys::call(SYS_close, fd);
    return size > 0 ? std::string_view{to, static_cast<std::size_t>(size)} : std::string_view{};
}

std::string_view line_of(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && rest[end] != '\n')
        ++end;
    const std::string_view line{rest.data(), end};
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    return line;
}

/// A number, or "max".
std::uint64_t limit_in(const char* path) {
    char text[64];
    std::string_view rest = read_file(path, text, sizeof text);
    std::uint64_t value = 0;
    return settings::parse_size(line_of(rest), value) ? value : kNoLimit;
}

/// The limits of a group and of those around it: of `mount` + `group` + `file`, and so on upwards. Where the
/// process sees only a part of the tree (a container), the path need not be there.
std::uint64_t least_limit(std::string_view mount, std::string_view group, std::string_view file) {
    char path[1024];
    std::uint64_t least = kNoLimit;
    while (mount.size() + group.size() + file.size() < sizeof path) {
        copy_bytes(path, mount.data(), mount.size());
        copy_bytes(path + mount.size(), group.data(), group.size());
        copy_bytes(path + mount.size() + group.size(), file.data(), file.size());
        path[mount.size() + group.size() + file.size()] = '\0';
        const std::uint64_t limit = limit_in(path);
        if (limit < least) least = limit;
        if (group.empty()) break;
        while (!group.empty() && group.back() != '/')
            group.remove_suffix(1);
        if (!group.empty()) group.remove_suffix(1);
    }
    return least;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// The least limit of the control groups that the process is in (a container's, a service's); ~0: none.
/// Memory beyond it is not refused: the kernel kills for it.
std::uint64_t cgroup_memory_limit() {
    char text[4096];
    std::string_view rest = read_file("/proc/self/cgroup", text, sizeof text);
    std::uint64_t least = kNoLimit;
    while (!rest.empty()) {
        // number:controllers:path; version 2 names no controllers.
        std::string_view line = line_of(rest);
        while (!line.empty() && line.front() != ':')
            line.remove_prefix(1);
        std::uint64_t limit = kNoLimit;
        if (take_prefix(line, "::"))
            limit = least_limit("/sys/fs/cgroup", line, "/memory.max");
        else if (take_prefix(line, ":memory:"))
            limit = least_limit("/sys/fs/cgroup/memory", line, "/memory.limit_in_bytes");
        if (limit < least) least = limit;
    }
    return least;
}

}  // namespace
}  // namespace rdam::probe

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

namespace rdam::probe {
namespace {

constexpr std::uint64_t kShareOfLimit = 4;
static_assert(settings::kMinBuffer == kMinChunks * std::uint64_t{shm::kChunkSize});

/// The address space that `ulimit -v` leaves to the process; most of it belongs to the program.
std::uint64_t address_space() {
    rlimit limit{};
    sys::call(SYS_prlimit64, 0, RLIMIT_AS, 0, sys::word(&limit));
    return limit.rlim_cur;
}

/// Sets the size of the shared memory. `ulimit -f` is about files on disks, but the kernel applies it to any,
/// and would end the program with a signal.
bool set_size(int fd, std::uint64_t size) {
    rlimit limit{};
    sys::call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, sys::word(&limit));
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (limit.rlim_max < size) return false;
    const bool too_low = limit.rlim_cur < size;
    if (too_low) sys::call(SYS_prlimit64, 0, RLIMIT_FSIZE, sys::word(&raised), 0);
    const bool done = sys::call(SYS_ftruncate, fd, static_cast<long>(size)) == 0;
    // Nobody can take pages away under the agent.
    sys::call(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    if (too_low) sys::call(SYS_prlimit64, 0, RLIMIT_FSIZE, sys::word(&limit), 0);
    return done;
}

std::uint32_t chunk_count() {
    std::uint64_t bytes = globals.settings.values[settings::Id::buffer];
    if (bytes == 0) {
        struct sysinfo machine {};
        sys::call(SYS_sysinfo, sys::word(&machine));
        const std::uint64_t installed = machine.totalram * machine.mem_unit;
        const std::uint64_t allowed = cgroup_memory_limit();
        bytes = (allowed < installed ? allowed : installed) / 8;
    }
    const std::uint64_t room = address_space();
    if (bytes > room / kShareOfLimit) bytes = room / kShareOfLimit;
    std::uint64_t chunks = bytes / shm::kChunkSize;
    if (chunks < kMinChunks) chunks = kMinChunks;
    if (chunks > shm::kMaxChunks) chunks = shm::kMaxChunks;
    return static_cast<std::uint32_t>(chunks);
}

/// An address range aligned to the chunk size, because a record's address tells where its chunk ends. The
/// chunks are not accessible before their first use.
void* map_shared(int fd, std::uint64_t size) {
    const std::uint64_t room = size + shm::kChunkSize;
    const long reserved = sys::mmap(0, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(reserved)) return nullptr;
    const auto begin = static_cast<std::uint64_t>(reserved);
    const std::uint64_t aligned = (begin + shm::kChunkSize - 1) & ~std::uint64_t{shm::kChunkSize - 1};
    const long mapped =
        sys::mmap(aligned, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
    if (sys::failed(mapped)) return nullptr;
    // A program that locks its memory (mlockall) would be given all of it, gigabytes, at once.
    sys::call(SYS_mprotect, static_cast<long>(aligned + shm::kChunksOffset),
              static_cast<long>(size - shm::kChunksOffset), PROT_NONE);
    if (aligned > begin) sys::call(SYS_munmap, reserved, static_cast<long>(aligned - begin));
    if (begin + room > aligned + size)
        sys::call(SYS_munmap, static_cast<long>(aligned + size),
                  static_cast<long>(begin + room - aligned - size));
    return reinterpret_cast<void*>(mapped);
}

/// Writes `directory of own_path()` + `tail` to `path`. 0, or why that cannot be executed: a negative errno.
long beside_library(char (&path)[4096], const char* tail) {
    const char* own = own_path();
    std::size_t directory = 0;
    for (std::size_t i = 0; own[i] != '\0'; ++i)
        if (own[i] == '/') directory = i + 1;
    const std::size_t tail_size = text_size(tail) + 1;
    if (directory + tail_size > sizeof path) return -ENAMETOOLONG;
    copy_bytes(path, own, directory);
    copy_bytes(path + directory, tail, tail_size);
    return sys::call(SYS_access, sys::word(path), 1 /* X_OK */);
}

long find_agent(char (&path)[4096]) {
    const long installed = beside_library(path, agent_process::kInstalled);
    return installed == -ENOENT ? beside_library(path, agent_process::kInBuildTree) : installed;
}

[[noreturn]] void leave_process(int code) {
    for (;;)
        sys::call(SYS_exit_group, code);
}

void raise_limits() {
    for (const int which : agent_process::kRaisedLimits) {
        rlimit limit{};
        sys::call(SYS_prlimit64, 0, which, 0, sys::word(&limit));
        limit.rlim_cur = limit.rlim_max;
        sys::call(SYS_prlimit64, 0, which, sys::word(&limit), 0);
    }
}

/// In the grandchild: becomes the agent, which leaves a starter behind if it is the first of its run and so
/// has a token for it.
[[noreturn]] void become_agent(const char* path, int fd, const char* const* environment,
                               std::uint32_t token) {
    char descriptor[21];
    char process[21];
    char of_run[21];
    put_number(descriptor, static_cast<std::uint64_t>(fd));
    put_number(process, globals.control->pid);
    put_number(of_run, token);
    const char* arguments[] = {path, descriptor, process, token != 0 ? of_run : nullptr, nullptr};
    raise_limits();
    sys::call(SYS_fcntl, fd, F_SETFD, 0);
    sys::call(SYS_execve, sys::word(path), sys::word(arguments), sys::word(environment));
    globals.control->agent_futex.store(shm::AgentState::refused);
    leave_process(127);
}

/// In the child that stays: it may hold nothing of the program open. The agent's orphans, such as the starter
/// when the program has become another one, go to this child, not to the program.
void wait_for_good() {
    const std::uint64_t all = ~std::uint64_t{0};
    sys::call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
    sys::call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, sys::word(&all), 0, sizeof all);
    sys::call(SYS_close_range, 0, ~0u, 0);
    long ended = 0;
    do
        ended = sys::call(SYS_wait4, -1, 0, __WALL, 0);
    while (ended > 0 || ended == -EINTR);
}

/// Starts a grandchild that nothing in the program waits for: its parent is gone by then, and sent no
/// SIGCHLD.
///
/// In a process that adopts orphans the agent would become a child after all. There, the agent's parent stays
/// and waits for it: only a wait with __WALL or __WCLONE sees a child whose end sends no signal. (The agent
/// itself cannot be one: an exec gives it the usual signal.)
bool spawn(const char* path, int fd, const char* const* environment, std::uint32_t token) {
    const bool stays = adopts_orphans();
    // CLONE_UNTRACED: a debugger of the program would follow the agent's exec.
    const long child = sys::call(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0);
    if (child == 0) {
        sys::call(SYS_setsid);
        // The kernel notes the agent's pid before the agent runs: however early it dies, that is seen.
        const long grandchild =
            sys::call(SYS_clone, CLONE_PARENT_SETTID, 0, sys::word(&globals.control->agent_pid), 0, 0);
        if (grandchild == 0) become_agent(path, fd, environment, token);
        if (stays && !sys::failed(grandchild)) wait_for_good();
        leave_process(sys::failed(grandchild) ? 1 : 0);
    }
    if (sys::failed(child)) return false;
    int status = 0;
    if (stays) {
        while (globals.control->agent_pid.load() == 0 &&
               sys::call(SYS_wait4, child, sys::word(&status), __WALL | WNOHANG, 0) == 0)
            sys::futex_wait(&globals.control->agent_pid, 0, 1);
        return globals.control->agent_pid.load() != 0;
    }
    while (sys::call(SYS_wait4, child, sys::word(&status), __WALL, 0) == -4 /* EINTR */) {
    }
    return status == 0;
}

void answer_ifunc(shm::Control& control) {
    using Resolver = std::uint64_t (*)();
    const std::uint32_t asked = control.ifunc_asked.load();
    if (asked == control.ifunc_answered_futex.load()) return;
    control.ifunc_target = reinterpret_cast<Resolver>(control.ifunc_resolver)();
    control.ifunc_answered_futex.store(asked);
    sys::futex_wake(&control.ifunc_answered_futex, 1);
}

bool wait_for_plan() {
    shm::Control& control = *globals.control;
    for (;;) {
        const shm::AgentState state = control.agent_futex.load();
        if (state == shm::AgentState::planned) return true;
        if (state == shm::AgentState::refused || state == shm::AgentState::finished) return false;
        if (state == shm::AgentState::ask_ifunc) answer_ifunc(control);
        const long result =
            sys::futex_wait(&control.agent_futex, static_cast<std::uint32_t>(state), kWaitMilliseconds);
        if (result < 0 && !agent_alive()) return false;
    }
}

/// A memfd that is none of the standard descriptors: a program may run with those closed.
long make_memory() {
    constexpr long kFirstOther = 3;
    const long fd = sys::call(SYS_memfd_create, sys::word("rdam"), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (sys::failed(fd) || fd >= kFirstOther) return fd;
    const long other = sys::call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kFirstOther);
    sys::call(SYS_close, fd);
    return other;
}

void set_up_control(shm::Control& control, std::uint64_t size, std::uint32_t chunks, bool fork_child) {
    control.magic = shm::kMagic;
    control.layout = shm::kLayout;
    control.chunks = chunks;
    control.size = size;
    control.pid = sys::getpid();
    control.nonce = __builtin_ia32_rdtsc() ^ std::uint64_t{control.pid} << 32;
    control.settings = globals.settings.values;
    control.clock = globals.settings.clock;
    control.forked = fork_child ? 1 : 0;
    open_all_gates(reinterpret_cast<char*>(&control) + shm::kGatesOffset);
    char* const area = reinterpret_cast<char*>(&control);
    const Knowledge& known = globals.inherited.knowledge;
    // The agent reads it before it writes a plan there.
    if (fork_child) copy_bytes(area + shm::kPlanOffset, known.bytes, known.size);
    hand_over_request(area + shm::kRequestOffset, fork_child);
}

/// A relative RDAM_FUNCTIONS means the file that it meant when the run began, in whatever the program
/// executes and wherever that is.
void settle_list(const char* path, std::size_t size) {
    constexpr std::string_view kVariable = "RDAM_FUNCTIONS=";
    static char settled[kVariable.size() + 4096];
    if (size == 0 || size >= sizeof settled - kVariable.size()) return;
    copy_bytes(settled, kVariable.data(), kVariable.size());
    copy_bytes(settled + kVariable.size(), path, size);
    settled[kVariable.size() + size] = '\0';
    for (char** entry = globals.settings.environment; *entry != nullptr; ++entry)
        if (std::string_view{*entry, text_size(*entry)}.starts_with(kVariable)) *entry = settled;
}

/// What the agent has written for stderr, or nothing.
void print_reply(std::uint32_t serial) {
    if (const PlanCopy plan(serial); plan.whole()) plan.print();
}

/// Takes the first plan: prints it and, before the program runs, settles what the list's path means.
void take_first_reply(bool fork_child) {
    const PlanCopy plan(0);
    if (!plan.whole()) return;
    const shm::Text list = plan.reply().list;
    if (!fork_child) settle_list(plan.area() + list.offset, list.size);
    plan.print();
}

/// The process has a new agent, and new memory to share with it.
void begin_own_copies(std::uint32_t chunks) {
    for (std::uint32_t i = 0; i < shm::kMaxChunks && i < own_copies.fresh_chunks.load(); ++i)
        own_copies.places[i].store(kNotThere);
    for (std::atomic<std::uint8_t>& taken : own_copies.slots)
        taken.store(0);
    for (auto* const count :
         {&own_copies.fresh_chunks, &own_copies.ring_tail, &own_copies.waiters, &own_copies.out_of_memory,
          &own_copies.threads_started, &own_copies.threads_ended, &own_copies.opened, &own_copies.far_taken})
        count->store(0);
    for (std::atomic<std::uint32_t>& run : own_copies.far_runs)
        run.store(0);
    own_copies.ended = 0;
    own_copies.chunks = chunks;
    globals.calls_opened.store(0);
    globals.late_asked = 0;
}

/// Reports the agent's progress every two seconds if the wait is longer than that. A clock would be one more
/// system call, which the program may have forbidden.
class Progress {
  public:
    explicit Progress(const shm::Control& control)
        : control_(control), from_(control.ring_head.load()), all_(own_copies.ring_tail.load() - from_) {}

    /// After kWaitMilliseconds of waiting.
    void waited() {
        if (++rounds_ % kRoundsBetween != 0) return;
        const std::uint32_t done = control_.ring_head.load() - from_;
        constexpr std::uint64_t kMega = 1000000;
        if (done >= all_ || all_ > shm::kRingSize || all_ < kMega / shm::kChunkSize + 1) return;
        Line line;
        (line << "writing the trace: " << std::uint64_t{done} * 100 / all_ << " % of "
              << std::uint64_t{all_} * shm::kChunkSize / kMega << " MB")
            .print();
    }

  private:
    static constexpr std::uint32_t kRoundsBetween = 2000 / kWaitMilliseconds;

    const shm::Control& control_;
    std::uint32_t from_;
    std::uint32_t all_;
    std::uint32_t rounds_ = 0;
};

/// `rdam record` sees it by itself.
void say_killed() {
    if (!environment_variable(globals.inherited.environment, "RDAM_RUN").value.empty()) return;
    Line line;
    (line << "rdam-agent ended before the trace was finished: it was killed, or ran out of memory; what it "
             "had not written is lost: record again")
        .print();
}

/// All but the page by which they can ask for an agent.
void keep_from_children(void* memory, std::uint64_t size) {
    for_all_but_births(
        reinterpret_cast<std::uint64_t>(memory), size, [](std::uint64_t begin, std::uint64_t bytes) {
            sys::call(SYS_madvise, static_cast<long>(begin), static_cast<long>(bytes), MADV_DONTFORK);
        });
}

bool give_up(std::string_view what) {
    Line line;
    (line << what << unrecorded_fate()).print();
    return false;
}

/// What a fork child does not find was there when its parent began: nothing is wrong with the installation.
bool give_up_agent(long error, bool fork_child) {
    if (error == -EACCES)
        return give_up("this user may not execute rdam-agent: make it executable for everyone");
    if (fork_child)
        return give_up(
            "a forked child cannot find rdam-agent: the program changed its root (chroot) or its mounts "
            "after it started; make rdam's directory available there, at the same path");
    return give_up("rdam-agent is not next to librdam.so: reinstall rdam");
}

/// The agent would be handed to a program that did not make it.
bool give_up_to(std::uint32_t adopter, Asked asked) {
    Line line;
    (line
     << "the agent of process " << sys::getpid() << " would become a child of process " << adopter
     << ", which adopts orphans: rdam-starter "
     << (asked == Asked::absent
             ? "has ended or cannot be reached (another user, PID or network namespace, or no /proc)"
             : "cannot start it (another root directory, namespace or control group, or PR_SET_DUMPABLE)")
     << unrecorded_fate())
        .print();
    return false;
}

/// By the run's starter where there is one, else by itself. False: the reason has been printed.
bool start_agent(int fd, bool fork_child) {
    const char* const* environment = globals.inherited.environment;
    std::uint32_t agent_pid = 0;
    Asked asked = ask_starter(fd, environment, agent_pid);
    if (fork_child && (asked == Asked::absent || asked == Asked::refused)) {
        agent_pid = starter::kUnseen;
        if (ask_parents_agent(fd)) asked = Asked::started;
    }
    if (asked == Asked::silent)
        return give_up("rdam-starter, which starts the agents of this run, does not respond");
    if (asked == Asked::started) {
        globals.control->agent_pid.store(agent_pid == starter::kUnseen ? 0 : agent_pid);
        return true;
    }
    if (const std::uint32_t adopter = adopter_above(); adopter != 0) return give_up_to(adopter, asked);
    char path[4096];
    if (const long error = find_agent(path); sys::failed(error)) return give_up_agent(error, fork_child);
    // What this process makes stands where it does rather than where the run's starter is.
    const bool leaves_starter = globals.settings.values[settings::Id::children] != 0;
    if (spawn(path, fd, environment, leaves_starter ? choose_token() : 0)) return true;
    return give_up("cannot start rdam-agent: no process can be created here");
}

}  // namespace

bool connect_agent(bool fork_child) {
    const std::uint32_t chunks = chunk_count();
    const std::uint64_t size = shm::kChunksOffset + std::uint64_t{chunks} * shm::kChunkSize;
    const long fd = make_memory();
    if (fd == -EMFILE || fd == -ENFILE)
        return give_up("no descriptor is left for shared memory: raise ulimit -n");
    if (sys::failed(fd)) return give_up("cannot create shared memory (memfd_create)");
    const bool has_size = set_size(static_cast<int>(fd), size);
    void* memory = has_size ? map_shared(static_cast<int>(fd), size) : nullptr;
    if (memory == nullptr) {
        sys::call(SYS_close, fd);
        return give_up(has_size ? "cannot map the event buffers: make them smaller (--buffer, RDAM_BUFFER), "
                                  "or raise ulimit -v"
                                : "cannot create event buffers of this size: make them smaller (--buffer, "
                                  "RDAM_BUFFER), or raise ulimit -f");
    }
    globals.control = static_cast<shm::Control*>(memory);
    begin_own_copies(chunks);
    set_up_control(*globals.control, size, chunks, fork_child);
    const bool started = start_agent(static_cast<int>(fd), fork_child);
    sys::call(SYS_close, fd);
    leave_births();
    keep_from_children(memory, size);
    if (!started) return false;
    own_copies.agent_pid.store(globals.control->agent_pid.load());
    if (!wait_for_plan()) {
        if (globals.control->agent_futex.load() == shm::AgentState::refused) {
            take_first_reply(fork_child);
            return false;
        }
        return give_up("rdam-agent ended unexpectedly");
    }
    take_first_reply(fork_child);
    begin_births();
    return true;
}

bool ask_for_late_plan(std::uint32_t serial) {
    shm::Control& control = *globals.control;
    control.late_asked.store(serial);
    call_agent();
    for (;;) {
        const std::uint32_t answered = control.late_answered_futex.load();
        if (answered == serial) break;
        const long result = sys::futex_wait(&control.late_answered_futex, answered, kWaitMilliseconds);
        if (result < 0 && !agent_alive()) return false;
        control.late_asked.store(serial);
    }
    print_reply(serial);
    return true;
}

void wait_for_agent_end() {
    shm::Control& control = *globals.control;
    control.process_state.store(shm::ProcessState::ending);
    // The agent sees the end of the process, and says itself what there is to say.
    if (is_filtered()) return;
    call_agent();
    Progress progress(control);
    for (;;) {
        const shm::AgentState state = control.agent_futex.load();
        if (state == shm::AgentState::finished) break;
        const long result =
            sys::futex_wait(&control.agent_futex, static_cast<std::uint32_t>(state), kWaitMilliseconds);
        if (result < 0 && !agent_alive()) {
            // It may have finished in between.
            if (control.agent_futex.load() != shm::AgentState::finished && control.gave_up.load() == 0)
                say_killed();
            break;
        }
        if (result < 0) progress.waited();
        control.ended.store(own_copies.ended);
        control.process_state.store(shm::ProcessState::ending);
    }
    if (control.message_size <= sizeof control.message) say_lines(control.message, control.message_size);
}

}  // namespace rdam::probe
