#include "analyzer/inputs/otf2/thread_events.h"

#include <algorithm>

#include "analyzer/otf2/names.h"

namespace rdam::inputs::otf2 {
namespace {

const Word* word_at(const std::vector<Word>& words, std::uint32_t ref) {
    const auto found = std::ranges::lower_bound(words, ref, {}, &Word::ref);
    return found == words.end() || found->ref != ref ? nullptr : &*found;
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
                           ThreadBuilder& thread)
    : definitions_(definitions), functions_(functions), builder_(builder), thread_(thread) {}

std::uint64_t ThreadEvents::in_order(std::uint64_t time) {
    if (time < last_) ++passed_over_.earlier;
    last_ = std::max(last_, time);
    return last_;
}

void ThreadEvents::give_held() {
    if (held_.layout == nullptr) return;
    thread_.enter(held_.time, held_.layout->function, held_.words);
    held_.layout = nullptr;
}

std::optional<std::uint64_t> ThreadEvents::word_of(const TypedValue& value, ValueKind kind) {
    if (value.type != OTF2_TYPE_STRING) return number_of(value, kind);
    if (kind != ValueKind::enumeration) return {};
    const auto [at, is_new] = texts_.try_emplace(value.value.stringRef, 0);
    if (is_new) at->second = builder_.text(definitions_.text(value.value.stringRef));
    return at->second;
}

void ThreadEvents::put(const std::vector<Word>& words, std::uint32_t ref, const TypedValue& value) {
    const Word* word = word_at(words, ref);
    if (word == nullptr) return;
    if (const auto number = word_of(value, word->kind)) held_.words[word->word] = *number;
}

void ThreadEvents::enter(std::uint64_t time, OTF2_RegionRef region,
                         std::span<const AttributeValue> attributes) {
    ++heard_;
    time = in_order(time);
    const Layout* layout = functions_.find(region);
    if (layout == nullptr) {
        ++passed_over_.undefined;
        return;
    }
    if (layout->what != Layout::What::function) {
        off_since_ = time;
        return;
    }
    give_held();
    if (not_seen_ > 0) thread_.gap();
    not_seen_ = 0;
    held_.layout = layout;
    held_.time = time;
    held_.words = layout->absent;
    for (const AttributeValue& each : attributes)
        put(layout->attributes, each.ref, each.value);
}

std::string_view ThreadEvents::own_end(std::span<const AttributeValue> attributes) const {
    if (!definitions_.ours()) return {};
    for (const AttributeValue& each : attributes)
        if (each.ref == rdam::otf2::kEnd && each.value.type == OTF2_TYPE_STRING)
            return definitions_.text(each.value.value.stringRef);
    return {};
}

void ThreadEvents::leave(std::uint64_t time, OTF2_RegionRef region,
                         std::span<const AttributeValue> attributes) {
    ++heard_;
    time = in_order(time);
    const Layout* layout = functions_.find(region);
    if (layout == nullptr) return;
    if (layout->what != Layout::What::function) {
        if (off_since_)
            thread_.off_cpu(
                {.out = *off_since_, .in = time, .preempted = layout->what == Layout::What::preempted});
        off_since_.reset();
        return;
    }
    give_held();
    const std::string_view end = own_end(attributes);
    if (end == rdam::otf2::kNotSeen) {
        ++not_seen_;
        return;
    }
    not_seen_ = 0;
    std::uint64_t result = 0;
    for (const AttributeValue& each : attributes)
        if (const Word* word = word_at(layout->results, each.ref))
            result = word_of(each.value, word->kind).value_or(0);
    const std::span<const std::uint64_t> words{&result, layout->results.empty() ? 0U : 1U};
    if (thread_.depth() > 0 && thread_.innermost() == layout->function)
        thread_.leave(time, words);
    else
        thread_.leave_function(time, layout->function, words);
}

void ThreadEvents::record(std::span<const FieldValue> fields) {
    ++heard_;
    if (held_.layout == nullptr) {
        ++passed_over_.records;
        return;
    }
    for (const FieldValue& each : fields) {
        const std::uint16_t word = held_.layout->fields[static_cast<std::size_t>(each.field)];
        if (word == Layout::kNoWord) continue;
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
    else
        put(held_.layout->parameters, parameter, value);
}

void ThreadEvents::metric() {
    ++heard_;
    ++passed_over_.metrics;
}

void ThreadEvents::finish(std::uint64_t events) {
    give_held();
    passed_over_.others = events - std::min(events, heard_);
}

}  // namespace rdam::inputs::otf2
