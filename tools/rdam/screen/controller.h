// What each key does to the session and the view of it, and the rules that are saved. It knows no terminal: keys in,
// frames out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/output/symbols.h"
#include "analyzer/settings/rules.h"
#include "tools/base/result.h"
#include "tools/rdam/screen/content.h"
#include "tools/rdam/screen/keys.h"
#include "tools/rdam/screen/page.h"
#include "tools/rdam/screen/ranking.h"
#include "tools/rdam/screen/session.h"

namespace rdam::screen {

/// Where rules are kept.
struct RulesPlace {
    std::string file;         ///< that is proposed
    bool in_force = false;    ///< what it says is what the session began with
    rules::Rules rules = {};  ///< that, if so
};

/// What a rules file has to say for the next analysis to give these scores.
rules::Rules wanted_rules(const screen::Session& session, const RulesPlace& place);

/// Whether there is a file whose content has not been read.
bool would_replace_unread(const RulesPlace& place, const std::string& file);

/// From then on `file` is the one in force.
Result<void> save_rules(screen::Session& session, RulesPlace& place, const std::string& file);

/// Thrown through the session by the progress display: the user does not want to wait any longer.
struct Cancelled {};

/// Not thread-safe. What it is made from must outlive it.
class Controller {
  public:
    Controller(screen::Session& session, output::Symbols& symbols, RulesPlace rules);

    void press(Key key);
    /// What is to be seen now; keys that move by a screen mean one of this size from then on.
    Frame frame(Size size);
    /// Somebody has ended the program.
    bool finished() const { return finished_; }

  private:
    enum class Asking : std::uint8_t { nothing, filter, threshold, file, replace, quit };

    View view() const { return views_.back(); }
    Place& place() { return places_[static_cast<std::size_t>(view())]; }
    /// The content of the current view; valid until something changes.
    const Content& content();
    Content made_content();
    Foot foot(std::size_t width) const;

    // What a command does; of the first two false: it is none of that kind.
    bool move(Command command);
    bool change(Command command);
    void go(Command command);

    void reply(Key key);
    void enter(View view);
    void leave();
    void open();
    void toggle();
    void ignore();
    void ask(Asking what);
    void answer();
    void save(const std::string& file);

    using Step = Result<screen::Effect>;
    /// Takes a step and says what came of it; `what` is now so.
    template <class Take>
    void take(std::string what, const Take& take);
    void after_step();
    void say(std::string text, Look look = Look::plain);

    std::optional<std::uint32_t> function_under_cursor();
    std::optional<std::uint32_t> ranked_under_cursor() const;  ///< whatever the view is
    const score::FunctionRow* row_of(std::uint32_t function) const;
    /// False: there is none, which has been said.
    bool load_page();
    std::string name_of(std::uint32_t function) const;

    screen::Session& session_;
    output::Symbols& symbols_;
    RulesPlace rules_;
    Size size_ = {};
    std::vector<View> views_{View::ranking};
    Place places_[kViews] = {};  // by View
    Order order_ = Order::score;
    std::string filter_;
    Tab tab_ = Tab::overview;
    std::uint32_t function_ = 0;  // of the page
    std::optional<screen::FunctionPage> page_;
    std::size_t page_bars_ = 0;
    Asking asking_ = Asking::nothing;
    Prompt prompt_ = Prompt::for_yes({});
    std::string file_;  // that is to be written
    Line status_;
    Content content_;
    bool content_is_old_ = true;
    bool finished_ = false;
};

}  // namespace rdam::screen
