// Finding, judging, starting and awaiting the program that `rdam record` runs.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/base/result.h"
#include "tools/base/unmovable.h"

namespace rdam {

struct Program {
    std::string path;                    ///< as execve gets it
    std::vector<std::string> arguments;  ///< with the name first, as typed
    std::string sanitizer;               ///< ExecutableFacts::sanitizer
    bool starts_others = false;  ///< a script, a shell, env, mpirun, …: what is recorded is what it starts
    std::string judged;          ///< the file whose code runs: a script's interpreter, what ld.so is given
    bool is_script = false;
    std::string strips;  ///< what a launcher (sudo) does, so that what it starts is not recorded; empty: it
                         ///< does not
    bool alone = false;  ///< no other process is recorded, and no launcher
    std::uint32_t starter = 0;  ///< the token of the run's starter; 0: none
};

/// The file that a shell would start by this name; empty: there is none.
std::string find_in_path(const std::string& name);

/// The file of this very program.
Result<std::string> own_path();

/// Looks `arguments[0]` up in PATH as a shell does, and refuses what cannot be recorded: a file that does not
/// exist or is no program; static, 32-bit, set-user-ID and Go programs, and those of another C library. A
/// dynamic linker is judged by the program among its arguments.
Result<Program> find_program(std::vector<std::string> arguments);

/// From here on, writing beyond `ulimit -f` is an error with a message, and does not end the process
/// (SIGXFSZ). The program of run_program() is left with the signal as it was.
void survive_file_limit();

struct ProgramEnd {
    int status = 0;  ///< the exit status; 128 + the signal's number when one ended it
    int signal = 0;  ///< that signal, unless a message has said why
};

/// "SIGSEGV (Segmentation fault)".
std::string signal_text(int signal);

/// Runs it with these variables set, waits, and returns how it ended. Meanwhile the terminal's interrupt and
/// quit, and SIGUSR1, SIGUSR2 and SIGALRM, are the program's business, and SIGTERM and SIGHUP are passed on
/// to it.
Result<ProgramEnd> run_program(const Program& program,
                               const std::vector<std::pair<std::string, std::string>>& variables);

/// Runs another program with the signals of the user, and waits.
Result<ProgramEnd> run_tool(std::string path, std::vector<std::string> arguments);

/// This very program, with other arguments (without its name).
Result<ProgramEnd> run_rdam(std::vector<std::string> arguments);

/// run_program() ignores what the terminal sends. Who goes on behind it gets it again when this goes.
class Signals : private Unmovable {
  public:
    Signals();
    ~Signals();

  private:
    static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGHUP};
    std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace rdam
