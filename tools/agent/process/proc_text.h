// Small files of the kernel's, read whole.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace rdam::agent {

/// "" where the file cannot be read.
inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Without its \n.
inline std::string first_line(const std::string& path) {
    const std::string text = contents(path);
    return text.substr(0, text.find('\n'));
}

}  // namespace rdam::agent
