// What the screen says about one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/output/symbols.h"
#include "tools/rdam/screen/content.h"
#include "tools/rdam/screen/session.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {

enum class Tab : std::uint8_t { overview, sequences, threads, callers };
inline constexpr int kTabs = 4;

struct PageFacts {
    const screen::FunctionPage& page;
    const score::Report& report;
    const score::Settings& settings;
    output::Symbols& symbols;
};

/// How many bars the distribution is to have on a screen of that width.
std::size_t bars_for(std::size_t width);

/// The choices of the overview are `page.keys`; the other tabs have none.
Content page_content(const PageFacts& facts, Tab tab, std::size_t width);

// The parts of a function's page behind the first one.

// Each without its head. `width`: of the lines.
Content sequences_content(const PageFacts& facts, std::size_t width);
Content threads_content(const PageFacts& facts, std::size_t width);
Content callers_content(const PageFacts& facts, std::size_t width);

// A distribution of durations, drawn.

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
