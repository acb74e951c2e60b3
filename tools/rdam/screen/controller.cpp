#include "tools/rdam/screen/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analyzer/output/comparison.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/notes.h"
#include "analyzer/settings/settings.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {
namespace {

/// What a file says already stays said, even where it is the default.
template <class T>
std::optional<T> said(const T& now, const T& by_default, const std::optional<T>& before) {
    if (now == by_default && !before) return std::nullopt;
    return now;
}

}  // namespace

rules::Rules wanted_rules(const screen::Session& session, const RulesPlace& place) {
    const score::Settings& settings = session.settings();
    const score::Settings plain;
    rules::Rules wanted = session.rules();
    wanted.deep_keys = said(settings.sequences.deep_keys, false, place.rules.deep_keys);
    wanted.fold_loops = said(settings.sequences.fold_loops, false, place.rules.fold_loops);
    wanted.baseline =
        said(score::to_text(settings.baseline), score::to_text(plain.baseline), place.rules.baseline);
    wanted.threshold = said(settings.threshold, plain.threshold, place.rules.threshold);
    return wanted;
}

bool would_replace_unread(const RulesPlace& place, const std::string& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return false;
    return !(place.in_force && std::filesystem::equivalent(file, place.file, error));
}

Result<void> save_rules(screen::Session& session, RulesPlace& place, const std::string& file) {
    rules::Rules wanted = wanted_rules(session, place);
    if (auto written = rules::write_rules(file, wanted); !written) return written;
    session.mark_saved();
    place = {.file = file, .in_force = true, .rules = std::move(wanted)};
    return {};
}

using screen::Effect;

Controller::Controller(screen::Session& session, output::Symbols& symbols, RulesPlace rules)
    : session_(session), symbols_(symbols), rules_(std::move(rules)) {
    // Later changes are to be seen at once.
    session_.analysis();
    say("? shows the keys");
}

void Controller::press(Key key) {
    if (key == kResized) return;
    if (asking_ != Asking::nothing) return reply(key);
    status_.clear();
    // Nobody sees what other keys would do.
    if (is_too_small(size_)) return key == 'q' ? go(Command::quit) : void();
    const auto command = command_for(key, view());
    if (!command || move(*command)) return;
    if (!change(*command)) go(*command);
    content_is_old_ = true;
}

void Controller::reply(Key key) {
    const Prompt::State state = prompt_.press(key);
    if (state == Prompt::State::open) return;
    if (state == Prompt::State::taken) {
        answer();
    } else {
        asking_ = Asking::nothing;
    }
    content_is_old_ = true;
}

Frame Controller::frame(Size size) {
    content_is_old_ = content_is_old_ || size.width != size_.width;
    size_ = size;
    if (is_too_small(size))
        return too_small(size, asking_ == Asking::nothing ? Line{} : prompt_.shown(size.width));
    const Content& now = content();
    settle(now, room(now, size), place());
    return compose(now, place(), foot(size.width), size);
}

const Content& Controller::content() {
    if (content_is_old_) {
        content_ = made_content();
        if (session_.has_unsaved_changes()) {
            constexpr std::string_view kUnsaved = " · unsaved";
            const std::size_t room = size_.width - std::min(columns(kUnsaved), size_.width);
            content_.head[0] = cut(content_.head[0], room);
            content_.head[0].push_back({.text = std::string{kUnsaved}, .look = Look::notable});
        }
    }
    content_is_old_ = false;
    return content_;
}

Content Controller::made_content() {
    switch (view()) {
        case View::page:
            if (load_page())
                return page_content({*page_, session_.report(), session_.settings(), symbols_}, tab_,
                                    size_.width);
            views_ = {View::ranking};
            break;
        case View::findings:
            return findings_content(session_.analysis(), symbols_, size_.width);
        case View::threads:
            return lives_content(session_.analysis(), size_.width);
        case View::ignored:
            return ignored_content(session_.info(), session_.ignored(), size_.width);
        case View::baselines:
            return baselines_content(session_.settings().baseline, size_.width);
        case View::notes:
            return notes_content(output::notes(session_.report(), symbols_), size_.width);
        case View::help:
            return help_content(size_.width);
        case View::ranking:
            break;
    }
    std::vector<std::string> findings;
    if (const hints::Analysis* known = session_.known_analysis()) {
        for (output::FindingText& text : output::finding_texts(*known, symbols_))
            findings.push_back(std::move(text.title));
        if (findings.empty()) findings.push_back(known->findings.verdict);
    } else {
        findings.emplace_back("F shows the findings with these settings");
    }
    const Facts facts{session_.report(),
                      session_.settings(),
                      session_.ignored().size(),
                      output::notes(session_.report(), symbols_).size(),
                      rules_.in_force ? rules_.file : "",
                      std::move(findings)};
    return ranking_content(facts, order_, filter_, size_.width);
}

Foot Controller::foot(std::size_t width) const {
    if (asking_ == Asking::nothing) return {.status = status_, .reminders = reminders(view())};
    std::vector<std::string> keys{"enter accepts", "esc cancels"};
    if (prompt_.is_question()) keys = {"y yes", "any other key no"};
    return {.status = prompt_.shown(width), .reminders = std::move(keys), .typing = true};
}

void Controller::go(Command command) {
    switch (command) {
        case Command::open:
            return open();
        case Command::next_tab:
        case Command::previous_tab: {
            const int by = command == Command::next_tab ? 1 : kTabs - 1;
            tab_ = static_cast<Tab>((static_cast<int>(tab_) + by) % kTabs);
            place().top = 0;
            return;
        }
        case Command::sort:
            order_ = next(order_);
            return say("sorted " + in_words(order_));
        case Command::filter:
            return ask(Asking::filter);
        case Command::threshold:
            return ask(Asking::threshold);
        case Command::save:
            return ask(Asking::file);
        case Command::baseline:
            enter(View::baselines);
            place().cursor = place_of_present(session_.settings().baseline);
            return;
        case Command::ignored:
            return enter(View::ignored);
        case Command::findings:
            return enter(View::findings);
        case Command::threads:
            return enter(View::threads);
        case Command::notes:
            return enter(View::notes);
        case Command::help:
            return view() == View::help ? leave() : enter(View::help);
        case Command::back:
            if (view() == View::ranking) filter_.clear();
            return leave();
        case Command::quit:
            if (session_.has_unsaved_changes()) return ask(Asking::quit);
            finished_ = true;
            return;
        default:
            return;
    }
}

bool Controller::move(Command command) {
    const Content& now = content();
    const std::size_t height = room(now, size_);
    switch (command) {
        case Command::up:
            step(now, height, -1, place());
            return true;
        case Command::down:
            step(now, height, 1, place());
            return true;
        case Command::page_up:
            leap(now, height, -1, height > 1 ? height - 1 : 1, place());
            return true;
        case Command::page_down:
            leap(now, height, 1, height > 1 ? height - 1 : 1, place());
            return true;
        case Command::first:
            leap(now, height, -1, SIZE_MAX, place());
            return true;
        case Command::last:
            leap(now, height, 1, SIZE_MAX, place());
            return true;
        default:
            return false;
    }
}

bool Controller::change(Command command) {
    const bool fold = !session_.settings().sequences.fold_loops;
    const bool deep = !session_.settings().sequences.deep_keys;
    const std::string last = session_.last_change();
    switch (command) {
        case Command::toggle:
            toggle();
            return true;
        case Command::ignore:
            ignore();
            return true;
        case Command::fold_loops:
            take(fold ? "loops are folded" : "loops are not folded",
                 [&] { return session_.set_fold_loops(fold); });
            return true;
        case Command::deep_keys:
            take(deep ? "keys are deep" : "keys are not deep", [&] { return session_.set_deep_keys(deep); });
            return true;
        case Command::undo:
            if (last.empty()) {
                say("nothing to undo");
            } else {
                take("undone: " + last, [&] { return session_.undo(); });
            }
            return true;
        default:
            return false;
    }
}

void Controller::enter(View view) {
    std::erase(views_, view);
    views_.push_back(view);
    place() = {};
}

void Controller::leave() {
    if (views_.size() > 1) views_.pop_back();
}

void Controller::open() {
    if (view() == View::baselines) {
        const score::Baseline chosen = baselines(session_.settings().baseline)[place().cursor];
        leave();
        take("calls are compared with " + output::baseline_in_words(chosen),
             [&] { return session_.set_baseline(chosen); });
        return;
    }
    const auto function = function_under_cursor();
    if (!function) return;
    function_ = *function;
    page_.reset();
    tab_ = Tab::overview;
    enter(View::page);
}

void Controller::toggle() {
    if (view() == View::ignored) {
        const auto function = function_under_cursor();
        if (!function) return say("no function is ignored");
        return take(name_of(*function) + " is no longer ignored",
                    [&] { return session_.set_ignored(*function, false); });
    }
    const Content& now = content();
    if (now.choices.empty() || !page_) return say("set keys in the overview: tab");
    if (!sees_cursor(now, room(now, size_), place())) {
        show_cursor(now, room(now, size_), place());
        return say("press again to choose this one");
    }
    const screen::KeyChoice key = page_->keys[place().cursor];
    take(name_of(function_) + ":" + printable(key.name) + (key.is_key ? " is no key" : " is a key"),
         [&] { return session_.set_key(function_, key.parameter, !key.is_key); });
}

void Controller::ignore() {
    const auto function = function_under_cursor();
    if (!function) return;
    take(name_of(*function) + " is ignored", [&] { return session_.set_ignored(*function, true); });
}

void Controller::ask(Asking what) {
    asking_ = what;
    if (what == Asking::filter) prompt_ = Prompt::for_text("functions with", filter_);
    if (what == Asking::threshold)
        prompt_ = Prompt::for_text("highlight scores from", fmt::format("{}", session_.settings().threshold));
    if (what == Asking::file) prompt_ = Prompt::for_text("write the rules to", rules_.file);
    if (what == Asking::replace)
        prompt_ = Prompt::for_yes(printable(file_) + " exists and was not read: replace its rules?");
    if (what == Asking::quit) prompt_ = Prompt::for_yes("Quit without saving the rules?");
}

void Controller::answer() {
    const Asking what = std::exchange(asking_, Asking::nothing);
    const std::string& text = prompt_.text();
    if (what == Asking::filter) {
        filter_ = text;
        place() = {};
    }
    if (what == Asking::threshold) {
        double value = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value <= 1))
            return say("a score is a number from 0 to 1", Look::alarming);
        take(fmt::format("highlighting scores from {}", value),
             [&] { return session_.set_threshold(value); });
    }
    if (what == Asking::file && !text.empty()) {
        file_ = text;
        if (would_replace_unread(rules_, file_)) return ask(Asking::replace);
        save(file_);
    }
    if (what == Asking::replace) save(file_);
    if (what == Asking::quit) finished_ = true;
}

void Controller::save(const std::string& file) {
    if (auto saved = save_rules(session_, rules_, file); !saved)
        return say(printable(saved.error().message), Look::alarming);
    say("written: " + printable(file));
}

template <class Take>
void Controller::take(std::string what, const Take& take) try {
    const auto ranked_there = ranked_under_cursor();
    const auto begin = std::chrono::steady_clock::now();
    const Step effect = take();
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
    if (!effect) return say(printable(effect.error().message), Look::alarming);
    if (*effect == Effect::nothing) return say("nothing changes: " + what);
    after_step();
    if (ranked_there) {
        const auto rows = ranked(session_.report(), order_, filter_);
        const auto at = std::ranges::find(rows, *ranked_there, &score::FunctionRow::function);
        if (at != rows.end())
            places_[static_cast<std::size_t>(View::ranking)].cursor =
                static_cast<std::size_t>(at - rows.begin());
    }
    const char* how = *effect == Effect::reread ? "read the trace again in" : "rescored in";
    say(fmt::format("{}: {} {}", what, how, output::human_time(passed.count())));
} catch (const Cancelled&) {
    say("unchanged: the trace was not read to its end", Look::notable);
}

/// What is gone has no page.
void Controller::after_step() {
    page_.reset();
    if (row_of(function_) == nullptr) std::erase(views_, View::page);
}

void Controller::say(std::string text, Look look) {
    status_ = line(std::move(text), look);
}

std::optional<std::uint32_t> Controller::function_under_cursor() {
    if (view() == View::page) return function_;
    const std::size_t at = place().cursor;
    if (view() == View::ignored) {
        const auto functions = session_.ignored();
        return at < functions.size() ? std::optional{functions[at]} : std::nullopt;
    }
    return ranked_under_cursor();
}

std::optional<std::uint32_t> Controller::ranked_under_cursor() const {
    const std::size_t at = places_[static_cast<std::size_t>(View::ranking)].cursor;
    const auto rows = ranked(session_.report(), order_, filter_);
    return at < rows.size() ? std::optional{rows[at]->function} : std::nullopt;
}

const score::FunctionRow* Controller::row_of(std::uint32_t function) const {
    const auto& rows = session_.report().functions;
    const auto at = std::ranges::find(rows, function, &score::FunctionRow::function);
    return at == rows.end() ? nullptr : &*at;
}

bool Controller::load_page() {
    const std::size_t bars = bars_for(size_.width);
    if (page_ && page_bars_ == bars) return true;
    auto page = session_.page(function_, bars);
    if (!page) {
        say(printable(page.error().message), Look::alarming);
        return false;
    }
    page_ = std::move(*page);
    page_bars_ = bars;
    return true;
}

std::string Controller::name_of(std::uint32_t function) const {
    return printable(session_.info().functions[function].name);
}

}  // namespace rdam::screen
