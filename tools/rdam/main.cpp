#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "tools/base/printable.h"
#include "tools/rdam/command/command_line.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/program.h"

namespace {

/// Made before there is no memory left for it.
std::string& out_of_memory() {
    static std::string text;
    return text;
}

[[noreturn]] void tell_out_of_memory() {
    // Several threads may be out of memory at once.
    static std::atomic_flag told;
    if (told.test_and_set())
        for (;;)
            pause();
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, out_of_memory().data(), out_of_memory().size());
    _exit(rdam::kExitBadInput);
}

/// What threads throw ends up here.
[[noreturn]] void end_badly() {
    try {
        if (const auto problem = std::current_exception()) std::rethrow_exception(problem);
    } catch (const std::bad_alloc&) {
        tell_out_of_memory();
    } catch (const std::system_error& error) {
        // There is no room for the stack of one more thread.
        if (error.code() == std::errc::resource_unavailable_try_again) tell_out_of_memory();
    } catch (...) {  // NOLINT(bugprone-empty-catch): it aborts
    }
    std::abort();
}

/// What we open is not to stand in the place of a standard stream that is closed. The program finds it
/// closed; so do we: it cannot be read or written.
void fill_standard_streams() {
    int fd = 0;
    do
        fd = open("/dev/null", O_PATH | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
    fill_standard_streams();
    rdam::survive_file_limit();
    std::string command = "rdam";
    for (int i = 1; i < argc; ++i)
        command.append(" ").append(argv[i]);
    out_of_memory() = "rdam: `" + rdam::printable(command) +
                      "` needs more memory than there is: run it on a larger machine\n";
    std::set_terminate(end_badly);
    try {
        rdam::CommandLine command_line{argc > 0 ? argv[0] : ""};
        return command_line.run(argc > 1 ? std::vector<std::string>{argv + 1, argv + argc}
                                         : std::vector<std::string>{});
    } catch (const std::bad_alloc&) {
        tell_out_of_memory();
    } catch (const std::exception& error) {  // a stream that broke: what libraries throw
        rdam::say(error.what());
        return rdam::kExitBadInput;
    }
}
