#include "wrappers/support/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace rdam {

Result<int> open_temporary_file(std::string_view purpose) {
    const char* chosen = std::getenv("TMPDIR");
    const std::string folder = chosen != nullptr && *chosen != 0 ? chosen : "/tmp";
    std::string path = fmt::format("{}/rdam-{}.XXXXXX", folder, purpose);
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0)
        return fail(
            "cannot write to {}, the directory for temporary files: {}; give one that can be with TMPDIR",
            folder, std::strerror(errno));
    unlink(path.c_str());
    return fd;
}

}  // namespace rdam
