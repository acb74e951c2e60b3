#include "tools/rdam/screen/pages/keys.h"

#include <algorithm>

namespace rdam::screen {
namespace {

const std::vector<View>& everywhere() {
    static const std::vector<View> all{View::ranking,   View::page,  View::ignored,
                                       View::baselines, View::notes, View::help};
    return all;
}

const std::vector<View>& where_scores_are() {
    static const std::vector<View> views{View::ranking, View::page, View::ignored, View::notes};
    return views;
}

const std::vector<View>& where_rules_change() {
    static const std::vector<View> views{View::ranking, View::page, View::ignored, View::baselines,
                                         View::notes};
    return views;
}

const std::vector<View>& behind_others() {
    static const std::vector<View> views{View::page, View::ignored, View::baselines, View::notes, View::help};
    return views;
}

}  // namespace

std::span<const Binding> bindings() {
    static const std::vector<Binding> table{
        {Command::help, {'?'}, "?", "shows and hides the keys", "help", everywhere()},
        {Command::up, {kUp, 'k'}, "↑ k", "up", "", everywhere()},
        {Command::down, {kDown, 'j'}, "↓ j", "down", "", everywhere()},
        {Command::page_up, {kPageUp}, "page up", "up by a screen", "", everywhere()},
        {Command::page_down, {kPageDown}, "page down", "down by a screen", "", everywhere()},
        {Command::first, {kHome, 'g'}, "home g", "to the first line", "", everywhere()},
        {Command::last, {kEnd, 'G'}, "end G", "to the last line", "", everywhere()},
        {Command::open, {kEnter}, "enter", "opens the page of the function", "page", {View::ranking}},
        {Command::toggle,
         {' ', kEnter},
         "space enter",
         "makes what stands under the cursor a key, or drops it",
         "key",
         {View::page}},
        {Command::toggle,
         {' ', kEnter},
         "space enter",
         "in the list of ignored functions: brings it back",
         "bring back",
         {View::ignored}},
        {Command::open,
         {kEnter, ' '},
         "enter",
         "in the list of baselines: takes it",
         "take",
         {View::baselines}},
        {Command::next_tab,
         {kTab, kRight, 'l'},
         "tab → l",
         "overview, sequences, threads, callers",
         "more",
         {View::page}},
        {Command::previous_tab, {kLeft, 'h'}, "← h", "the same backwards", "", {View::page}},
        {Command::ignore,
         {'i'},
         "i",
         "ignores the function, as if it had not been recorded",
         "ignore",
         {View::ranking, View::page}},
        {Command::fold_loops,
         {'f'},
         "f",
         "folds loops, or unfolds them: how often a call is repeated makes no difference",
         "fold",
         where_scores_are()},
        {Command::deep_keys,
         {'d'},
         "d",
         "deep keys, or not: what inner calls are told apart by tells outer ones apart too",
         "",
         where_scores_are()},
        {Command::baseline,
         {'b'},
         "b",
         "what calls are compared with",
         "base",
         {View::ranking, View::page, View::notes}},
        {Command::threshold,
         {'t'},
         "t",
         "highlight functions that score at least this",
         "",
         where_scores_are()},
        {Command::undo, {'u'}, "u", "takes the last change back", "undo", where_rules_change()},
        {Command::save, {'w'}, "w", "writes the rules file", "save", where_rules_change()},
        {Command::filter, {'/'}, "/", "shows only functions with this in their name", "", {View::ranking}},
        {Command::sort, {'s'}, "s", "sorts by rank, lost time, occurrences or name", "", {View::ranking}},
        {Command::ignored,
         {'I'},
         "I",
         "lists the functions that are ignored",
         "",
         {View::ranking, View::page}},
        {Command::notes, {'n'}, "n", "what there is to know about the recording", "", {View::ranking}},
        {Command::back, {kEscape, 'q'}, "esc q", "back", "back", behind_others()},
        {Command::quit, {'q'}, "q", "ends the program", "quit", {View::ranking}},
        {Command::back, {kEscape}, "esc", "shows all functions again", "", {View::ranking}},
    };
    return table;
}

std::optional<Command> command_for(Key key, View view) {
    for (const Binding& binding : bindings()) {
        const bool here = std::ranges::find(binding.views, view) != binding.views.end();
        if (here && std::ranges::find(binding.keys, key) != binding.keys.end()) return binding.command;
    }
    return std::nullopt;
}

std::vector<std::string> reminders(View view) {
    std::vector<std::string> out;
    for (const Binding& binding : bindings()) {
        const bool here = std::ranges::find(binding.views, view) != binding.views.end();
        if (!here || binding.brief.empty()) continue;
        const std::string_view first = binding.names.substr(0, binding.names.find(' '));
        out.push_back(std::string{first} + " " + std::string{binding.brief});
    }
    return out;
}

std::string keys_in_words() {
    std::string out;
    for (const Binding& binding : bindings()) {
        if (!out.empty()) out += "; ";
        out.append(binding.names).append(": ").append(binding.text);
    }
    return out + ".";
}

}  // namespace rdam::screen
