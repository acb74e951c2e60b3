#include "tools/agent/process/spare_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace rdam::agent {
namespace {

constexpr std::size_t kNeeded = 8;

}  // namespace

SpareDescriptors::SpareDescriptors() {
    while (taken_.size() < kNeeded) {
        const int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
        if (fd < 0) return;
        taken_.push_back(fd);
    }
}

SpareDescriptors::~SpareDescriptors() {
    for (const int fd : taken_)
        close(fd);
}

bool SpareDescriptors::enough() const {
    return taken_.size() == kNeeded;
}

}  // namespace rdam::agent
