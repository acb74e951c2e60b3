#include <sys/stat.h>

#include <filesystem>

#include "analyzer/settings/rules_text.h"
#include "tools/base/file_beside.h"
#include "tools/base/read_file.h"

namespace rdam::rules {
namespace {

constexpr const char* kHead = "# Rules for rdam analyze (man rdam-analyze). A # starts a comment.\n";

Result<std::string> text_of(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) return std::string{kHead};
    auto text = read_whole_file(path, kMaxBytes);
    if (!text)
        return fail("{}; rules can only be saved in a file that you may read and write",
                    text.error().message);
    return text;
}

Result<void> replace(const std::string& path, const std::string& text) {
    struct stat old = {};
    const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 0777U : mode_of_new_files();
    auto file = FileBeside::create(path);
    Result<void> done = file ? file->write(text) : tl::unexpected{file.error()};
    if (done) done = file->put_in_place(mode);
    if (done) return {};
    return fail("{}: cannot be written: {}; free some space there, or give another file with --rules", path,
                done.error().message);
}

}  // namespace

Result<void> write_rules(const std::string& path, const Rules& wanted) {
    // The file itself where `path` is a link to it.
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    const std::string file = error ? path : real.string();
    const auto before = text_of(file);
    if (!before) return tl::unexpected{before.error()};
    auto after = rewrite_rules(*before, wanted, path);
    if (!after) return tl::unexpected{after.error()};
    if (*after == *before && std::filesystem::exists(file, error)) return {};
    return replace(file, *after);
}

}  // namespace rdam::rules
