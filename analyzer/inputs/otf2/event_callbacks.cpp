#include <array>
#include <limits>
#include <vector>

#include "analyzer/inputs/otf2/events.h"

namespace rdam::inputs::otf2 {
namespace {

constexpr OTF2_CallbackCode kGoOn = OTF2_CALLBACK_SUCCESS;

EventSink& sink(void* user) {
    return static_cast<Listener*>(user)->sink;
}

/// The list is emptied: to look at its elements by index takes time that grows with the index.
std::span<const AttributeValue> taken(void* user, OTF2_AttributeList* list) {
    std::vector<AttributeValue>& room = static_cast<Listener*>(user)->attributes;
    const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
    if (count > room.size()) [[unlikely]]
        room.resize(count);
    for (std::uint32_t i = 0; i < count; ++i)
        OTF2_AttributeList_PopAttribute(list, &room[i].ref, &room[i].value.type, &room[i].value.value);
    return {room.data(), count};
}

/// The largest numbers stand for none, all and the like.
std::int64_t number(std::uint32_t value) {
    constexpr std::uint32_t kSpecial = 16;
    if (value > std::numeric_limits<std::uint32_t>::max() - kSpecial) return static_cast<std::int32_t>(value);
    return value;
}

std::int64_t number(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

OTF2_CallbackCode enter(OTF2_LocationRef /*location*/, OTF2_TimeStamp time, std::uint64_t /*position*/,
                        void* user, OTF2_AttributeList* attributes, OTF2_RegionRef region) {
    sink(user).enter(time, region, taken(user, attributes));
    return kGoOn;
}

OTF2_CallbackCode leave(OTF2_LocationRef /*location*/, OTF2_TimeStamp time, std::uint64_t /*position*/,
                        void* user, OTF2_AttributeList* attributes, OTF2_RegionRef region) {
    sink(user).leave(time, region, taken(user, attributes));
    return kGoOn;
}

OTF2_CallbackCode flush(OTF2_LocationRef /*location*/, OTF2_TimeStamp time, std::uint64_t /*position*/,
                        void* user, OTF2_AttributeList* /*attributes*/, OTF2_TimeStamp end) {
    sink(user).flush(time, end);
    return kGoOn;
}

/// A callback of the library for what `fields_of` makes fields of.
template <auto fields_of, class... Told>
OTF2_CallbackCode record(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                         void* user, OTF2_AttributeList* /*attributes*/, Told... told) {
    const auto fields = fields_of(told...);
    sink(user).record(fields);
    return kGoOn;
}

template <class Number>
FieldValue field(Field field, Number value) {
    return {field, number(value)};
}

// What the library tells of events, in its order. Requests and what matches events to each other tell nothing
// about a call.

constexpr auto kSend = [](std::uint32_t receiver, OTF2_CommRef communicator, std::uint32_t tag,
                          std::uint64_t length, auto... /*request*/) {
    return std::array{field(Field::communicator, communicator), field(Field::receiver, receiver),
                      field(Field::tag, tag), field(Field::bytes_sent, length)};
};
constexpr auto kReceive = [](std::uint32_t sender, OTF2_CommRef communicator, std::uint32_t tag,
                             std::uint64_t length, auto... /*request*/) {
    return std::array{field(Field::communicator, communicator), field(Field::sender, sender),
                      field(Field::tag, tag), field(Field::bytes_received, length)};
};
constexpr auto kCollective = [](OTF2_CollectiveOp /*operation*/, OTF2_CommRef communicator,
                                std::uint32_t root, std::uint64_t sent, std::uint64_t received,
                                auto... /*request*/) {
    return std::array{field(Field::communicator, communicator), field(Field::root, root),
                      field(Field::bytes_sent, sent), field(Field::bytes_received, received)};
};
constexpr auto kPut = [](OTF2_RmaWinRef window, std::uint32_t target, std::uint64_t bytes,
                         std::uint64_t /*matching*/) {
    return std::array{field(Field::window, window), field(Field::target, target),
                      field(Field::bytes_sent, bytes)};
};
constexpr auto kGet = [](OTF2_RmaWinRef window, std::uint32_t target, std::uint64_t bytes,
                         std::uint64_t /*matching*/) {
    return std::array{field(Field::window, window), field(Field::target, target),
                      field(Field::bytes_received, bytes)};
};
constexpr auto kAtomic = [](OTF2_RmaWinRef window, std::uint32_t target, OTF2_RmaAtomicType /*type*/,
                            std::uint64_t sent, std::uint64_t received, std::uint64_t /*matching*/) {
    return std::array{field(Field::window, window), field(Field::target, target),
                      field(Field::bytes_sent, sent), field(Field::bytes_received, received)};
};
constexpr auto kRmaCollective = [](OTF2_CollectiveOp /*operation*/, OTF2_RmaSyncLevel /*level*/,
                                   OTF2_RmaWinRef window, std::uint32_t root, std::uint64_t sent,
                                   std::uint64_t received) {
    return std::array{field(Field::window, window), field(Field::root, root), field(Field::bytes_sent, sent),
                      field(Field::bytes_received, received)};
};
constexpr auto kSync = [](OTF2_RmaWinRef window, std::uint32_t target, OTF2_RmaSyncType /*type*/) {
    return std::array{field(Field::window, window), field(Field::target, target)};
};
/// Requested, tried, acquired and released.
constexpr auto kWindowLock = [](OTF2_RmaWinRef window, std::uint32_t target, std::uint64_t lock,
                                auto... /*type*/) {
    return std::array{field(Field::window, window), field(Field::target, target), field(Field::lock, lock)};
};
/// Acquired and released.
constexpr auto kThreadLock = [](OTF2_Paradigm /*model*/, std::uint32_t lock, std::uint32_t /*order*/) {
    return std::array{field(Field::lock, lock)};
};
constexpr auto kIoBegin = [](OTF2_IoHandleRef handle, OTF2_IoOperationMode /*mode*/,
                             OTF2_IoOperationFlag /*flags*/, std::uint64_t bytes,
                             std::uint64_t /*matching*/) {
    return std::array{field(Field::handle, handle), field(Field::bytes_requested, bytes)};
};
constexpr auto kIoEnd = [](OTF2_IoHandleRef handle, std::uint64_t bytes, std::uint64_t /*matching*/) {
    return std::array{field(Field::handle, handle), field(Field::bytes_done, bytes)};
};

template <OTF2_Type type, class Given>
OTF2_CallbackCode give_parameter(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                                 std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                                 OTF2_ParameterRef parameter, Given given) {
    TypedValue value{.type = type};
    if constexpr (type == OTF2_TYPE_STRING) value.value.stringRef = given;
    if constexpr (type == OTF2_TYPE_INT64) value.value.int64 = given;
    if constexpr (type == OTF2_TYPE_UINT64) value.value.uint64 = given;
    sink(user).parameter(parameter, value);
    return kGoOn;
}

OTF2_CallbackCode metric(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                         void* user, OTF2_AttributeList* /*attributes*/, OTF2_MetricRef /*metric*/,
                         std::uint8_t /*number*/, const OTF2_Type* /*types*/,
                         const OTF2_MetricValue* /*values*/) {
    sink(user).metric();
    return kGoOn;
}

OTF2_CallbackCode program_begin(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                                std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                                OTF2_StringRef name, std::uint32_t count, const OTF2_StringRef* arguments) {
    std::vector<OTF2_StringRef> command{name};
    command.insert(command.end(), arguments, arguments + count);
    sink(user).program(command);
    return kGoOn;
}

}  // namespace

OTF2_EvtReaderCallbacks* event_callbacks() {
    OTF2_EvtReaderCallbacks* made = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(made, enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(made, leave);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(made, flush);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(made, record<kSend>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(made, record<kSend>);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(made, record<kReceive>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(made, record<kReceive>);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(made, record<kCollective>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(made, record<kCollective>);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(made, record<kPut>);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(made, record<kGet>);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(made, record<kAtomic>);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(made, record<kRmaCollective>);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(made, record<kSync>);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(made, record<kWindowLock>);
    OTF2_EvtReaderCallbacks_SetRmaTryLockCallback(made, record<kWindowLock>);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(made, record<kWindowLock>);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(made, record<kWindowLock>);
    OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(made, record<kThreadLock>);
    OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(made, record<kThreadLock>);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(made, record<kIoBegin>);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(made, record<kIoEnd>);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(made, give_parameter<OTF2_TYPE_STRING>);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(made, give_parameter<OTF2_TYPE_INT64>);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(made, give_parameter<OTF2_TYPE_UINT64>);
    OTF2_EvtReaderCallbacks_SetMetricCallback(made, metric);
    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(made, program_begin);
    return made;
}

}  // namespace rdam::inputs::otf2
