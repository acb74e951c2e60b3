#include "tools/trace/description_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/trace/event.h"
#include "tools/trace/format.h"
#include "tools/trace/schema.h"

namespace rdam::trace {
namespace {

// A protobuf message to a structure, by its list of fields (schema.h). The bytes are untrusted.

// What the values of a description can be. Those that decide how the rest is read make the whole message
// implausible; a measurement that cannot be is damaged, and as good as unknown.

/// Thrown by the readers of messages, as protozero's own exceptions are, and caught in reader.cpp.
struct Implausible : std::exception {};

/// Called for each structure that has been read.
template <class Structure>
void check(Structure&) {}

inline void check(ProcessInfo& process) {
    if (!(process.machine_share >= 0 && process.machine_share <= 1)) process.machine_share = 0;
}

inline void check(ClockInfo& clock) {
    constexpr std::uint64_t kMaxStep = 1'000'000'000;  // ticks; other tools' clocks move by up to a second
    constexpr double kMaxRate = 1e18;     // a second; no clock is finer, nor coarser than a second
    constexpr double kMaxError = 0xffff;  // ticks, more than the recorder measures
    constexpr double kMaxProbe = 1e9;
    const auto keep_within = [](double& value, double least, double most) {
        if (!(value >= least && value <= most)) value = 0;
    };
    if (clock.step_ticks > kMaxStep) clock.step_ticks = 0;
    keep_within(clock.ticks_per_second, 1, kMaxRate);
    keep_within(clock.probe_ticks, 0, kMaxProbe);
    keep_within(clock.probe_inner_ticks, 0, kMaxProbe);
    keep_within(clock.floor_ticks, 0, kMaxProbe);
    keep_within(clock.flow_ticks, 0, kMaxProbe);
    keep_within(clock.error_ticks, 0, kMaxError);
}

inline void check(AgentInfo& agent) {
    for (const double each : {agent.cpu_seconds, agent.running_cpu_seconds})
        if (!std::isfinite(each) || each < 0) throw Implausible{};
    agent.told = true;
}

inline void check(FunctionInfo& function) {
    if (function.enter_words > format::kMaxEventWords || function.leave_words > format::kMaxEventWords ||
        function.most_rate > kMaxSampling)
        throw Implausible{};
}

/// Keeps a small file from taking much memory: an empty message of two bytes becomes an item of hundreds.
class Budget {
  public:
    explicit Budget(std::uint64_t& items) : items_(items) {}
    void spend() {
        if (items_ == 0) throw Implausible{};
        --items_;
    }

    /// The place of item `index`, which may come before or instead of items that were lost.
    template <class Item>
    Item& place(std::vector<Item>& items, std::uint64_t index) {
        while (items.size() <= index) {
            spend();
            items.emplace_back();
        }
        return items[index];
    }

  private:
    std::uint64_t& items_;
};

/// Reads what the fields say into a structure that has its defaults. A field of an unknown number, or of
/// another type than the schema's, is skipped.
class MessageReader {
  public:
    MessageReader(protozero::data_view bytes, Budget& budget) : message_(bytes), budget_(budget) {}

    /// Throws Implausible, and protozero's exceptions.
    template <class Structure>
    void read(Structure& to) {
        while (message_.next()) {
            taken_ = false;
            if (indexed_) number(kIndexField, "index", index_);
            fields(*this, to);
            if (!taken_) message_.skip();
        }
    }
    /// Reads a message of items(); returns its index.
    template <class Structure>
    std::uint64_t read_item(Structure& to) {
        indexed_ = true;
        read(to);
        return index_;
    }

    void message_name(const char*) {}

    template <class Number>
    void number(std::uint32_t tag, const char*, Number& to, When = When::always) {
        if (!take(tag, protozero::pbf_wire_type::varint)) return;
        const std::uint64_t value = message_.get_uint64();
        if (value > std::numeric_limits<Number>::max()) throw Implausible{};
        to = static_cast<Number>(value);
    }
    void fixed(std::uint32_t tag, const char*, std::uint64_t& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::fixed64)) to = message_.get_fixed64();
    }
    void real(std::uint32_t tag, const char*, double& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::fixed64)) to = message_.get_double();
    }
    void truth(std::uint32_t tag, const char*, bool& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::varint)) to = message_.get_uint64() != 0;
    }
    template <class State>
    void state(std::uint32_t tag, const char*, State& to, State last) {
        if (!take(tag, protozero::pbf_wire_type::varint)) return;
        const std::uint64_t value = message_.get_uint64();
        if (value > static_cast<std::uint64_t>(last)) throw Implausible{};
        to = static_cast<State>(value);
    }
    void text(std::uint32_t tag, const char*, std::string& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::length_delimited)) to = view();
    }
    void texts(std::uint32_t tag, const char*, std::vector<std::string>& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        budget_.spend();
        to.emplace_back(view());
    }
    void numbers(std::uint32_t tag, const char*, std::vector<std::uint32_t>& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        const auto range = message_.get_packed_uint32();
        to.assign(range.begin(), range.end());
    }
    void addresses(std::uint32_t tag, const char*, std::vector<std::uint64_t>& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        const auto range = message_.get_packed_fixed64();
        to.assign(range.begin(), range.end());
    }
    /// A later message replaces an earlier one as a whole; one that is broken replaces nothing.
    template <class Structure>
    void message(std::uint32_t tag, const char*, Structure& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        Structure whole;
        MessageReader(message_.get_view(), budget_).read(whole);
        check(whole);
        to = std::move(whole);
    }
    template <class Item>
    void messages(std::uint32_t tag, const char*, std::vector<Item>& items) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        budget_.spend();
        Item item;
        MessageReader(message_.get_view(), budget_).read(item);
        items.push_back(std::move(item));
    }
    /// A later item of the same index replaces the earlier one.
    template <class Item>
    void items(std::uint32_t tag, const char*, std::vector<Item>& items) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        Item item;
        const std::uint64_t index = MessageReader(message_.get_view(), budget_).read_item(item);
        check(item);
        budget_.place(items, index) = std::move(item);
    }

  private:
    bool take(std::uint32_t tag, protozero::pbf_wire_type type) {
        if (taken_ || message_.tag() != tag || message_.wire_type() != type) return false;
        taken_ = true;
        return true;
    }
    std::string view() {
        const protozero::data_view bytes = message_.get_view();
        return {bytes.data(), bytes.size()};
    }

    protozero::pbf_reader message_;
    Budget& budget_;
    std::uint64_t index_ = 0;
    bool indexed_ = false;
    bool taken_ = false;
};

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
    const bool lost_object = std::ranges::any_of(
        info.functions, [&](const FunctionInfo& each) { return each.object == info.objects.size(); });
    if (lost_object) info.objects.emplace_back();
    return info;
}

}  // namespace rdam::trace
