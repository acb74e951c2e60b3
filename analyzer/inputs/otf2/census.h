// Which regions were called, and what their calls were given: so it is known which parameters a function has
// before its first call is written.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/inputs/otf2/events.h"

namespace rdam::inputs::otf2 {

/// Of a function. The library compares each attribute of an event with all others.
inline constexpr std::size_t kMostParameters = 64;

/// Numbers of attributes or parameters in the order of their first appearance, with the type that came first.
using Given = std::vector<std::pair<std::uint32_t, OTF2_Type>>;

/// Of a region.
struct Use {
    std::uint64_t calls = 0;
    Given at_enter, at_leave, parameters;  ///< each at most kMostParameters
    std::bitset<kFields> fields;

    void add(const Use& other);
};

/// Of one location, or of several.
class Census final : public EventSink {
  public:
    void enter(std::uint64_t time, OTF2_RegionRef region,
               std::span<const AttributeValue> attributes) override;
    void leave(std::uint64_t time, OTF2_RegionRef region,
               std::span<const AttributeValue> attributes) override;
    void flush(std::uint64_t /*begin*/, std::uint64_t /*end*/) override {}
    void record(std::span<const FieldValue> fields) override;
    void parameter(OTF2_ParameterRef parameter, const TypedValue& value) override;
    void metric() override {}
    void program(std::span<const OTF2_StringRef> command) override {
        if (command_.empty()) command_.assign(command.begin(), command.end());
    }

    void add(const Census& other);
    /// Events were left out: calls may be given what is not in it, and other regions may be called.
    void is_sample() { whole_ = false; }
    bool whole() const { return whole_; }
    /// Of the first location that tells it; empty: none does.
    std::span<const OTF2_StringRef> command() const { return command_; }
    /// Null: it was not called.
    const Use* find(OTF2_RegionRef region) const;

  private:
    Use& use(OTF2_RegionRef region);

    std::map<OTF2_RegionRef, Use> regions_;
    std::vector<OTF2_StringRef> command_;
    bool whole_ = true;
    /// Where the last ones are, as most events are of few regions.
    struct Known {
        OTF2_RegionRef region = 0;
        Use* use = nullptr;
    };
    std::array<Known, 64> known_{};
    Use* open_ = nullptr;  ///< of the call that the records belong to; null: there is none
};

}  // namespace rdam::inputs::otf2
