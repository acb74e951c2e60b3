// Small files of the kernel's, read whole.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace rdam::agent {

/// "" where the file cannot be read. A process's files fail to be read, not to be opened, when it ends in
/// between: then an iterator over the stream's buffer would throw.
inline std::string contents(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

/// Without its \n.
inline std::string first_line(const std::string& path) {
    const std::string text = contents(path);
    return text.substr(0, text.find('\n'));
}

}  // namespace rdam::agent
