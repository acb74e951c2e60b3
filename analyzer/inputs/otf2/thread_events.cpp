#include "analyzer/inputs/otf2/thread_events.h"

#include <algorithm>
#include <utility>

#include "analyzer/inputs/otf2/names.h"

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
    artificial += more.artificial;
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
    if (pauses_.size() == kMostPauses) give_held();
    pauses_.push_back(pause);
}

void ThreadEvents::leave(std::uint64_t time, OTF2_RegionRef region,
                         std::span<const AttributeValue> attributes) {
    ++heard_;
    time = in_order(time);
    const Layout* layout = layout_of(region);
    if (layout == nullptr || !layout->is_function) return;
    give_held();
    not_seen_ = is_not_seen(attributes);
    if (not_seen_) return;
    const std::uint64_t result = result_of(*layout, attributes);
    thread_.leave_function(time, layout->function, {&result, layout->results.empty() ? 0U : 1U});
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

}  // namespace rdam::inputs::otf2
