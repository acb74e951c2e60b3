#include <initializer_list>
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

OTF2_CallbackCode give(void* user, std::initializer_list<FieldValue> fields) {
    sink(user).record({fields.begin(), fields.size()});
    return kGoOn;
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

OTF2_CallbackCode mpi_send(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                           void* user, OTF2_AttributeList* /*attributes*/, std::uint32_t receiver,
                           OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t length) {
    return give(user, {{Field::communicator, number(communicator)},
                       {Field::receiver, number(receiver)},
                       {Field::tag, number(tag)},
                       {Field::bytes_sent, number(length)}});
}

OTF2_CallbackCode mpi_isend(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t position,
                            void* user, OTF2_AttributeList* attributes, std::uint32_t receiver,
                            OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t length,
                            std::uint64_t /*request*/) {
    return mpi_send(location, time, position, user, attributes, receiver, communicator, tag, length);
}

OTF2_CallbackCode mpi_recv(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                           void* user, OTF2_AttributeList* /*attributes*/, std::uint32_t sender,
                           OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t length) {
    return give(user, {{Field::communicator, number(communicator)},
                       {Field::sender, number(sender)},
                       {Field::tag, number(tag)},
                       {Field::bytes_received, number(length)}});
}

OTF2_CallbackCode mpi_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t position,
                            void* user, OTF2_AttributeList* attributes, std::uint32_t sender,
                            OTF2_CommRef communicator, std::uint32_t tag, std::uint64_t length,
                            std::uint64_t /*request*/) {
    return mpi_recv(location, time, position, user, attributes, sender, communicator, tag, length);
}

OTF2_CallbackCode collective(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                             std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                             OTF2_CollectiveOp /*operation*/, OTF2_CommRef communicator, std::uint32_t root,
                             std::uint64_t sent, std::uint64_t received) {
    return give(user, {{Field::communicator, number(communicator)},
                       {Field::root, number(root)},
                       {Field::bytes_sent, number(sent)},
                       {Field::bytes_received, number(received)}});
}

OTF2_CallbackCode nonblocking_collective(OTF2_LocationRef location, OTF2_TimeStamp time,
                                         std::uint64_t position, void* user, OTF2_AttributeList* attributes,
                                         OTF2_CollectiveOp operation, OTF2_CommRef communicator,
                                         std::uint32_t root, std::uint64_t sent, std::uint64_t received,
                                         std::uint64_t /*request*/) {
    return collective(location, time, position, user, attributes, operation, communicator, root, sent,
                      received);
}

OTF2_CallbackCode rma_put(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                          void* user, OTF2_AttributeList* /*attributes*/, OTF2_RmaWinRef window,
                          std::uint32_t target, std::uint64_t bytes, std::uint64_t /*matching*/) {
    return give(user, {{Field::window, number(window)},
                       {Field::target, number(target)},
                       {Field::bytes_sent, number(bytes)}});
}

OTF2_CallbackCode rma_get(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                          void* user, OTF2_AttributeList* /*attributes*/, OTF2_RmaWinRef window,
                          std::uint32_t target, std::uint64_t bytes, std::uint64_t /*matching*/) {
    return give(user, {{Field::window, number(window)},
                       {Field::target, number(target)},
                       {Field::bytes_received, number(bytes)}});
}

OTF2_CallbackCode rma_atomic(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                             std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                             OTF2_RmaWinRef window, std::uint32_t target, OTF2_RmaAtomicType /*type*/,
                             std::uint64_t sent, std::uint64_t received, std::uint64_t /*matching*/) {
    return give(user, {{Field::window, number(window)},
                       {Field::target, number(target)},
                       {Field::bytes_sent, number(sent)},
                       {Field::bytes_received, number(received)}});
}

OTF2_CallbackCode rma_collective(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                                 std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                                 OTF2_CollectiveOp /*operation*/, OTF2_RmaSyncLevel /*level*/,
                                 OTF2_RmaWinRef window, std::uint32_t root, std::uint64_t sent,
                                 std::uint64_t received) {
    return give(user, {{Field::window, number(window)},
                       {Field::root, number(root)},
                       {Field::bytes_sent, number(sent)},
                       {Field::bytes_received, number(received)}});
}

OTF2_CallbackCode rma_sync(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                           void* user, OTF2_AttributeList* /*attributes*/, OTF2_RmaWinRef window,
                           std::uint32_t target, OTF2_RmaSyncType /*type*/) {
    return give(user, {{Field::window, number(window)}, {Field::target, number(target)}});
}

/// Requested, tried and acquired.
OTF2_CallbackCode rma_lock(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                           void* user, OTF2_AttributeList* /*attributes*/, OTF2_RmaWinRef window,
                           std::uint32_t target, std::uint64_t lock, OTF2_LockType /*type*/) {
    return give(
        user,
        {{Field::window, number(window)}, {Field::target, number(target)}, {Field::lock, number(lock)}});
}

OTF2_CallbackCode rma_unlock(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t position,
                             void* user, OTF2_AttributeList* attributes, OTF2_RmaWinRef window,
                             std::uint32_t target, std::uint64_t lock) {
    return rma_lock(location, time, position, user, attributes, window, target, lock, OTF2_LOCK_EXCLUSIVE);
}

/// Acquired and released.
OTF2_CallbackCode thread_lock(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                              std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                              OTF2_Paradigm /*model*/, std::uint32_t lock, std::uint32_t /*order*/) {
    return give(user, {{Field::lock, number(lock)}});
}

OTF2_CallbackCode io_begin(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/, std::uint64_t /*position*/,
                           void* user, OTF2_AttributeList* /*attributes*/, OTF2_IoHandleRef handle,
                           OTF2_IoOperationMode /*mode*/, OTF2_IoOperationFlag /*flags*/, std::uint64_t bytes,
                           std::uint64_t /*matching*/) {
    return give(user, {{Field::handle, number(handle)}, {Field::bytes_requested, number(bytes)}});
}

OTF2_CallbackCode io_complete(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                              std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                              OTF2_IoHandleRef handle, std::uint64_t bytes, std::uint64_t /*matching*/) {
    return give(user, {{Field::handle, number(handle)}, {Field::bytes_done, number(bytes)}});
}

OTF2_CallbackCode parameter_string(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                                   std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                                   OTF2_ParameterRef parameter, OTF2_StringRef text) {
    TypedValue value{.type = OTF2_TYPE_STRING};
    value.value.stringRef = text;
    sink(user).parameter(parameter, value);
    return kGoOn;
}

OTF2_CallbackCode parameter_int(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                                std::uint64_t /*position*/, void* user, OTF2_AttributeList* /*attributes*/,
                                OTF2_ParameterRef parameter, std::int64_t given) {
    TypedValue value{.type = OTF2_TYPE_INT64};
    value.value.int64 = given;
    sink(user).parameter(parameter, value);
    return kGoOn;
}

OTF2_CallbackCode parameter_unsigned(OTF2_LocationRef /*location*/, OTF2_TimeStamp /*time*/,
                                     std::uint64_t /*position*/, void* user,
                                     OTF2_AttributeList* /*attributes*/, OTF2_ParameterRef parameter,
                                     std::uint64_t given) {
    TypedValue value{.type = OTF2_TYPE_UINT64};
    value.value.uint64 = given;
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
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(made, mpi_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(made, mpi_isend);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(made, mpi_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(made, mpi_irecv);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(made, collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(made, nonblocking_collective);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(made, rma_put);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(made, rma_get);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(made, rma_atomic);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(made, rma_collective);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(made, rma_sync);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(made, rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaTryLockCallback(made, rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(made, rma_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(made, rma_unlock);
    OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(made, thread_lock);
    OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(made, thread_lock);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(made, io_begin);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(made, io_complete);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(made, parameter_string);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(made, parameter_int);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(made, parameter_unsigned);
    OTF2_EvtReaderCallbacks_SetMetricCallback(made, metric);
    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(made, program_begin);
    return made;
}

}  // namespace rdam::inputs::otf2
