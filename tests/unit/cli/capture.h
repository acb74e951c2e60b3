// What a piece of code writes to stdout and stderr.
#pragma once

#include <functional>
#include <string>

namespace rdam::test {

struct Captured {
    int code = 0;
    std::string out;
    std::string err;
};

/// Runs `code` with both streams sent to files. Not thread-safe.
Captured capture(const std::function<int()>& code);

}  // namespace rdam::test
