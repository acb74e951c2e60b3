#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "analyzer/rules/rules_text.h"
#include "wrappers/support/read_file.h"

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

tl::unexpected<Error> cannot_write(const std::string& path) {
    return fail("{}: cannot be written: {}; free some space there, or give another file with --rules", path,
                std::strerror(errno));
}

mode_t current_mask() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
}

/// Beside `path`, so that a rename puts it there.
Result<void> replace(const std::string& path, const std::string& text) {
    std::string beside = path + ".XXXXXX";
    const int descriptor = ::mkstemp(beside.data());
    if (descriptor < 0) return cannot_write(path);
    struct stat old = {};
    const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 0777U : 0666U & ~current_mask();
    std::FILE* file = ::fdopen(descriptor, "w");
    bool done = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    done = done && ::fchmod(descriptor, mode) == 0;
    done = (file != nullptr ? std::fclose(file) : ::close(descriptor)) == 0 && done;
    if (done && std::rename(beside.c_str(), path.c_str()) == 0) return {};
    const int why = errno;
    ::unlink(beside.c_str());
    errno = why;
    return cannot_write(path);
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
