// Texts as files, for readers of files.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

#include "tests/unit/temporary_folder.h"

namespace rdam::test {

/// A file with this content, in a folder of its own.
class TextFile {
  public:
    explicit TextFile(std::string_view content) : path_(folder_.file("file")) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    const std::string& path() const { return path_; }

  private:
    TemporaryFolder folder_;
    std::string path_;
};

}  // namespace rdam::test
