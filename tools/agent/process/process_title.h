// What a process calls itself: many servers write over their command line what each of their processes is
// for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/agent/process/process_facts.h"

namespace rdam::agent {

/// Blanks and zeroes at its ends and the zeroes between its words taken away. `cmdline` as /proc/PID/cmdline.
std::string title_text(std::string cmdline);

/// The words with which both begin; all of `one` if there is none. What a process does at the moment
/// stands at the end of its title.
std::string common_title(const std::string& one, const std::string& other);

/// Not thread-safe.
class ProcessTitle {
  public:
    ProcessTitle(std::uint32_t pid, const std::vector<std::string>& command);

    /// Looks at what the process, which may have become another program or have gone, calls itself now; at
    /// most once a second, or at once.
    void look(bool at_once = false);

    /// The common part of all titles seen; empty: the process is named by its command line.
    const std::string& text() const { return text_; }

  private:
    std::uint32_t pid_;
    std::string command_;
    std::uint64_t stack_start_ = 0;
    std::uint64_t looked_ns_ = 0;
    std::string text_;
};

}  // namespace rdam::agent
