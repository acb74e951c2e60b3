#include "tools/agent/record_loop.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "libprobe/format/shared.h"
#include "tools/agent/chunks/trace_file.h"
#include "tools/agent/process/process_facts.h"
#include "tools/trace/event.h"

namespace rdam::agent {

namespace {

// The agent's progress after the program's end, for those who wait for it.

/// The agent's name in `ps` and /proc/PID/comm contains the percentage: `rdam-agent 40%`. Only the program,
/// which may be gone, knows the shared memory.
class EndProgress {
  public:
    /// All that is in the ring now is to be written.
    explicit EndProgress(const shm::Control& control);

    /// After something has been taken from the ring.
    void show();

  private:
    const shm::Control& control_;
    std::uint32_t from_;
    std::uint32_t all_;
    std::uint32_t shown_ = 0;  ///< percent
};

EndProgress::EndProgress(const shm::Control& control)
    : control_(control), from_(control.ring_head.load()), all_(control.ring_tail.load().value - from_) {}

void EndProgress::show() {
    if (all_ == 0) return;
    const std::uint64_t done = control_.ring_head.load() - from_;
    const auto percent = static_cast<std::uint32_t>(std::min<std::uint64_t>(done * 100 / all_, 100));
    if (percent == shown_) return;
    shown_ = percent;
    char name[16];
    std::snprintf(name, sizeof name, "rdam-agent %u%%", percent);
    prctl(PR_SET_NAME, name);
}

constexpr int kIdleMilliseconds = 100;
constexpr int kHeldMilliseconds = 10;

/// Before anything is read that the program has written since it became another user.
void follow(const Work& work) {
    constexpr const char* kStays = "rdam-agent keeps privileges that the program has given up";
    auto& remarks = work.info.remarks;
    if (!work.privileges.follow() && std::ranges::find(remarks, kStays) == remarks.end())
        remarks.emplace_back(kStays);
}

/// A thread waits, inside dlopen, and others may have all processors. `answered` is the last late request.
void answer_late_request(const Work& work, Recording& recording, std::uint32_t& answered) {
    shm::Control& control = work.shared.control();
    if (control.late_asked.load() != answered + 1) return;
    const std::uint32_t serial = answered + 1;
    auto change = work.shared.describe_change(serial);
    // Numbers of functions that go mean others afterwards.
    work.windows.describe(work.info, work.planning.numbers());
    // What was recorded before is about the objects that were there then.
    if (change && work.planning.replaces_objects(*change)) recording.chunks().take_told();
    std::vector<ProcessObject> added;
    const auto plan = [&] {
        if (change)
            added = work.planning.change(std::move(*change), serial,
                                         [&] { return recording.chunks().functions_left(); });
        else
            work.planning.refuse_change(serial);
    };
    if (work.priority_comes_back)
        plan();
    else
        work.priority_keeper.run(plan);
    if (!change) recording.note_damage();
    recording.translator().add_objects(added);
    for (const std::uint32_t number : work.planning.take_released())
        work.windows.forget(number);
    work.windows.add_functions(work.info, work.planning.numbers());
    answered = serial;
    control.late_answered_futex.store(answered);
    futex_wake(&control.late_answered_futex, INT_MAX);
}

/// Until there is work: `seen` is what work_futex was before we looked for it.
void sleep(shm::Control& control, std::uint32_t seen, int milliseconds, bool to_be_woken) {
    if (to_be_woken) control.agent_sleeps.store(1);
    if (control.work_futex.load() == seen) futex_wait(control.work_futex, seen, milliseconds);
    control.agent_sleeps.store(0);
}

/// Looks at what the program has handed over, until it ends.
void record_while_running(const Work& work, Recording& recording) {
    shm::Control& control = work.shared.control();
    std::uint32_t answered = 0;
    const auto ending = [&] {
        return work.watch.end() != End::none ||
               (control.process_state.load() == shm::ProcessState::ending && told_end(control) != 0);
    };
    for (;;) {
        const std::uint32_t seen = control.work_futex.load();
        follow(work);
        recording.chunks().tell_again();
        control.late_answered_futex.store(answered);
        recording.note_events();
        answer_late_request(work, recording, answered);
        work.switches.write(recording.file().writer());
        work.windows.describe(work.info, work.planning.numbers());
        work.windows.write(recording.file().writer());
        work.usage.note();
        work.title.look();
        work.channels.look(work.rate, work.info.functions);
        const bool waits = work.rationed && !work.priority_keeper.urgent();
        if (!ending() && !waits && recording.chunks().take_ring()) {
            recording.file().describe();
            continue;
        }
        const int idle = !waits && recording.chunks().look_again() ? kHeldMilliseconds : kIdleMilliseconds;
        if (ending()) return;
        sleep(control, seen, work.channels.milliseconds(idle), !waits);
    }
}

/// A program may clear its environment before it executes another.
void note_lost_preload(trace::TraceInfo& info) {
    if (lacks_preload(info.process.pid))
        info.remarks.push_back(
            fmt::format("{}{}, which is not recorded: it was started with an environment without the "
                        "recorder's LD_PRELOAD",
                        trace::kWentOn, program_name(info.process.pid)));
}

/// Ticks; 0: not known.
std::uint64_t end_of_recording(const Work& work) {
    if (work.watch.end() == End::replaced) return 0;
    const std::uint64_t told = told_end(work.shared.control());
    return told != 0 ? std::min(told, work.rate.now()) : work.rate.now();
}

}  // namespace

void record_until_end(const Work& work, Recording& recording) {
    record_while_running(work, recording);
    if (work.watch.end() == End::replaced) note_lost_preload(work.info);
    work.usage.program_ended();
    work.title.look(true);
    work.channels.look(work.rate, work.info.functions, true);
    work.info.process.title = work.title.text();
    EndProgress progress(work.shared.control());
    while (follow(work), recording.chunks().take_ring()) {
        recording.file().describe();
        progress.show();
    }
    follow(work);
    recording.chunks().take_rest(end_of_recording(work), work.watch.end() == End::none);
    work.switches.finish(recording.file().writer());
    work.windows.finish(recording.file().writer());
    work.windows.describe(work.info, work.planning.numbers());
    work.usage.note();
}

void Recording::WatchedFile::append(std::uint32_t thread, const trace::Packs& packs) {
    cost_.see(thread, packs);
    file_.append(thread, packs);
}

Recording::Recording(const SharedMemory& shared, const ProcessDescription& process, trace::TraceInfo& info,
                     const TickRate& rate, ThreadNumbers& numbers, std::string wanted, trace::NameLock& name)
    : shared_(shared),
      info_(info),
      file_(info, rate, std::move(wanted), name),
      cost_(shared, info),
      sink_(cost_, file_),
      translator_(shared, process, info, sink_),
      threads_(shared, process, numbers, info),
      chunks_(shared, threads_, translator_) {}

void Recording::note_events() {
    shm::Control& control = shared_.control();
    if (control.has_events.load() == 0 || control.file_futex.load() != 0) return;
    file_.open();
    control.file_futex.store(1);
    futex_wake(&control.file_futex, INT_MAX);
}

std::string Recording::finish(bool clean_end, bool tell_none) {
    info_.process.clean_end = clean_end;
    add_remarks(shared_.control(), damaged_ + chunks_.damaged() + translator_.damaged(), info_);
    std::string text = file_.finish();
    if (info_.dropped > 0 && file_.writer() != nullptr)
        text += fmt::format("rdam: {} events were dropped: {}\n", info_.dropped,
                            why_dropped(shared_.control().out_of_memory.load()));
    if (!translator_.any_calls() && tell_none)
        text += "rdam: no wrapped function was called: no trace was written\n";
    return text;
}

}  // namespace rdam::agent
