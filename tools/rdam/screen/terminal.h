// The one place that knows curses.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "tools/base/result.h"
#include "tools/base/unmovable.h"
#include "tools/rdam/screen/keys.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {

/// Takes the whole terminal while it lives and gives it back as it was. One at a time; not thread-safe.
class Terminal : private Unmovable {
  public:
    /// Errors: standard input or output is no terminal, or one that cannot place its cursor.
    static Result<std::unique_ptr<Terminal>> open(bool color);
    ~Terminal();

    Size size() const;
    void draw(const Frame& frame);
    /// Waits a fraction of a second at most; nothing: no key was pressed, or a signal came.
    std::optional<Key> key();
    /// Whether the escape key has been pressed; other keys are kept for key().
    bool escape_pressed();
    /// The terminal is gone: no key will ever come.
    bool hung_up() const { return hung_up_; }

  private:
    struct Curses;
    explicit Terminal(std::unique_ptr<Curses> curses);
    /// Does not wait.
    std::optional<Key> typed();

    std::unique_ptr<Curses> curses_;
    std::deque<Key> kept_;
    bool hung_up_ = false;
};

}  // namespace rdam::screen
