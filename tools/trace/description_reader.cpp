#include "tools/trace/description_reader.h"

#include <algorithm>
#include <utility>

#include "tools/trace/message_reader.h"

namespace rdam::trace {
namespace {

/// Parameters that point at words which are not recorded are left out.
void keep_in_range(std::vector<ParameterInfo>& parameters, std::uint16_t words) {
    std::erase_if(parameters,
                  [words](const ParameterInfo& each) { return each.word >= words || each.size > 8; });
}

/// One for each function, rising.
void put_in_order(std::vector<CallCount>& calls) {
    std::ranges::stable_sort(calls, {}, &CallCount::function);
    const auto same = [](const CallCount& a, const CallCount& b) { return a.function == b.function; };
    calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
}

}  // namespace

bool DescriptionReader::add(std::span<const std::uint8_t> message, std::uint64_t stored_size) {
    // More than any real description is compressed.
    constexpr std::uint64_t kBytesFromOne = 256;
    bytes_left_ += kBytesFromOne * stored_size;
    items_left_ += stored_size;
    if (message.size() > bytes_left_) return false;
    bytes_left_ -= message.size();
    try {
        Budget budget(items_left_);
        MessageReader({reinterpret_cast<const char*>(message.data()), message.size()}, budget).read(info_);
        return true;
    } catch (const protozero::exception&) {
        return false;
    } catch (const Implausible&) {
        return false;
    }
}

TraceInfo DescriptionReader::finish(std::size_t threads) && {
    TraceInfo info = std::move(info_);
    if (info.threads.size() < threads) info.threads.resize(threads);
    for (ThreadInfo& thread : info.threads)
        put_in_order(thread.calls);
    for (const StackInfo& stack : info.stacks)
        if (stack.function >= info.functions.size() && info.functions.empty()) info.functions.emplace_back();
    for (StackInfo& stack : info.stacks)
        if (stack.function >= info.functions.size()) stack = {};
    for (FunctionInfo& function : info.functions) {
        if (function.name.empty()) function.name = "(description lost)";
        if (function.object >= info.objects.size())
            function.object = static_cast<std::uint32_t>(info.objects.size());
        keep_in_range(function.parameters, function.enter_words);
        keep_in_range(function.result, function.leave_words);
        if (function.result.size() > 1) function.result.resize(1);
    }
    const bool lost_object =
        std::any_of(info.functions.begin(), info.functions.end(),
                    [&](const FunctionInfo& each) { return each.object == info.objects.size(); });
    if (lost_object) info.objects.emplace_back();
    return info;
}

}  // namespace rdam::trace
