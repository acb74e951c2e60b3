// File descriptors that are closed when their owner is gone, and all of what is read from or written to one.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "tools/base/result.h"

namespace rdam {

class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return fd_; }  ///< below 0: none
    /// False: what was written last may be lost (errno).
    bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

  private:
    int fd_;
};

/// Writes all of it. Errors are what the system says.
Result<void> write_all(int fd, std::string_view bytes);

/// False: there are fewer bytes, or they cannot be read.
bool read_all(int fd, void* data, std::size_t size);

}  // namespace rdam
