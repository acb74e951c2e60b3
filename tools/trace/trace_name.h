// The name of a trace: whether it may be written there, and which run holds the name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam::trace {

/// What exists at a path before a recording.
enum class Occupant {
    none,   ///< nothing, or an empty file
    trace,  ///< a trace, which may be replaced
    other,  ///< something else, which is never written to
};

/// Looks at the regular file behind `fd`. A file that cannot be read counts as another user's.
Occupant look_at_occupant(int fd);

/// In front of the part of a run's name that is in no trace.
inline constexpr char kSecretMark = '/';
bool has_secret(std::string_view run);
std::string_view without_secret(std::string_view run);

/// trace.bin → trace.PID.bin; for `number` above 1 trace.PID.NUMBER.bin.
std::string numbered_name(const std::string& path, unsigned pid, int number = 1);

/// trace.bin → trace-PID.bin: the name for a recording whose own name is taken. Neither recording looks for
/// its files among those of the other.
std::string name_beside(const std::string& path, unsigned pid);

/// A run's hold on the name of its trace: `.NAME.lock` beside it, locked by every process of the run that may
/// write or read the trace. The kernel releases the lock when they are gone, however they ended, so a file
/// left behind blocks nobody; the last process removes it. Not thread-safe.
///
/// The file is for its user alone. Where another user's stands there that is not known to be of the run, this
/// user's is `.NAME.UID.lock`, and if that is another user's as well there is no lock, which is no obstacle.
/// What other users' files say counts only if they have the name of the run, which is a secret between its
/// processes (`rdam record` draws it).
class NameLock {
  public:
    enum class State {
        held,
        taken,  ///< another run has it
        none,   ///< no lock can be made there: error()
    };

    NameLock() = default;
    /// `run` identifies the run; processes of one run share the name.
    NameLock(const std::string& path, std::string_view run);
    ~NameLock();
    NameLock(NameLock&& other) noexcept;
    NameLock& operator=(NameLock&& other) noexcept;
    NameLock(const NameLock&) = delete;
    NameLock& operator=(const NameLock&) = delete;

    State state() const { return state_; }
    int error() const { return error_; }  ///< an errno, of State::none; 0: a file of another user's

    /// Tells the other holders of the name that the recorder has been loaded into a process of the run: into
    /// the launcher of that file name, or (empty) into another program.
    void tell_loaded(std::string_view launcher);
    /// Tells them that a process has something to record.
    void tell_planned();
    /// Tells them that there are events. That takes no room on the disk, which may be full.
    void tell_events();
    /// Tells them why events are not in the trace. The first reason stays. False: it could not be written.
    bool tell_failure(std::string_view reason);
    /// Tells them that a recording inside the run has written the trace `path`. Paths for which there is no
    /// room are left out.
    void tell_inner(std::string_view path);
    /// Into what the recorder has been loaded, as far as processes could tell.
    struct Loaded {
        bool programs = false;  ///< which are no launchers
        std::string launchers;  ///< "sh, sudo"
    };
    Loaded loaded() const;
    bool has_plan() const;
    bool has_events() const;
    std::string failure() const;
    std::string inner() const;  ///< the paths of tell_inner(), one per line

    /// The first holder at the end: other users of the run have told something, too.
    void gather();
    /// The users that were found to belong to the run, this one included.
    const std::vector<unsigned>& users() const { return users_; }

  private:
    enum class Step { done, again, busy, others, foreign };
    void hold(std::string_view run);
    bool open_file();
    Step try_once(std::string_view run);
    Step enter(std::string_view run);
    Step join(std::string_view run);
    bool is_current() const;
    bool is_of(std::string_view run) const;
    void tell(std::size_t place);
    void close();
    void give_up(int error);

    std::string primary_;
    std::string file_;
    std::string run_;
    std::vector<unsigned> users_;
    int fd_ = -1;
    State state_ = State::none;
    int error_ = 0;
};

/// Whether a trace could be written at `path`, without writing one: Occupant::none or Occupant::trace. An
/// Error is one line with the reason and the remedy. `name` has tried to make a file beside it.
Result<Occupant> check_place(const std::string& path, const NameLock& name = {});

}  // namespace rdam::trace
