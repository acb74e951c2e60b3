#include <exception>
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
    } catch (const std::exception& error) {  // out of memory, a stream that broke: what libraries throw
        rdam::say(error.what());
        return rdam::kExitBadInput;
    }
}
