// A distribution of durations, drawn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/rdam/screen/session.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {

/// A place on the axis of durations.
struct Mark {
    std::string name;
    double at_ns = 0;
};

/// Upright bars, one column for each of `bars`, `height` lines high; under them an axis, and the names of
/// the marks on one line or two, those that fit, the first ones first.
std::vector<Line> drawn(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks,
                        std::size_t height);

}  // namespace rdam::screen
