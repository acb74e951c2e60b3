#include "tools/rdam/command/python_module.h"

#include <cstdlib>
#include <filesystem>

namespace rdam {

namespace fs = std::filesystem;

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

}  // namespace rdam
