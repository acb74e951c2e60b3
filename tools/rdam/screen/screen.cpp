#include "tools/rdam/screen/screen.h"

#include <optional>
#include <utility>

#include "analyzer/output/symbols.h"
#include "tools/base/interruption.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/terminal.h"

namespace rdam::screen {
namespace {

/// A bar over what was drawn last.
class ProgressBar {
  public:
    ProgressBar(Terminal& terminal, const Frame& below, std::uint64_t total)
        : terminal_(terminal), below_(below), total_(total) {}

    void update(std::uint64_t events) const {
        if (Interruption::came() || terminal_.escape_pressed()) throw Cancelled{};
        const double share = total_ > 0 ? static_cast<double>(events) / static_cast<double>(total_) : 1;
        terminal_.draw(with_progress(below_, share, terminal_.size()));
    }

  private:
    Terminal& terminal_;
    const Frame& below_;
    std::uint64_t total_;
};

void look_around(Terminal& terminal, Controller& controller, Frame& shown) {
    while (!controller.finished() && !Interruption::came() && !terminal.hung_up()) {
        shown = controller.frame(terminal.size());
        terminal.draw(shown);
        if (const auto key = terminal.key()) controller.press(*key);
    }
}

Result<void> run_in(Terminal& terminal, const trace::TraceReader& reader, const score::Settings& settings,
                    RulesPlace rules) {
    Frame shown{
        .lines = {line(printable(output::command_text(reader.info().process.command)), Look::strong)}};
    const ProgressBar bar{terminal, shown, reader.events()};
    bar.update(0);
    const auto symbols = output::make_symbols(reader.info());
    std::optional<output::SymbolsAhead> ahead;
    if (settings.jobs != 1) ahead.emplace(*symbols, reader.info());
    const auto session =
        screen::Session::open(reader, settings, [&](std::uint64_t events) { bar.update(events); });
    if (!session) return tl::unexpected{session.error()};
    ahead.reset();
    Controller controller{**session, *symbols, std::move(rules)};
    look_around(terminal, controller, shown);
    return {};
}

}  // namespace

Result<void> run(const trace::TraceReader& reader, const score::Settings& settings, RulesPlace rules,
                 bool color) {
    // Before the terminal, so that a signal ends the process when the terminal has been given back.
    const Interruption interruption;
    const auto terminal = Terminal::open(color);
    if (!terminal) return tl::unexpected{terminal.error()};
    try {
        return run_in(**terminal, reader, settings, std::move(rules));
    } catch (const Cancelled&) {  // at the first reading, without which there is nothing to be seen
        return {};
    }
}

}  // namespace rdam::screen
