// A line of text that is typed, or a question that is answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/rdam/screen/keys.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {

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
