#include "tools/rdam/command/python_module.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace rdam {

namespace fs = std::filesystem;

namespace {

/// Where a standard stream is closed, the next file that is opened would take its place. `rdam` itself has
/// what cannot be read or written there (main.cpp).
void open_standard_streams() {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; ++fd) {
        const int flags = fcntl(fd, F_GETFL);
        if (fd == null || flags < 0 || (flags & O_PATH) != 0) {
            dup2(null, fd);
            fcntl(fd, F_SETFD, 0);
        }
    }
}

/// As text. The program's words are not in it: they may be any bytes.
Result<std::string> text_of(const nlohmann::json& request) {
    try {
        return request.dump();
    } catch (const nlohmann::json::type_error&) {
        return fail("an option's value is no UTF-8: give it in UTF-8, or rename the file");
    }
}

// No variable of the environment, which programs that the module runs would get as well.
constexpr const char* kBegin = R"(
import sys
sys.path.insert(0, sys.argv[1])
module, command = sys.argv[3:5]
del sys.argv[3:5]
try:
    import runpy
    runpy.run_module(module, run_name="__main__")
except KeyboardInterrupt:
    print("rdam: interrupted", file=sys.stderr)
    sys.exit(130)
except ModuleNotFoundError as error:
    import os
    system = "/usr/bin/python3"  # for which Debian's packages are, whatever else is first in PATH
    if not os.environ.get("RDAM_PYTHON") and os.access(system, os.X_OK) and sys.executable != system:
        os.execv(system, [system, *sys.orig_argv[1:]])
    sys.exit(f"rdam: {error.name}, which rdam {command} needs, is missing in {sys.executable}: install it "
             f"(apt install python3-{error.name}, or pip install {error.name}), or name another Python in RDAM_PYTHON")
except ImportError as error:
    sys.exit(f"rdam: this Python cannot load what rdam {command} needs: {str(error).strip().splitlines()[-1]}; "
             f"install it again, or name another Python in RDAM_PYTHON")
)";

}  // namespace

std::string python() {
    const char* chosen = std::getenv("RDAM_PYTHON");
    return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

Result<std::string> find_python_module() {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    for (const fs::path& place :
         {own.parent_path() / "../python", own.parent_path() / ".." / RDAM_PYTHON_DIR}) {
        if (fs::exists(place / "rdam/parquet.py", error)) return place.lexically_normal().string();
    }
    return fail("the Python module rdam is not where {} expects it: install python3-rdam, or rdam again",
                own.string());
}

Result<int> become_python_module(std::string_view module, std::string_view command,
                                 const nlohmann::json& request, const std::vector<std::string>& words) {
    const auto text = text_of(request);
    if (!text) return tl::unexpected{text.error()};
    const auto place = find_python_module();
    if (!place) return tl::unexpected{place.error()};
    std::vector<std::string> all{
        python(), "-P", "-B", "-c", kBegin, *place, *text, std::string{module}, std::string{command}};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> pointers;
    pointers.reserve(all.size() + 1);
    for (std::string& word : all)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    open_standard_streams();
    execvp(pointers.front(), pointers.data());
    return fail("{}: cannot be run: {}; rdam {} needs Python 3.11 or later, which RDAM_PYTHON names",
                all.front(), std::strerror(errno), command);
}

}  // namespace rdam
