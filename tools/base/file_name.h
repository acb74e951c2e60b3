// The last part of a path.
#pragma once

#include <string_view>

namespace rdam {

/// What follows the last '/'. It refers to `path`.
constexpr std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace rdam
