#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "tools/base/child_process.h"
#include "tools/rdam/command/python_module.h"
#include "tools/rdam/export/export.h"

namespace rdam {
namespace {

constexpr std::size_t kMaxPythonOutput = std::size_t{1} << 20U;

std::string last_line(std::string_view text) {
    while (!text.empty() && text.back() == '\n')
        text.remove_suffix(1);
    return std::string{text.substr(text.rfind('\n') + 1)};
}

Result<ChildOutput> run_python(const std::string& file, const std::vector<std::string>& arguments) {
    const auto module = find_python_module();
    if (!module) return tl::unexpected{module.error()};
    const char* before = std::getenv("PYTHONPATH");
    const std::string path =
        *module + (before != nullptr && *before != '\0' ? std::string{":"} + before : "");
    std::vector<std::string> command{python()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    // Modules that lie where the user works are none of ours.
    auto ran = run_child(command, {"PYTHONPATH=" + path, "PYTHONSAFEPATH=1", "PYTHONDONTWRITEBYTECODE=1"},
                         kMaxPythonOutput);
    if (ran) return ran;
    return fail(
        "{}: needs Python with pyarrow: {}; set RDAM_PYTHON to one, or give a directory instead of the file",
        file, ran.error().message);
}

}  // namespace

Result<void> check_parquet(const std::string& file) {
    const auto ran = run_python(file, {"-c", "import numpy, pyarrow.parquet"});
    if (!ran) return tl::unexpected{ran.error()};
    if (ran->exit_code == 0) return {};
    return fail(
        "{}: needs pyarrow and numpy, and {} does not have both ({}): 'pip install pyarrow numpy', set "
        "RDAM_PYTHON to another Python, or give a directory instead of the file",
        file, python(), last_line(ran->err));
}

Result<void> write_parquet(const std::string& columns, const std::string& file) {
    const auto ran = run_python(file, {"-m", "rdam.parquet", columns, file});
    if (!ran) return tl::unexpected{ran.error()};
    if (ran->exit_code != 0) return fail("{}: {}", file, last_line(ran->err));
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        return fail("{}: {} has not written it; name a Python 3 in RDAM_PYTHON", file, python());
    return {};
}

}  // namespace rdam
