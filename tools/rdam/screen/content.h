// What a view has to say, before it is known how much of it is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/output/symbols.h"
#include "analyzer/statistics/loss.h"
#include "tools/rdam/screen/text.h"
#include "tools/trace/event.h"

namespace rdam::screen {

/// The columns for the cursor in front of each line.
inline constexpr std::size_t kCursorWidth = 2;

struct Content {
    std::vector<Line> head;                 ///< stays on the screen, the most important line first
    Line columns = {};                      ///< above `lines`; stays too; empty: none
    std::vector<Line> lines = {};           ///< no wider than the screen less kCursorWidth
    std::vector<std::size_t> choices = {};  ///< the lines that the cursor can be on, in order
    bool follows_cursor = true;             ///< it is always to be seen; else what is read may be elsewhere
};

/// The position of the user in it.
struct Place {
    std::size_t cursor = 0;  ///< index into Content::choices
    std::size_t top = 0;     ///< the first line that is seen
};

/// Moves `place` back into a content that has changed; `height` lines of it are visible.
void settle(const Content& content, std::size_t height, Place& place);
/// By one choice, or by one line where the next choice is out of sight. `down`: −1 or 1.
void step(const Content& content, std::size_t height, int down, Place& place);
/// By as many lines as are seen, less one; SIZE_MAX: to the end.
void leap(const Content& content, std::size_t height, int down, std::size_t lines, Place& place);
/// The line of the cursor is seen.
bool sees_cursor(const Content& content, std::size_t height, const Place& place);
void show_cursor(const Content& content, std::size_t height, Place& place);

/// The last two lines of a screen.
struct Foot {
    Line status;
    std::vector<std::string> reminders;  ///< as many as fit are shown
    bool typing = false;                 ///< at the end of `status`
};

/// How many of `content.lines` are seen on a screen of that size.
std::size_t room(const Content& content, Size size);
/// `place` has been settled.
Frame compose(const Content& content, const Place& place, const Foot& foot, Size size);

/// A screen on which nothing can be shown.
inline constexpr Size kMin{40, 10};
bool is_too_small(Size size);
/// Says so, or what `question` asks, if there is one.
Frame too_small(Size size, const Line& question = {});

/// The same frame with a bar in place of its status.
Frame with_progress(Frame frame, double share, Size size);

// The smaller views: lists of one thing a line.

/// The choices are `ignored`.
Content ignored_content(const trace::TraceInfo& info, const std::vector<std::uint32_t>& ignored,
                        std::size_t width);

/// What can be chosen as the baseline; `present`, whatever it is, is among them.
std::vector<score::Baseline> baselines(const score::Baseline& present);
/// Index into baselines().
std::size_t place_of_present(const score::Baseline& present);
/// The choices are baselines().
Content baselines_content(const score::Baseline& present, std::size_t width);

/// The findings or the verdict, and who waits for whom.
Content findings_content(const hints::Analysis& analysis, output::Symbols& symbols, std::size_t width);

/// What threads did with their lives, those to look at first.
Content lives_content(const hints::Analysis& analysis, std::size_t width);

Content notes_content(const std::vector<std::string>& notes, std::size_t width);

/// All keys.
Content help_content(std::size_t width);

}  // namespace rdam::screen
