#include <exception>
#include <new>
#include <string>
#include <vector>

#include "tools/rdam/command/terminal.h"
#include "tools/rdam/command_line/command_line.h"
#include "tools/rdam/record/program.h"

int main(int argc, char** argv) {
    rdam::survive_file_limit();
    try {
        rdam::CommandLine command_line{argc > 0 ? argv[0] : ""};
        return command_line.run(argc > 1 ? std::vector<std::string>{argv + 1, argv + argc}
                                         : std::vector<std::string>{});
    } catch (const std::bad_alloc&) {
        std::string command = "rdam";
        for (int i = 1; i < argc; ++i)
            command.append(" ").append(argv[i]);
        rdam::say("`" + command + "` needs more memory than there is: run it on a larger machine");
        return rdam::kExitBadInput;
    } catch (const std::exception& error) {  // a stream that broke: what libraries throw
        rdam::say(error.what());
        return rdam::kExitBadInput;
    }
}
