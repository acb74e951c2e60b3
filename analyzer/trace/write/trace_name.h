// The name of a trace: whether it may be written there, and which run holds the name.
#pragma once

#include <string>
#include <string_view>

#include "wrappers/support/result.h"

namespace rdam::trace {

/// What stands at a path before a recording.
enum class Occupant {
    none,   ///< nothing, or an empty file
    trace,  ///< a trace, which may be replaced
    other,  ///< something else, which is never written to
};

/// The regular file behind `fd`. One that cannot be read is somebody else's.
Occupant look_at_occupant(int fd);

/// trace.bin → trace.PID.bin; for `number` above 1 trace.PID.NUMBER.bin.
std::string numbered_name(const std::string& path, unsigned pid, int number = 1);

/// trace.bin → trace-PID.bin: that of a recording for which the name is taken. The files of neither are
/// looked for among those of the other.
std::string name_beside(const std::string& path, unsigned pid);

/// A run's hold on the name of its trace: `.NAME.lock` beside it, locked by every process of the run that
/// may write or read the trace. The kernel frees it when they are gone, however they went, so that a file
/// that was left behind is in nobody's way; the last one removes it. Not thread-safe.
class NameLock {
  public:
    enum class State {
        held,
        taken,  ///< another run has it
        none,   ///< no lock can be made there: error()
    };

    NameLock() = default;
    /// `run` tells runs apart; processes of one run share the name.
    NameLock(const std::string& path, std::string_view run);
    ~NameLock();
    NameLock(NameLock&& other) noexcept;
    NameLock& operator=(NameLock&& other) noexcept;
    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;

    State state() const { return state_; }
    int error() const { return error_; }  ///< an errno, of State::none

    /// For whoever else holds the name: a process of the run has something to record.
    void tell_planned();
    /// … there are events. It takes no room on the disk, which may be full.
    void tell_events();
    /// … and why they are not in the trace. The first reason stays. False: nobody can be told.
    bool tell_failure(std::string_view reason);
    /// … and that a recording inside the run has written the trace `path`. Those for which there is no room
    /// are left out.
    void tell_inner(std::string_view path);
    bool has_plan() const;
    bool has_events() const;
    std::string failure() const;
    std::string inner() const;  ///< what was told, one path a line

  private:
    enum class Step { done, again, busy, others };
    Step try_once(std::string_view run);
    Step enter(std::string_view run);
    Step join(std::string_view run);
    bool is_current() const;
    bool is_of(std::string_view run) const;
    void close();
    void give_up(int error);

    std::string file_;
    int fd_ = -1;
    State state_ = State::none;
    int error_ = 0;
};

/// Whether a trace could be written at `path`, without writing one: Occupant::none or Occupant::trace. An
/// Error is one line with the reason and the remedy. `name` has tried to make a file beside it.
Result<Occupant> check_place(const std::string& path, const NameLock& name = {});

}  // namespace rdam::trace
