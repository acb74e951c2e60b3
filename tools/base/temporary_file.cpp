#include "tools/base/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace rdam {
namespace {

std::string folder_for_temporary_files() {
    const char* chosen = std::getenv("TMPDIR");
    return chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
}

tl::unexpected<Error> cannot_be_written() {
    return fail("cannot write to {}, the directory for temporary files: {}; give one that can be with TMPDIR",
                folder_for_temporary_files(), std::strerror(errno));
}

}  // namespace

Result<int> open_temporary_file(std::string_view purpose) {
    std::string path = fmt::format("{}/rdam-{}.XXXXXX", folder_for_temporary_files(), purpose);
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) return cannot_be_written();
    unlink(path.c_str());
    return fd;
}

Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
    std::string path = fmt::format("{}/rdam-{}.XXXXXX", folder_for_temporary_files(), purpose);
    if (mkdtemp(path.data()) == nullptr) return cannot_be_written();
    return TemporaryFolder{std::move(path)};
}

Result<TemporaryFolder> TemporaryFolder::beside(const std::string& place) {
    std::string path = place + ".XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
        return fail("{}: cannot be written: {}; give a path in a directory that you may write to", place,
                    std::strerror(errno));
    return TemporaryFolder{std::move(path)};
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace rdam
