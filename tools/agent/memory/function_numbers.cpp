#include "tools/agent/memory/function_numbers.h"

namespace rdam::agent {

std::optional<FunctionNumbers::Given> FunctionNumbers::give(std::uint32_t function) {
    if (end() < kAll) {
        const std::uint32_t fresh = end();
        set(fresh, function);
        return Given{.number = fresh, .anew = false};
    }
    // What was released may have been set since.
    while (taken_ < released_.size()) {
        const std::uint32_t number = released_[taken_++];
        if (functions_[number] != kNone) continue;
        set(number, function);
        return Given{.number = number, .anew = true};
    }
    released_.clear();
    taken_ = 0;
    return {};
}

void FunctionNumbers::set(std::uint32_t number, std::uint32_t function) {
    if (number >= functions_.size()) functions_.resize(number + 1, kNone);
    if (function >= numbers_.size()) numbers_.resize(function + 1, kNone);
    if (const std::uint32_t before = functions_[number]; before != kNone) numbers_[before] = kNone;
    functions_[number] = function;
    numbers_[function] = number;
}

void FunctionNumbers::release(std::uint32_t number) {
    if (const std::uint32_t before = function(number); before != kNone) numbers_[before] = kNone;
    functions_[number] = kNone;
    released_.push_back(number);
}

}  // namespace rdam::agent
