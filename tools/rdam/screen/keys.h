// What each key does on each page: one table for the input, for the help on the screen and for the
// documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/rdam/screen/text.h"

namespace rdam::screen {

/// A character, or one of these, which are none.
using Key = char32_t;
inline constexpr Key kUp = 0x110000, kDown = 0x110001, kLeft = 0x110002, kRight = 0x110003,
                     kPageUp = 0x110004, kPageDown = 0x110005, kHome = 0x110006, kEnd = 0x110007,
                     kResized = 0x110008, kOther = 0x110009;
inline constexpr Key kEnter = '\n', kEscape = 0x1b, kBackspace = 0x08, kDelete = 0x7f, kTab = '\t';

enum class View : std::uint8_t { ranking, page, findings, threads, ignored, baselines, notes, help };
inline constexpr std::size_t kViews = 8;

enum class Command : std::uint8_t {
    up,
    down,
    page_up,
    page_down,
    first,
    last,
    open,
    toggle,
    next_tab,
    previous_tab,
    ignore,
    filter,
    sort,
    fold_loops,
    deep_keys,
    baseline,
    threshold,
    ignored,
    findings,
    threads,
    notes,
    undo,
    save,
    help,
    back,
    quit
};

struct Binding {
    Command command;
    std::vector<Key> keys;
    std::string_view names;  ///< of the keys, for people
    std::string_view text;   ///< what it does
    std::string_view brief;  ///< the same for the last line of the screen; empty: not there
    std::vector<View> views;
};

/// In the order in which they are explained. No key means two things in one view.
std::span<const Binding> bindings();

/// What the key does in that view; nothing: nothing.
std::optional<Command> command_for(Key key, View view);

/// `enter page`, `i ignore`, … in that view.
std::vector<std::string> reminders(View view);

/// A paragraph that names them all, for the manual page.
std::string keys_in_words();

// A line of text that is typed, or a question that is answered.

class Prompt {
  public:
    enum class State : std::uint8_t { open, taken, dropped };

    /// For text, with `text` as what is taken unless something is typed: the first character replaces it, the
    /// keys that move or delete edit it.
    static Prompt for_text(std::string question, std::string text);
    /// For yes or no: taken is yes.
    static Prompt for_yes(std::string question);

    State press(Key key);
    const std::string& text() const { return text_; }
    bool is_question() const { return is_question_; }
    /// The end of the text where not all of it fits.
    Line shown(std::size_t width) const;

  private:
    std::string question_;
    std::string text_;
    bool is_offered_ = false;  ///< nothing has been typed: the text is the one offered
    bool is_question_ = false;
};

}  // namespace rdam::screen
