// What the events of an OTF2 archive refer to by number: strings, attributes and regions.
#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/otf2_archive.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"

namespace rdam::exports::otf2 {

/// A text of a definition, or of a property: safe for a terminal, and not too long for an archive.
std::string fitting(std::string_view text);

/// Each text once.
class Strings : private Unmovable {
  public:
    Strings() = default;
    ~Strings() = default;
    // It holds pointers into itself.

    OTF2_StringRef ref(std::string_view text);
    void write(Archive& archive, OTF2_GlobalDefWriter* writer) const;

  private:
    std::map<std::string, OTF2_StringRef> refs_;
    std::vector<const std::string*> texts_;  // by number
};

/// A recorded word as an attribute of an event.
struct Attribute {
    OTF2_AttributeRef ref = 0;
    OTF2_Type type = OTF2_TYPE_UINT64;
    std::uint16_t word = 0;
    std::uint8_t size = 8;
};

/// Of a function.
struct CallAttributes {
    std::vector<Attribute> parameters;  ///< each with another number; a made-up trace may have more of them
    std::optional<Attribute> result = {};
};

/// Everything but locations. Regions have the numbers of their functions; those behind them are the times
/// off the processor.
class Definitions {
  public:
    explicit Definitions(const trace::TraceInfo& info);

    const CallAttributes& of(std::uint32_t function) const { return calls_[function]; }
    /// A recorded word as the value of the attribute. Nothing: it is a text that the call does not have.
    std::optional<OTF2_AttributeValue> value(const Attribute& attribute, std::uint64_t recorded) const;
    OTF2_RegionRef off_processor(const trace::OffCpu& time) const {
        const std::size_t why = !time.preempted ? 0 : (time.by_recorder ? 2 : 1);
        return static_cast<OTF2_RegionRef>(calls_.size() + why);
    }
    Strings& strings() { return strings_; }
    /// Last: strings() must not be asked for new ones afterwards.
    void write(Archive& archive, OTF2_GlobalDefWriter* writer) const;

  private:
    struct Described {
        OTF2_StringRef name = 0, description = 0;
        OTF2_Type type = OTF2_TYPE_NONE;
    };
    struct Region {
        OTF2_StringRef name = 0, linkage_name = 0, description = 0, file = OTF2_UNDEFINED_STRING;
        std::uint32_t line = 0;
        OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
        OTF2_Paradigm paradigm = OTF2_PARADIGM_USER;
    };

    void add_own(std::string_view name, std::string_view description, OTF2_Type type);
    Attribute attribute_of(const trace::ParameterInfo& parameter, const std::vector<Attribute>& others);
    Region region_of(const trace::FunctionInfo& function);
    Region off_processor_region(std::string_view why);

    Strings strings_;
    std::vector<OTF2_StringRef> texts_;  ///< of trace::TraceInfo::texts; the last: any that the trace has not
    std::vector<Described> attributes_;
    /// By name and type: functions that have a parameter like that share it.
    std::map<std::pair<std::string, OTF2_Type>, std::vector<OTF2_AttributeRef>> known_;
    std::vector<CallAttributes> calls_;
    std::vector<Region> regions_;
};

}  // namespace rdam::exports::otf2
