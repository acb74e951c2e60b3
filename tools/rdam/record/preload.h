// librdam.so, and how the dynamic linker is told of it.
#pragma once

#include <string>

#include "tools/base/result.h"

namespace rdam {

/// librdam.so relative to this program: the build tree's, or the installed one's.
Result<std::string> find_library();

/// LD_PRELOAD splits at blanks and colons, and knows no way to quote them. A library with such a path is
/// reached by a link in a folder of its own, which is gone with this.
class PreloadLink {
  public:
    PreloadLink() = default;
    PreloadLink(const PreloadLink&) = delete;
    PreloadLink& operator=(const PreloadLink&) = delete;
    ~PreloadLink();

    /// A path of `library` that LD_PRELOAD can hold.
    Result<std::string> path_of(const std::string& library);

    /// For processes that outlive the run.
    void keep() { folder_.clear(); }

  private:
    std::string folder_;
};

/// The value of LD_PRELOAD: the recorder comes before what the user preloads, and AddressSanitizer's runtime
/// before everything.
std::string preloads(const std::string& library, const std::string& sanitizer);

}  // namespace rdam
