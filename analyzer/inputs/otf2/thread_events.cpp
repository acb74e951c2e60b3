#include "analyzer/inputs/otf2/thread_events.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "analyzer/otf2/names.h"

namespace rdam::inputs::otf2 {
namespace {

/// A made-up archive may have any number of them between two events.
constexpr std::size_t kMostPauses = 1024;

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
    others += more.others;
}

ThreadEvents::ThreadEvents(const Definitions& definitions, const Functions& functions, TraceBuilder& builder,
                           ThreadBuilder& thread, std::atomic<bool>* surprised)
    : definitions_(definitions),
      functions_(functions),
      builder_(builder),
      thread_(thread),
      surprised_(surprised) {}

inline const Layout* ThreadEvents::layout_of(OTF2_RegionRef region) {
    Known& known = known_[region % known_.size()];
    if (known.layout == nullptr || known.region != region)
        known = {.region = region, .layout = functions_.find(region)};
    return known.layout;
}

inline std::uint64_t ThreadEvents::in_order(std::uint64_t time) {
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
        thread_.pause(each.begin, each.end, each.reason);
    pauses_.clear();
}

void ThreadEvents::give_call() {
    const Layout& layout = *std::exchange(held_.layout, nullptr);
    if (!definitions_.ours()) return thread_.enter(held_.time, layout.function, held_.words);
    const std::uint8_t around = rates_.empty() ? std::uint8_t{0} : rates_.back();
    const std::uint8_t sampling =
        held_.rate == around ? std::uint8_t{0} : static_cast<std::uint8_t>(held_.rate + 1);
    thread_.enter(held_.time, layout.function, held_.words, trace::kNoCpu, sampling);
    rates_.resize(thread_.depth(), held_.rate);
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
    if (layout->what != Layout::What::function) {
        off_since_ = time;
        return;
    }
    give_held();
    if (not_seen_ > 0) {
        thread_.gap();
        rates_.clear();
    }
    not_seen_ = 0;
    held_.layout = layout;
    held_.time = time;
    held_.rate = own_rate(attributes);
    held_.words = layout->absent;
    for (std::size_t i = 0; i < attributes.size(); ++i)
        if (const Word* word = word_at(layout->attributes, attributes[i].ref, i))
            put(*word, attributes[i].value);
        else
            surprise_at(attributes[i].ref);
}

inline const TypedValue* ThreadEvents::own(std::span<const AttributeValue> attributes, OTF2_AttributeRef ref,
                                           OTF2_Type type) const {
    if (!definitions_.ours()) return nullptr;
    for (const AttributeValue& each : attributes)
        if (each.ref == ref && each.value.type == type) return &each.value;
    return nullptr;
}

inline std::uint8_t ThreadEvents::own_rate(std::span<const AttributeValue> attributes) const {
    const TypedValue* calls = own(attributes, rdam::otf2::kCalls, OTF2_TYPE_UINT64);
    if (calls == nullptr || calls->value.uint64 == 0) return 0;
    return static_cast<std::uint8_t>(
        std::min<std::uint64_t>(std::bit_width(calls->value.uint64) - 1U, trace::kMaxSampling));
}

inline std::string_view ThreadEvents::own_text(std::span<const AttributeValue> attributes,
                                               OTF2_AttributeRef ref) const {
    const TypedValue* text = own(attributes, ref, OTF2_TYPE_STRING);
    return text == nullptr ? std::string_view{} : definitions_.text(text->value.stringRef);
}

/// A time in which a call begins or ends, or that applies to other threads of the program in part, was
/// exported in parts.
void ThreadEvents::leave_off_cpu(std::uint64_t time, Layout::What what,
                                 std::span<const AttributeValue> attributes) {
    if (!off_since_) return;
    const TypedValue* processor = own(attributes, rdam::otf2::kProcessor, OTF2_TYPE_UINT32);
    const trace::OffCpu next{
        .out = *off_since_,
        .in = time,
        .cpu = processor == nullptr ? trace::kNoCpu : static_cast<std::uint16_t>(processor->value.uint32),
        .preempted = what != Layout::What::waits,
        .by_recorder = what == Layout::What::displaced};
    off_since_.reset();
    if (off_ && off_->in == next.out && off_->preempted == next.preempted &&
        off_->by_recorder == next.by_recorder) {
        off_->in = next.in;
        off_->cpu = next.cpu;
        return;
    }
    give_off_cpu();
    off_ = next;
}

void ThreadEvents::give_off_cpu() {
    if (off_ && off_->out < off_->in) thread_.off_cpu(*off_);
    off_.reset();
}

void ThreadEvents::flush(std::uint64_t begin, std::uint64_t end, std::span<const AttributeValue> attributes) {
    ++heard_;
    begin = in_order(begin);
    if (const TypedValue* began = own(attributes, rdam::otf2::kBegan, OTF2_TYPE_UINT64))
        begin = std::min(began->value.uint64, kLatest);
    const auto reason = std::ranges::find(rdam::otf2::kReasons, own_text(attributes, rdam::otf2::kReason));
    const Pause pause{.begin = begin,
                      .end = std::min(end, kLatest),
                      .reason = reason == rdam::otf2::kReasons.end()
                                    ? trace::PauseReason::other
                                    : static_cast<trace::PauseReason>(reason - rdam::otf2::kReasons.begin())};
    if (pauses_.size() == kMostPauses) give_held();
    pauses_.push_back(pause);
}

void ThreadEvents::leave(std::uint64_t time, OTF2_RegionRef region,
                         std::span<const AttributeValue> attributes) {
    ++heard_;
    time = in_order(time);
    const Layout* layout = layout_of(region);
    if (layout == nullptr) return;
    if (layout->what != Layout::What::function) {
        leave_off_cpu(time, layout->what, attributes);
        return;
    }
    give_held();
    const std::string_view end = own_text(attributes, rdam::otf2::kEnd);
    if (end == rdam::otf2::kNotSeen) {
        ++not_seen_;
        return;
    }
    not_seen_ = 0;
    const std::uint64_t result = result_of(*layout, attributes);
    give_leave(time, *layout, {&result, layout->results.empty() ? 0U : 1U}, end);
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

void ThreadEvents::give_leave(std::uint64_t time, const Layout& layout, std::span<const std::uint64_t> words,
                              std::string_view end) {
    if (end == rdam::otf2::kUnwound && thread_.depth() > 0 && thread_.innermost() == layout.function)
        thread_.unwind(time, thread_.depth() - 1);
    else
        thread_.leave_function(time, layout.function, words);
    if (!rates_.empty()) rates_.resize(std::min(rates_.size(), thread_.depth()));
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
    give_off_cpu();
    thread_.release();
    // In an archive of ours, the only one is that a thread is there.
    if (!definitions_.ours()) passed_over_.others = events - std::min(events, heard_);
}

}  // namespace rdam::inputs::otf2
