// What a program that is run more than once reads from standard input and prints to standard output.
#pragma once

#include <sys/types.h>

#include "tools/base/files.h"
#include "tools/base/result.h"
#include "tools/base/unmovable.h"

namespace rdam {

/// Standard input that every run reads alike: a file from the same place on; a pipe or a socket as a pipe,
/// from what an unnamed file in $TMPDIR has kept of it. A terminal and other devices are what they are.
class RepeatedInput {
  public:
    /// Error: there is nowhere to keep a pipe.
    static Result<RepeatedInput> create();
    RepeatedInput(RepeatedInput&& other) noexcept = default;
    RepeatedInput& operator=(RepeatedInput&&) = delete;
    RepeatedInput(const RepeatedInput&) = delete;
    RepeatedInput& operator=(const RepeatedInput&) = delete;
    ~RepeatedInput() { end_run(); }

    bool is_kept() const { return kept_.get() >= 0; }

    /// From here to end_run(), standard input of this process and of what it starts begins anew. `is_last`:
    /// nothing more is kept.
    Result<void> begin_run(bool is_last);
    void end_run();
    /// Whether another run can read all that the ones before it have read.
    Result<void> is_whole() const;

  private:
    RepeatedInput() = default;

    off_t begin_ = -1;     // of a file; -1: it is none
    Descriptor kept_;      // none: it is no pipe
    off_t limit_ = 0;      // of what is kept
    bool at_end_ = false;  // all that there is has been kept
    int failure_ = 0;      // an errno; 0: all that was read has been kept
    Descriptor source_;    // standard input, while a run reads something else
    Descriptor feeds_;     // the process that feeds the run ends when this is closed
    pid_t feeder_ = 0;
};

/// What is printed to standard output is dropped as long as this lives, unless that is a terminal.
class DroppedOutput : private Unmovable {
  public:
    DroppedOutput();
    ~DroppedOutput();
    static bool drops();

  private:
    Descriptor before_;
};

}  // namespace rdam
