#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/report/windowed_part.h"
#include "analyzer/sequences/known_functions.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::score {
namespace {

/// What the calls of a thread's groups are compared with.
struct GroupBase {
    std::uint64_t ticks = 0;
    std::uint32_t group = 0;  ///< the merged one
};

/// By thread and its own number of the group.
std::vector<std::vector<GroupBase>> bases_of(const RowContext& context, std::uint32_t function) {
    std::vector<std::vector<GroupBase>> bases(context.threads.size());
    context.merged.for_each_group(
        function, [&](sequences::GroupId group, std::span<const ThreadGroup> parts) {
            const ProcessLeast process = process_least(parts);
            for (const ThreadGroup& part : parts) {
                const PartCalls calls{part, context.estimate(function, part.thread),
                                      PartCalls::Which::outermost, context.settings.baseline.step};
                bases[part.thread].resize(context.threads[part.thread]->groups.size());
                const Base base =
                    calls.empty() ? Base{} : calls.base(context.settings.baseline, process.outermost);
                bases[part.thread][part.group] = {rounded(base.ticks), group};
            }
        });
    return bases;
}

/// In the windows that every thread keeps.
samples::Windows common_windows(const RowContext& context) {
    samples::Windows windows = context.threads.front()->windows.all().windows();
    for (const auto& thread : context.threads)
        windows.limit =
            std::min({windows.limit, thread->windows.all().windows().limit,
                      thread->owned_waits.windows().limit, thread->off_in_timeline.windows().limit});
    return windows;
}

/// Report::wait_windows. When the trace was read, nobody may have known of all functions of the rules that are in force now.
std::optional<samples::Windows> wait_windows(const RowContext& context, const samples::Windows& of_all) {
    samples::Windows windows{.shift = of_all.shift};
    const auto wanted = about_waits(context.info, context.settings.comparison.rules);
    for (const auto& thread : context.threads) {
        for (std::uint32_t function = 0; wanted && function < wanted->size(); ++function)
            if ((*wanted)[function] && !thread->windows.is_about_waits(function)) return std::nullopt;
        windows.limit = std::min(
            {windows.limit, thread->windows.of_waits().windows().limit, thread->owned_waits.windows().limit});
    }
    if (!wanted || windows.limit <= of_all.limit) return std::nullopt;
    return windows;
}

/// The object that the call is about, and what it does to it, if that is a futex; of a call that receives or sends its descriptor.
void set_object(const ThreadTimes& thread, sequences::GroupId group,
                const std::vector<sequences::KeyWord>& keys, TimedCall& call) {
    if (group >= thread.sequences.groups()) return;
    const auto values = thread.sequences.keys(thread.sequences.group(group));
    if (values.size() == 1) call.key = values.front();
    if (values.size() != keys.size()) return;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].of_descriptor) {
            call.key = values[i];
            call.descriptor = true;
        }
        if (!keys[i].of_futex) continue;
        if (keys[i].word == sequences::kFutexWord)
            call.key = values[i];
        else if (values[i] <= static_cast<std::uint64_t>(sequences::FutexCall::wake_all))
            call.futex = static_cast<sequences::FutexCall>(values[i]);
    }
}

void add_calls(const RowContext& context, const ThreadTimes& thread,
               std::span<const samples::WindowCall> calls, std::vector<TimedCall>& to) {
    to.reserve(calls.size());
    for (const samples::WindowCall& call : calls) {
        to.push_back({.function = call.function,
                      .begin = call.begin,
                      .end = call.end,
                      .duration = call.duration,
                      .returned = call.returned,
                      .caller = thread.callers.address(call.caller)});
        set_object(thread, call.group, context.settings.keys[call.function], to.back());
    }
}

void add_slow_calls(const RowContext& context, const std::vector<std::vector<GroupBase>>& bases,
                    FunctionRow& row) {
    for (std::size_t t = 0; t < context.threads.size(); ++t) {
        for (const samples::WindowCall& call : context.threads[t]->windows.all().calls()) {
            if (call.function != row.function || !call.outermost) continue;
            const std::uint64_t lost = call.duration - std::min(call.duration, bases[t][call.group].ticks);
            if (lost > 0 && lost >= call.duration / 2)
                row.slow.push_back({t, bases[t][call.group].group, call.begin, call.end,
                                    static_cast<double>(lost) / static_cast<double>(call.duration)});
        }
    }
}

/// Over all threads.
std::vector<std::uint32_t> repeated_in(const RowContext& context, std::uint32_t function) {
    std::vector<std::uint32_t> repeated;
    for (const auto& thread : context.threads)
        for (const std::uint32_t each : thread->samples[function].repeated())
            if (std::ranges::find(repeated, each) == repeated.end()) repeated.push_back(each);
    return repeated;
}

void add_repeats(const samples::CallSample& from, std::size_t call, Sample& to) {
    for (const std::uint32_t function : to.repeated) {
        const auto known = std::ranges::find(from.repeated(), function);
        const auto number = static_cast<std::size_t>(known - from.repeated().begin());
        to.repeats.push_back(known != from.repeated().end() ? from.repeats(call, number) : 0);
    }
}

}  // namespace

std::vector<std::uint64_t> channel_descriptors(const trace::TraceInfo& info) {
    using Channel = std::pair<trace::ChannelInfo::Kind, std::uint64_t>;
    std::set<Channel> read, written;
    for (const trace::ChannelInfo& each : info.channels) {
        if (each.reads != 0) read.emplace(each.kind, each.reads);
        if (each.writes != 0) written.emplace(each.kind, each.writes);
    }
    std::set<std::uint64_t> descriptors;
    for (const trace::ChannelInfo& each : info.channels)
        if (written.contains({each.kind, each.reads}) || read.contains({each.kind, each.writes}))
            descriptors.insert(each.descriptor);
    return {descriptors.begin(), descriptors.end()};
}

bool any_says_for_whom(const trace::TraceInfo& info) {
    const bool any_channel = !channel_descriptors(info).empty();
    return std::ranges::any_of(info.functions, [&](const trace::FunctionInfo& function) {
        const CatalogueFunction* const known = sequences::known_wait(function);
        return known != nullptr &&
               (known->barrier || !known->partners().empty() || (known->receives && any_channel));
    });
}

std::shared_ptr<const std::vector<bool>> about_waits(const trace::TraceInfo& info, const NamedRules& rules) {
    auto about = std::make_shared<std::vector<bool>>(info.functions.size());
    std::set<std::string> partners;
    const bool any_channel = !channel_descriptors(info).empty();
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        // Those that only try do not wait, and yet they take what others wait for.
        const CatalogueFunction* const known = sequences::known_function(info.functions[f]);
        if (known == nullptr) continue;
        const bool through_channel = any_channel && (known->receives || known->sends);
        if (!known->barrier && known->partners().empty() && !through_channel) continue;
        (*about)[f] = true;
        for (const std::string& name : known->partners())
            partners.insert(name);
    }
    for (std::uint32_t f = 0; f < info.functions.size(); ++f)
        if (partners.contains(info.functions[f].linkage_name) || partners.contains(info.functions[f].name))
            (*about)[f] = true;
    for (const auto* const list : {&rules.given_back_by, &rules.woken_by})
        for (const std::string& text : *list)
            if (const auto named = find_partners(info, text))
                for (const auto* const functions : {&named->waiters, &named->partners})
                    for (const std::uint32_t function : *functions)
                        (*about)[function] = true;
    for (std::uint32_t f = 0; f < info.functions.size(); ++f)
        if (info.functions[f].windowed_since != 0 || info.functions[f].sampled) (*about)[f] = false;
    if (std::ranges::find(*about, true) == about->end()) return nullptr;
    return about;
}

void add_timelines(const RowContext& context, Report& report) {
    const bool asked =
        std::ranges::any_of(report.functions, [](const auto& row) { return !row.slow.empty(); }) ||
        std::ranges::any_of(context.threads,
                            [](const auto& thread) { return !thread->owned_waits.calls().empty(); }) ||
        context.settings.comparison.rules.have_partners() || any_says_for_whom(context.info);
    if (!asked) return;
    report.windows = common_windows(context);
    report.wait_windows = wait_windows(context, report.windows);
    report.owned_windows = {.shift = report.windows.shift};
    for (std::size_t t = 0; t < context.threads.size(); ++t) {
        const auto& thread = context.threads[t];
        report.owned_windows.limit =
            std::min({report.owned_windows.limit, thread->owned_waits.windows().limit,
                      thread->mutex_changes.windows().limit});
        ThreadTimeline& timeline = report.timeline.emplace_back();
        timeline.begin = context.spans[t].begin;
        timeline.end = std::max(context.spans[t].begin, context.spans[t].end);
        add_calls(context, *thread, thread->windows.all().calls(), timeline.calls);
        if (report.wait_windows)
            add_calls(context, *thread, thread->windows.of_waits().calls(), timeline.wait_calls);
        // In the order in which they ended, as each by itself.
        std::ranges::merge(thread->owned_waits.calls(), thread->mutex_changes.calls(),
                           std::back_inserter(timeline.waits), {}, &samples::OwnedWait::end,
                           &samples::OwnedWait::end);
        timeline.off.assign(thread->off_in_timeline.calls().begin(), thread->off_in_timeline.calls().end());
    }
}

void add_sample(const RowContext& context, FunctionRow& row) {
    if (context.settings.max_sampled == 0 || row.copied_stacks) return;
    const auto bases = bases_of(context, row.function);
    add_slow_calls(context, bases, row);
    row.sample.words_per_call = context.info.functions[row.function].enter_words;
    row.sample.repeated = repeated_in(context, row.function);
    for (std::size_t t = 0; t < context.threads.size(); ++t) {
        const samples::CallSample& sample = context.threads[t]->samples[row.function];
        const auto taken = sample.taken();
        for (std::size_t i = 0; i < taken.size(); ++i) {
            const samples::SampledCall& call = taken[i];
            if (!(call.weight > 0)) continue;
            const GroupBase& base = bases[t][call.group];
            const std::uint64_t lost = call.duration - std::min(call.duration, base.ticks);
            ScoredCall& scored = row.sample.calls.emplace_back(ScoredCall{call});
            scored.duration_ns = static_cast<double>(call.duration) * context.ns_per_tick;
            scored.lost_ns = static_cast<double>(lost) * context.ns_per_tick;
            scored.blocked_ns = static_cast<double>(call.blocked) * context.ns_per_tick;
            scored.preempted_ns = static_cast<double>(call.preempted) * context.ns_per_tick;
            scored.thread = static_cast<std::uint32_t>(t);
            scored.group = base.group;
            const auto words = sample.words(i);
            row.sample.words.insert(row.sample.words.end(), words.begin(), words.end());
            add_repeats(sample, i, row.sample);
        }
    }
}

}  // namespace rdam::score
