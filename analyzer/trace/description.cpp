#include "analyzer/trace/description.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/trace/description_fields.h"
#include "analyzer/trace/format.h"
#include "analyzer/trace/schema.h"

namespace rdam::trace {
namespace {

void parse(protozero::data_view bytes, NodeInfo& to) {
    using F = schema::Node;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::number:
                in.number(to.number);
                break;
            case F::processors:
                in.small_numbers(to.processors);
                break;
            default:
                in.skip();
        }
    }
}

void parse(protozero::data_view bytes, ProcessInfo& to, Budget& budget) {
    using F = schema::Process;
    to = {};
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::pid:
                in.number(to.pid);
                break;
            case F::start_ticks:
                in.number(to.start_ticks);
                break;
            case F::boot_id:
                in.text(to.boot_id);
                break;
            case F::command:
                budget.spend();
                in.text(to.command.emplace_back());
                break;
            case F::executable:
                in.text(to.executable);
                break;
            case F::host:
                in.text(to.host);
                break;
            case F::machine:
                in.text(to.machine);
                break;
            case F::rdam_version:
                in.text(to.rdam_version);
                break;
            case F::processors:
                in.number(to.processors);
                break;
            case F::stack_period:
                in.number(to.stack_period);
                break;
            case F::max_overhead:
                in.real(to.max_overhead);
                break;
            case F::clean_end:
                in.truth(to.clean_end);
                break;
            case F::run:
                in.text(to.run);
                break;
            case F::nodes:
                budget.spend();
                in.message([&](auto view) { parse(view, to.nodes.emplace_back()); });
                break;
            case F::machine_share:
                in.real(to.machine_share);
                if (!(to.machine_share >= 0 && to.machine_share <= 1)) to.machine_share = 0;
                break;
            case F::title:
                in.text(to.title);
                break;
            default:
                in.skip();
        }
    }
}

void parse(protozero::data_view bytes, ClockInfo& to) {
    using F = schema::Clock;
    constexpr std::uint64_t kMaxStep = 0xffff;
    constexpr double kMaxProbe = 1e9;
    to = {};
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::source:
                in.text(to.source);
                break;
            case F::ticks_per_second:
                in.real(to.ticks_per_second);
                break;
            case F::start_tsc:
                in.fixed(to.start_tsc);
                break;
            case F::start_unix_ns:
                in.fixed(to.start_unix_ns);
                break;
            case F::probe_ticks:
                in.real(to.probe_ticks);
                break;
            case F::probe_inner_ticks:
                in.real(to.probe_inner_ticks);
                break;
            case F::floor_ticks:
                in.real(to.floor_ticks);
                break;
            case F::step_ticks:
                in.number(to.step_ticks);
                // What says more than the recorder measures is damaged.
                if (to.step_ticks > kMaxStep) to.step_ticks = 0;
                break;
            case F::flow_ticks:
                in.real(to.flow_ticks);
                if (!(to.flow_ticks >= 0 && to.flow_ticks <= kMaxProbe)) to.flow_ticks = 0;
                break;
            case F::error_ticks:
                in.real(to.error_ticks);
                if (!(to.error_ticks >= 0 && to.error_ticks <= kMaxStep)) to.error_ticks = 0;
                break;
            default:
                in.skip();
        }
    }
}

/// What the machine may refuse: a state up to `last`, the reason, and what `more(fields)` reads.
template <class F, class Info, class More>
void parse_state(protozero::data_view bytes, typename Info::State last, Info& to, const More& more) {
    std::uint8_t state = 0;
    to = {};
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::state:
                in.number(state);
                break;
            case F::reason:
                in.text(to.reason);
                break;
            default:
                more(in);
        }
    }
    if (state > static_cast<std::uint8_t>(last)) throw Implausible{};
    to.state = static_cast<typename Info::State>(state);
}

void parse(protozero::data_view bytes, SwitchInfo& to) {
    using F = schema::Switches;
    parse_state<F>(bytes, SwitchInfo::State::stopped, to, [&](Fields<F>& in) {
        if (in.field() == F::until)
            in.fixed(to.until);
        else if (in.field() == F::lost)
            in.number(to.lost);
        else
            in.skip();
    });
}

void parse(protozero::data_view bytes, CounterInfo& to) {
    using F = schema::Counters;
    parse_state<F>(bytes, CounterInfo::State::unavailable, to, [&](Fields<F>& in) {
        if (in.field() == F::probe)
            in.real(to.probe);
        else if (in.field() == F::probe_inner)
            in.real(to.probe_inner);
        else
            in.skip();
    });
}

void parse(protozero::data_view bytes, AgentInfo& to) {
    using F = schema::Agent;
    to = {.told = true};
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::cpu_seconds:
                in.real(to.cpu_seconds);
                break;
            case F::running_cpu_seconds:
                in.real(to.running_cpu_seconds);
                break;
            default:
                in.skip();
        }
    }
    for (double* const each : {&to.cpu_seconds, &to.running_cpu_seconds})
        if (!std::isfinite(*each) || *each < 0) throw Implausible{};
}

void parse_item(protozero::data_view bytes, ObjectInfo& to, std::uint64_t& index, Budget&) {
    using F = schema::Object;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::index:
                in.number(index);
                break;
            case F::path:
                in.text(to.path);
                break;
            case F::build_id:
                in.text(to.build_id);
                break;
            case F::base:
                in.fixed(to.base);
                break;
            case F::end:
                in.fixed(to.end);
                break;
            default:
                in.skip();
        }
    }
}

ParameterInfo parse_parameter(protozero::data_view bytes) {
    using F = schema::Parameter;
    ParameterInfo to;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::name:
                in.text(to.name);
                break;
            case F::kind:
                in.number(to.kind);
                break;
            case F::size:
                in.number(to.size);
                break;
            case F::word:
                in.number(to.word);
                break;
            case F::key:
                in.truth(to.key);
                break;
            case F::type:
                in.text(to.type);
                break;
            default:
                in.skip();
        }
    }
    return to;
}

void check_words(std::uint16_t words) {
    if (words > format::kMaxEventWords) throw Implausible{};
}

void parse_item(protozero::data_view bytes, FunctionInfo& to, std::uint64_t& index, Budget& budget) {
    using F = schema::Function;
    const auto add_to = [&budget](std::vector<ParameterInfo>& all) {
        return [&budget, &all](protozero::data_view view) {
            budget.spend();
            all.push_back(parse_parameter(view));
        };
    };
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::index:
                in.number(index);
                break;
            case F::name:
                in.text(to.name);
                break;
            case F::linkage_name:
                in.text(to.linkage_name);
                break;
            case F::module:
                in.text(to.module);
                break;
            case F::source:
                in.text(to.source);
                break;
            case F::object:
                in.number(to.object);
                break;
            case F::address:
                in.fixed(to.address);
                break;
            case F::size:
                in.number(to.size);
                break;
            case F::enter_words:
                in.number(to.enter_words);
                check_words(to.enter_words);
                break;
            case F::leave_words:
                in.number(to.leave_words);
                check_words(to.leave_words);
                break;
            case F::switched_off:
                in.fixed(to.switched_off);
                break;
            case F::most_rate:
                in.number(to.most_rate);
                if (to.most_rate > kMaxSampling) throw Implausible{};
                break;
            case F::inlined_copies:
                in.number(to.inlined_copies);
                break;
            case F::waits:
                in.truth(to.waits);
                break;
            case F::busy_waits:
                in.truth(to.busy_waits);
                break;
            case F::sampled:
                in.truth(to.sampled);
                break;
            case F::windowed_since:
                in.fixed(to.windowed_since);
                break;
            case F::counted:
                in.truth(to.counted);
                break;
            case F::parameters:
                in.message(add_to(to.parameters));
                break;
            case F::result:
                in.message(add_to(to.result));
                break;
            default:
                in.skip();
        }
    }
}

void parse(protozero::data_view bytes, CallCount& to) {
    using F = schema::CallCount;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::function:
                in.number(to.function);
                break;
            case F::calls:
                in.number(to.calls);
                break;
            default:
                in.skip();
        }
    }
}

void parse_item(protozero::data_view bytes, ThreadInfo& to, std::uint64_t& index, Budget& budget) {
    using F = schema::Thread;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::index:
                in.number(index);
                break;
            case F::tid:
                in.number(to.tid);
                break;
            case F::name:
                in.text(to.name);
                break;
            case F::start:
                in.fixed(to.start);
                break;
            case F::end:
                in.fixed(to.end);
                break;
            case F::dropped:
                in.number(to.dropped);
                break;
            case F::holes:
                in.number(to.holes);
                break;
            case F::calls:
                budget.spend();
                in.message([&](auto view) { parse(view, to.calls.emplace_back()); });
                break;
            case F::calls_until:
                in.fixed(to.calls_until);
                break;
            default:
                in.skip();
        }
    }
}

void parse_item(protozero::data_view bytes, StackInfo& to, std::uint64_t& index, Budget&) {
    using F = schema::Stack;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::index:
                in.number(index);
                break;
            case F::function:
                in.number(to.function);
                break;
            case F::caller:
                in.fixed(to.caller);
                break;
            case F::frames:
                in.numbers(to.frames);
                break;
            case F::truncated:
                in.truth(to.truncated);
                break;
            default:
                in.skip();
        }
    }
}

void parse_item(protozero::data_view bytes, AnswerInfo& to, std::uint64_t& index, Budget&) {
    using F = schema::Answer;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::index:
                in.number(index);
                break;
            case F::entry:
                in.text(to.entry);
                break;
            case F::verdict:
                in.number(to.verdict);
                break;
            case F::function:
                in.text(to.function);
                break;
            case F::reason:
                in.text(to.reason);
                break;
            default:
                in.skip();
        }
    }
}

void parse_item(protozero::data_view bytes, std::string& to, std::uint64_t& index, Budget&) {
    using F = schema::Remark;
    for (Fields<F> in(bytes); in.next();) {
        switch (in.field()) {
            case F::index:
                in.number(index);
                break;
            case F::text:
                in.text(to);
                break;
            default:
                in.skip();
        }
    }
}

/// A later item of the same index replaces the earlier.
template <class Item>
void parse_into(std::vector<Item>& items, protozero::data_view bytes, Budget& budget) {
    Item item;
    std::uint64_t index = 0;
    parse_item(bytes, item, index, budget);
    budget.place(items, index) = std::move(item);
}

void parse(Fields<schema::Description> in, TraceInfo& to, Budget& budget) {
    using F = schema::Description;
    const auto item_of = [&budget](auto& items) {
        return [&budget, &items](protozero::data_view view) { parse_into(items, view, budget); };
    };
    while (in.next()) {
        switch (in.field()) {
            case F::process:
                in.message([&](auto view) { parse(view, to.process, budget); });
                break;
            case F::clock:
                in.message([&](auto view) { parse(view, to.clock); });
                break;
            case F::switches:
                in.message([&](auto view) { parse(view, to.switches); });
                break;
            case F::counters:
                in.message([&](auto view) { parse(view, to.counters); });
                break;
            case F::agent:
                in.message([&](auto view) { parse(view, to.agent); });
                break;
            case F::objects:
                in.message(item_of(to.objects));
                break;
            case F::functions:
                in.message(item_of(to.functions));
                break;
            case F::threads:
                in.message(item_of(to.threads));
                break;
            case F::stacks:
                in.message(item_of(to.stacks));
                break;
            case F::answers:
                in.message(item_of(to.answers));
                break;
            case F::remarks:
                in.message(item_of(to.remarks));
                break;
            case F::dropped:
                in.number(to.dropped);
                break;
            default:
                in.skip();
        }
    }
}

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

bool Description::add(std::span<const std::uint8_t> message, std::uint64_t stored_size) {
    // More than any real description is compressed.
    constexpr std::uint64_t kBytesFromOne = 256;
    bytes_left_ += kBytesFromOne * stored_size;
    items_left_ += stored_size;
    if (message.size() > bytes_left_) return false;
    bytes_left_ -= message.size();
    try {
        Budget budget(items_left_);
        parse(Fields<schema::Description>(message.data(), message.size()), info_, budget);
        return true;
    } catch (const protozero::exception&) {
        return false;
    } catch (const Implausible&) {
        return false;
    }
}

TraceInfo Description::finish(std::size_t threads) && {
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
