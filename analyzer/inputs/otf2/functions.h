// The functions that regions become, with the parameters that their calls have been given.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/otf2/definitions.h"
#include "analyzer/inputs/otf2/events.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs::otf2 {

// Which regions were called, and what their calls were given: so it is known which parameters a function has
// before its first call is written.

/// Of a function. The library compares each attribute of an event with all others.
inline constexpr std::size_t kMaxParameters = 64;

/// Numbers of attributes or parameters in the order of their first appearance, with the type that came first.
using Given = std::vector<std::pair<std::uint32_t, OTF2_Type>>;

/// Of a region.
struct Use {
    std::uint64_t calls = 0;
    Given at_enter, at_leave, parameters;  ///< each at most kMaxParameters
    std::bitset<kFields> fields;

    void add(const Use& other);
};

/// Counts what one location has, or several.
class FirstPass final : public EventSink {
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

    void add(const FirstPass& other);
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

/// Where a value goes.
struct Word {
    std::uint32_t ref = 0;  ///< of an attribute, or of a parameter event
    std::uint16_t word = 0;
    ValueKind kind = ValueKind::unsigned_integer;
};

/// Of a region. Regions that are the same but for their number share a function: EZTrace defines those of
/// each rank anew.
struct Layout {
    bool is_function = true;
    std::uint32_t function = 0;                          ///< of the builder
    std::vector<std::uint64_t> absent = {};              ///< the words of a call that was given nothing
    std::vector<Word> attributes = {}, parameters = {};  ///< by number, rising
    std::vector<Word> results = {};                      ///< each is the one word of a leave
    std::array<std::uint16_t, kFields> fields{};
    static constexpr std::uint16_t kNoWord = 0xffff;
};

/// Const functions are thread-safe.
class Functions {
  public:
    /// Adds those that are called to the builder.
    Functions(const Definitions& definitions, const FirstPass& census, TraceBuilder& builder);

    /// Whether it is defined as a function, but never called: what ends as it has begun as another.
    bool is_new_name(OTF2_RegionRef region) const { return new_names_.contains(region); }
    /// Null: no such region is defined, or it is not called.
    const Layout* find(OTF2_RegionRef region) const {
        const auto found = layouts_.find(region);
        return found == layouts_.end() ? nullptr : &found->second;
    }
    /// Attributes of leaves that have no place, because a call has one result: their number, of all regions.
    std::uint64_t left_out() const { return left_out_; }

  private:
    struct Group;
    void add_function(const Group& group, TraceBuilder& builder);

    const Definitions& definitions_;
    std::unordered_map<OTF2_RegionRef, Layout> layouts_;
    std::unordered_set<OTF2_RegionRef> new_names_;
    std::uint64_t left_out_ = 0;
};

}  // namespace rdam::inputs::otf2
