#include "analyzer/inputs/otf2/thread_events.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/inputs/otf2/names.h"

namespace rdam::inputs::otf2 {

namespace {

/// A made-up archive may have any number of them between two events.
constexpr std::size_t kMaxPauses = 1024;

/// `guess`: where it is if each call is given the same.
inline const Word* word_at(const std::vector<Word>& words, std::uint32_t ref, std::size_t guess = 0) {
    if (guess < words.size() && words[guess].ref == ref) [[likely]]
        return &words[guess];
    const auto found = std::ranges::lower_bound(words, ref, {}, &Word::ref);
    return found == words.end() || found->ref != ref ? nullptr : &*found;
}

inline std::uint64_t integer_of(const TypedValue& value) {
    switch (value.type) {
        case OTF2_TYPE_UINT8:
            return value.value.uint8;
        case OTF2_TYPE_UINT16:
            return value.value.uint16;
        case OTF2_TYPE_INT8:
            return put_value(std::int64_t{value.value.int8});
        case OTF2_TYPE_INT16:
            return put_value(std::int64_t{value.value.int16});
        case OTF2_TYPE_INT32:
            return put_value(std::int64_t{value.value.int32});
        case OTF2_TYPE_UINT64:
        case OTF2_TYPE_INT64:
        case OTF2_TYPE_LOCATION:
            return value.value.uint64;
        default:
            return value.value.uint32;
    }
}

/// Empty: `value` cannot be of that kind.
inline std::optional<std::uint64_t> number_of(const TypedValue& value, ValueKind kind) {
    const bool floating = value.type == OTF2_TYPE_FLOAT || value.type == OTF2_TYPE_DOUBLE;
    if (floating != (kind == ValueKind::floating)) return {};
    if (!floating) return integer_of(value);
    return put_value(value.type == OTF2_TYPE_FLOAT ? double{value.value.float32} : value.value.float64);
}

bool adds_up(Field field) {
    return field == Field::bytes_sent || field == Field::bytes_received || field == Field::bytes_requested ||
           field == Field::bytes_done;
}

}  // namespace

void PassedOver::add(const PassedOver& more) {
    metrics += more.metrics;
    records += more.records;
    undefined += more.undefined;
    earlier += more.earlier;
    artificial += more.artificial;
    others += more.others;
}

ThreadEvents::ThreadEvents(const Definitions& definitions, const Functions& functions, TraceBuilder& builder,
                           ThreadBuilder& thread, std::atomic<bool>* surprised)
    : definitions_(definitions),
      functions_(functions),
      builder_(builder),
      thread_(thread),
      surprised_(surprised),
      clock_step_(definitions.ticks_per_second) {}

inline const Layout* ThreadEvents::layout_of(OTF2_RegionRef region) {
    Known& known = known_[region % known_.size()];
    if (known.layout == nullptr || known.region != region)
        known = {.region = region, .layout = functions_.find(region)};
    return known.layout;
}

ClockStep::ClockStep(std::uint64_t ticks_per_second) {
    constexpr std::uint64_t kMicroseconds = 1'000'000, kTen = 10;
    while (step_ * kTen <= ticks_per_second / kMicroseconds)
        step_ *= kTen;
}

void ClockStep::narrow(std::uint64_t time) {
    constexpr std::uint64_t kTen = 10;
    if (times_++ == 0) first_ = time;
    const std::uint64_t difference = std::max(time, first_) - std::min(time, first_);
    while (difference % step_ != 0)
        step_ /= kTen;
}

void ClockStep::add(const ClockStep& other) {
    if (other.times_ == 0 && other.step_ > 1) return;
    step_ = std::min(step_, other.step_);
    if (times_ == 0) first_ = other.first_;
    times_ += other.times_;
    if (step_ > 1) narrow(other.first_);
}

inline std::uint64_t ThreadEvents::in_order(std::uint64_t time) {
    clock_step_.take(time);
    if (time < last_) [[unlikely]]
        ++passed_over_.earlier;
    last_ = std::max(last_, std::min(time, kLatest));
    return last_;
}

inline void ThreadEvents::give_held() {
    if (held_.layout != nullptr) give_call();
    if (!pauses_.empty()) [[unlikely]]
        give_pauses();
}

void ThreadEvents::give_pauses() {
    for (const Pause& each : pauses_)
        thread_.pause(each.begin, each.end);
    pauses_.clear();
}

void ThreadEvents::give_call() {
    thread_.enter(held_.time, std::exchange(held_.layout, nullptr)->function, held_.words);
}

inline std::optional<std::uint64_t> ThreadEvents::word_of(const TypedValue& value, ValueKind kind) {
    if (value.type != OTF2_TYPE_STRING) [[likely]]
        return number_of(value, kind);
    return kind == ValueKind::enumeration ? std::optional{number_of_text(value.value.stringRef)}
                                          : std::nullopt;
}

std::uint64_t ThreadEvents::number_of_text(OTF2_StringRef text) {
    const auto [at, is_new] = texts_.try_emplace(text, 0);
    if (is_new) at->second = builder_.text(definitions_.text(text));
    return at->second;
}

inline void ThreadEvents::put(const Word& word, const TypedValue& value) {
    if (const auto number = word_of(value, word.kind)) held_.words[word.word] = *number;
}

void ThreadEvents::enter(std::uint64_t time, OTF2_RegionRef region,
                         std::span<const AttributeValue> attributes) {
    ++heard_;
    time = in_order(time);
    const Layout* layout = layout_of(region);
    if (layout == nullptr) {
        ++passed_over_.undefined;
        return surprise();
    }
    give_held();
    if (!layout->is_function) {
        ++passed_over_.artificial;
        return;
    }
    if (not_seen_) thread_.gap();
    not_seen_ = false;
    held_.layout = layout;
    held_.time = time;
    held_.words = layout->absent;
    for (std::size_t i = 0; i < attributes.size(); ++i)
        if (const Word* word = word_at(layout->attributes, attributes[i].ref, i))
            put(*word, attributes[i].value);
        else
            surprise_at(attributes[i].ref);
}

/// Whether it is an archive of ours that says so.
inline bool ThreadEvents::is_not_seen(std::span<const AttributeValue> attributes) const {
    return definitions_.is_ours && std::ranges::any_of(attributes, [&](const AttributeValue& each) {
               return each.ref == rdam::otf2::kEnd && each.value.type == OTF2_TYPE_STRING &&
                      definitions_.text(each.value.value.stringRef) == rdam::otf2::kNotSeen;
           });
}

void ThreadEvents::flush(std::uint64_t begin, std::uint64_t end) {
    ++heard_;
    const Pause pause{.begin = in_order(begin), .end = std::min(end, kLatest)};
    if (pauses_.size() == kMaxPauses) give_held();
    pauses_.push_back(pause);
}

void ThreadEvents::leave(std::uint64_t time, OTF2_RegionRef region,
                         std::span<const AttributeValue> attributes) {
    ++heard_;
    time = in_order(time);
    const Layout* layout = layout_of(region);
    if (layout == nullptr ? !functions_.is_new_name(region) : !layout->is_function) return;
    give_held();
    not_seen_ = is_not_seen(attributes);
    if (not_seen_) return;
    // Task-based runtimes rename what runs.
    if (layout == nullptr) return thread_.leave_renamed(time, trace::kNoFunction);
    const std::uint64_t result = result_of(*layout, attributes);
    thread_.leave_renamed(time, layout->function, {&result, layout->results.empty() ? 0U : 1U});
}

inline std::uint64_t ThreadEvents::result_of(const Layout& layout,
                                             std::span<const AttributeValue> attributes) {
    std::uint64_t result = 0;
    for (const AttributeValue& each : attributes)
        if (const Word* word = word_at(layout.results, each.ref))
            result = word_of(each.value, word->kind).value_or(0);
        else
            surprise_at(each.ref);
    return result;
}

void ThreadEvents::record(std::span<const FieldValue> fields) {
    ++heard_;
    if (held_.layout == nullptr) {
        ++passed_over_.records;
        return;
    }
    for (const FieldValue& each : fields) {
        const std::uint16_t word = held_.layout->fields[static_cast<std::size_t>(each.field)];
        if (word == Layout::kNoWord) {
            surprise();
            continue;
        }
        std::uint64_t& value = held_.words[word];
        if (value == put_value(kNoField))
            value = put_value(each.value);
        else if (adds_up(each.field))
            value += put_value(each.value);
    }
}

void ThreadEvents::parameter(OTF2_ParameterRef parameter, const TypedValue& value) {
    ++heard_;
    if (held_.layout == nullptr)
        ++passed_over_.records;
    else if (const Word* word = word_at(held_.layout->parameters, parameter))
        put(*word, value);
    else
        surprise();
}

void ThreadEvents::metric() {
    ++heard_;
    ++passed_over_.metrics;
}

void ThreadEvents::finish(std::uint64_t events) {
    give_held();
    thread_.release();
    passed_over_.others = events - std::min(events, heard_);
}

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
