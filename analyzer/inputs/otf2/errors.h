// What becomes of the OTF2 library's errors, which it prints otherwise.
#pragma once

#include <otf2/otf2.h>

#include "tools/base/unmovable.h"

namespace rdam::otf2 {

/// While it lives, the library prints nothing, and the first error of each thread is kept. One at a time.
class LibraryErrors : private Unmovable {
  public:
    LibraryErrors();
    ~LibraryErrors();

    /// The calling thread's first error; OTF2_SUCCESS: there was none.
    static OTF2_ErrorCode first();
    /// What one of the library's functions has returned; warnings do not count.
    static void note(OTF2_ErrorCode code);

  private:
    OTF2_ErrorCallback before_;
};

}  // namespace rdam::otf2
