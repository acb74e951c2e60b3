// The events of a location, as far as they become calls.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rdam::inputs::otf2 {

/// What records of communication and the like tell about the call in which they are.
enum class Field : std::uint8_t {
    communicator,
    receiver,
    sender,
    root,
    tag,
    bytes_sent,
    bytes_received,
    window,
    target,
    lock,
    handle,
    bytes_requested,
    bytes_done,
};
inline constexpr std::array<std::string_view, 13> kFieldNames{
    "communicator", "receiver",        "sender",    "root",   "tag",
    "bytes_sent",   "bytes_received",  "window",    "target", "lock",
    "handle",       "bytes_requested", "bytes_done"};
inline constexpr std::size_t kFields = kFieldNames.size();

/// Of a call that has had no record with the field. A root that is no rank is below 0, too.
inline constexpr std::int64_t kNoField = -1;

struct FieldValue {
    Field field = Field::communicator;
    std::int64_t value = kNoField;
};

struct TypedValue {
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value = {};
};

struct AttributeValue {
    OTF2_AttributeRef ref = 0;
    TypedValue value;
};

/// Hears of the events of one location, in the order of the file. Numbers may be such as nothing defines, and
/// times may go back.
class EventSink {
  public:
    virtual ~EventSink() = default;
    virtual void enter(std::uint64_t time, OTF2_RegionRef region,
                       std::span<const AttributeValue> attributes) = 0;
    virtual void leave(std::uint64_t time, OTF2_RegionRef region,
                       std::span<const AttributeValue> attributes) = 0;
    /// The recorder held the thread, to write its buffer.
    virtual void flush(std::uint64_t begin, std::uint64_t end) = 0;
    virtual void record(std::span<const FieldValue> fields) = 0;
    virtual void parameter(OTF2_ParameterRef parameter, const TypedValue& value) = 0;
    virtual void metric() = 0;
    /// The program begins. The name, then the arguments.
    virtual void program(std::span<const OTF2_StringRef> /*command*/) {}
    /// False: the rest of the events need not be read. Asked now and then.
    virtual bool goes_on() const { return true; }
};

/// The user data of event_callbacks().
struct Listener {
    EventSink& sink;
    std::vector<AttributeValue> attributes = {};  ///< of an event, and room for those of the next
};

/// What to register for a reader of a location's events with a Listener. Other events are passed over.
OTF2_EvtReaderCallbacks* event_callbacks();

}  // namespace rdam::inputs::otf2
