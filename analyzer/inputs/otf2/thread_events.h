// The calls of one location.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/otf2/definitions.h"
#include "analyzer/inputs/otf2/events.h"
#include "analyzer/inputs/otf2/functions.h"

namespace rdam::inputs::otf2 {

/// What has no place in a trace of calls, in events.
struct PassedOver {
    std::uint64_t metrics = 0;
    std::uint64_t records = 0;     ///< in no call, or behind a call inside it
    std::uint64_t undefined = 0;   ///< calls of regions that nothing defines
    std::uint64_t earlier = 0;     ///< than the event before: moved to its time
    std::uint64_t artificial = 0;  ///< calls of regions that are no functions
    std::uint64_t others = 0;

    void add(const PassedOver& more);
};

/// By how many ticks a clock moves at a time: the largest power of ten of which all times differ by multiples, a
/// microsecond at most. What archives tell is what the clock is counted in.
class ClockStep {
  public:
    explicit ClockStep(std::uint64_t ticks_per_second);

    void take(std::uint64_t time) {
        if (step_ == 1) [[likely]]
            return;
        narrow(time);
    }
    /// Those that another one has taken.
    void add(const ClockStep& other);
    /// Of few times nothing is known: 1.
    std::uint64_t ticks() const { return times_ < kFew ? 1 : step_; }

  private:
    static constexpr std::uint64_t kFew = 100;
    void narrow(std::uint64_t time);

    std::uint64_t step_ = 1;
    std::uint64_t first_ = 0;
    std::uint64_t times_ = 0;
};

/// A call is given to the builder when the next one begins or ends, since records that tell its parameters
/// come after it.
class ThreadEvents final : public EventSink {
  public:
    /// All must outlive it. `surprised` becomes true at what a census of a sample did not know, and ends the
    /// reading; null: the census is whole.
    ThreadEvents(const Definitions& definitions, const Functions& functions, TraceBuilder& builder,
                 ThreadBuilder& thread, std::atomic<bool>* surprised);

    void enter(std::uint64_t time, OTF2_RegionRef region,
               std::span<const AttributeValue> attributes) override;
    void leave(std::uint64_t time, OTF2_RegionRef region,
               std::span<const AttributeValue> attributes) override;
    void flush(std::uint64_t begin, std::uint64_t end) override;
    void record(std::span<const FieldValue> fields) override;
    void parameter(OTF2_ParameterRef parameter, const TypedValue& value) override;
    void metric() override;
    bool goes_on() const override { return surprised_ == nullptr || !surprised_->load(); }
    /// There were so many events, of all kinds.
    void finish(std::uint64_t events);

    const PassedOver& passed_over() const { return passed_over_; }
    const ClockStep& clock_step() const { return clock_step_; }

  private:
    /// The last call that has begun.
    struct Held {
        const Layout* layout = nullptr;
        std::uint64_t time = 0;
        std::vector<std::uint64_t> words;
    };

    struct Pause {
        std::uint64_t begin = 0, end = 0;
    };

    std::uint64_t in_order(std::uint64_t time);
    const Layout* layout_of(OTF2_RegionRef region);
    void surprise() {
        if (surprised_ != nullptr) surprised_->store(true);
    }
    void surprise_at(OTF2_AttributeRef ref) {
        if (!definitions_.is_own(ref)) surprise();
    }
    void give_held();
    void give_call();
    void give_pauses();
    std::uint64_t result_of(const Layout& layout, std::span<const AttributeValue> attributes);
    void put(const Word& word, const TypedValue& value);
    std::optional<std::uint64_t> word_of(const TypedValue& value, ValueKind kind);
    std::uint64_t number_of_text(OTF2_StringRef text);
    bool is_not_seen(std::span<const AttributeValue> attributes) const;

    const Definitions& definitions_;
    const Functions& functions_;
    TraceBuilder& builder_;
    ThreadBuilder& thread_;
    std::atomic<bool>* surprised_;
    /// The last ones asked for, as most events are of few regions.
    struct Known {
        OTF2_RegionRef region = 0;
        const Layout* layout = nullptr;
    };
    std::array<Known, 64> known_{};
    Held held_;
    std::vector<Pause> pauses_;  ///< since the held call began
    std::uint64_t last_ = 0;
    std::uint64_t heard_ = 0;
    bool not_seen_ = false;  ///< nobody saw the last call end
    std::unordered_map<OTF2_StringRef, std::uint64_t> texts_;
    PassedOver passed_over_;
    ClockStep clock_step_;
};

}  // namespace rdam::inputs::otf2
