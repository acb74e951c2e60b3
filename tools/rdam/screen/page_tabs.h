// The parts of a function's page behind the first one.
#pragma once

#include <cstddef>

#include "tools/rdam/screen/page.h"

namespace rdam::screen {

// Each without its head. `width`: of the lines.
Content sequences_content(const PageFacts& facts, std::size_t width);
Content threads_content(const PageFacts& facts, std::size_t width);
Content callers_content(const PageFacts& facts, std::size_t width);

}  // namespace rdam::screen
