#include "analyzer/inputs/paje/stacks.h"

#include <algorithm>
#include <utility>

namespace rdam::inputs::paje {

std::uint32_t StateStacks::add() {
    const auto number = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back({.thread = number, .pushed = {}, .given = {}});
    return number;
}

void StateStacks::take(std::uint32_t index, const StateEvent& event, std::span<const std::uint64_t> words) {
    Stack& stack = stacks_[index];
    if (sorted_) {
        stack.given.push_back(event);
        stack.given.back().words_at = given_words_.size();
        stack.given.back().words = static_cast<std::uint8_t>(words.size());
        given_words_.insert(given_words_.end(), words.begin(), words.end());
        return;
    }
    disordered_ = disordered_ || event.time < stack.last;
    stack.last = event.time;
    if (!disordered_) apply(stack, event, words);
}

void StateStacks::end_all(Stack& stack, std::uint64_t time) {
    ThreadBuilder& thread = builder_.thread(stack.thread);
    for (; !stack.pushed.empty(); stack.pushed.pop_back())
        thread.leave(time);
}

void StateStacks::apply(Stack& stack, const StateEvent& event, std::span<const std::uint64_t> words) {
    if (stack.ended) {
        if (event.change != Change::destroy) ++oddities_.too_late;
        return;
    }
    if (event.change == Change::destroy) stack.ended = true;
    ThreadBuilder& thread = builder_.thread(stack.thread);
    switch (event.change) {
        case Change::set:
            oddities_.never_popped +=
                static_cast<std::uint64_t>(std::count(stack.pushed.begin(), stack.pushed.end(), true));
            end_all(stack, event.time);
            thread.enter(event.time, event.function, words);
            stack.pushed.push_back(false);
            break;
        case Change::push:
            thread.enter(event.time, event.function, words);
            stack.pushed.push_back(true);
            break;
        case Change::pop:
            thread.leave(event.time);
            if (!stack.pushed.empty()) stack.pushed.pop_back();
            break;
        case Change::reset:
            end_all(stack, event.time);
            break;
        case Change::destroy:
            // What is open was cut off: as the shortest of its kind it would be what others are compared
            // with.
            stack.pushed = {};
            thread.release();
            break;
    }
}

void StateStacks::end(std::uint64_t time) {
    const auto earlier = [](const StateEvent& a, const StateEvent& b) { return a.time < b.time; };
    for (Stack& stack : stacks_) {
        std::stable_sort(stack.given.begin(), stack.given.end(), earlier);
        for (const StateEvent& event : stack.given)
            apply(stack, event, {given_words_.data() + event.words_at, event.words});
        stack.given = {};
        if (stack.ended || disordered_) continue;
        apply(stack, {.time = time, .change = Change::destroy}, {});
    }
}

}  // namespace rdam::inputs::paje
