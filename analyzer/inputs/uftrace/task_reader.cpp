#include "analyzer/inputs/uftrace/task_reader.h"

#include <algorithm>

#include "analyzer/inputs/uftrace/values.h"

namespace rdam::inputs::uftrace {
namespace {

/// uftrace keeps the values of a call in 1 KiB.
constexpr std::size_t kMaxValueBytes = 4096;
constexpr std::uint64_t kSeenEvery = 100'000;  // records

}  // namespace

TaskReader::TaskReader(const Task& task, const Tasks& tasks, const std::vector<Switch>& switches,
                       Functions& functions, TraceBuilder& trace, ThreadBuilder& thread, Totals& totals)
    : task_(task),
      tasks_(tasks),
      switches_(switches),
      functions_(functions),
      trace_(trace),
      thread_(thread),
      totals_(totals),
      known_(kKnown) {}

Result<void> TaskReader::read(RecordBytes& bytes, const Seen& seen) {
    for (std::uint64_t count = 1;; ++count) {
        const std::string_view next = bytes.ahead(kRecordSize);
        if (bytes.error()) return tl::unexpected{*bytes.error()};
        if (next.empty()) break;
        if (next.size() < kRecordSize)
            return fail(
                "{} ends within the record at byte {}: copy the directory again, or remove the file to "
                "analyze the other threads",
                bytes.path(), bytes.position());
        const Record record = decode_record(next.data());
        if (!record.sound)
            return fail(
                "{} has no record of uftrace at byte {}: it is damaged, remove the file to analyze the "
                "other threads",
                bytes.path(), bytes.position());
        bytes.skip(kRecordSize);
        if (const auto done = take(record, bytes); !done) return done;
        if (count % kSeenEvery == 0) seen(bytes.position());
    }
    seen(bytes.position());
    return {};
}

Result<void> TaskReader::take(const Record& record, RecordBytes& bytes) {
    switch (record.kind) {
        case RecordKind::lost:
            take_loss(record);
            return {};
        case RecordKind::event: {
            ++totals_.events;
            if (!record.has_data) return {};
            const auto size = event_data_size(bytes.ahead(std::size_t{UINT16_MAX} + 16));
            if (!size)
                return fail(
                    "{} ends within the event at byte {}: copy the directory again, or remove the file "
                    "to analyze the other threads",
                    bytes.path(), bytes.position());
            bytes.skip(*size);
            return {};
        }
        default:
            return take_call(record, bytes);
    }
}

void TaskReader::take_loss(const Record& record) {
    thread_.gap();
    totals_.lost += record.address;
    ++totals_.gaps;
}

Result<void> TaskReader::take_call(const Record& record, RecordBytes& bytes) {
    if (record.time < time_) ++totals_.moved;
    time_ = std::max(time_, record.time);
    if (!in_span_ || time_ >= span_.until) enter_span(time_);
    const auto callee = callee_at(time_, record.address);
    if (!callee) return tl::unexpected{callee.error()};
    words_.clear();
    if (record.has_data)
        if (const auto done = take_values(record, bytes, *callee->signature); !done) return done;
    const std::uint16_t processor = processor_at(time_);
    if (record.kind == RecordKind::entry) {
        thread_.enter(time_, callee->function, words_, processor);
    } else if (thread_.depth() > 0 && thread_.innermost() == callee->function) {
        thread_.leave(time_, words_, processor);
    } else {
        thread_.leave_function(time_, callee->function, words_, processor);
    }
    return {};
}

Result<void> TaskReader::take_values(const Record& record, RecordBytes& bytes, const Signature& signature) {
    const auto& specs = record.kind == RecordKind::entry ? signature.arguments : signature.results;
    const std::string_view data = bytes.ahead(kMaxValueBytes + kRecordSize);
    const auto size = specs.empty() ? std::nullopt : decode_values(data, specs, trace_, words_);
    if (size && may_follow(record, data.substr(*size, kRecordSize))) {
        bytes.skip(*size);
        return {};
    }
    words_.clear();
    ++totals_.undescribed;
    const bool to_end = data.size() < kMaxValueBytes;
    const auto next = find_next_record(record, data);
    if (!next && !to_end)
        return fail(
            "{} has values at byte {} that `info` does not describe, and no record behind them: remove "
            "the file to analyze the other threads",
            bytes.path(), bytes.position());
    bytes.skip(next.value_or(data.size()));
    return {};
}

/// In another program after execve(), of which the calls that were open know nothing.
void TaskReader::enter_span(std::uint64_t time) {
    const Session* before = span_.session;
    span_ = tasks_.session_at(task_, time);
    if (span_.session != nullptr) {
        const auto& libraries = span_.session->libraries;
        const auto next = std::ranges::upper_bound(libraries, time, {}, &OpenedLibrary::time);
        if (next != libraries.end()) span_.until = std::min(span_.until, next->time);
    }
    if (before != nullptr && before != span_.session) thread_.gap();
    in_span_ = true;
    std::ranges::fill(known_, Known{});
}

Result<Callee> TaskReader::callee_at(std::uint64_t time, std::uint64_t address) {
    constexpr unsigned kAlignment = 4;
    Known& known = known_[(address ^ address >> kAlignment) % kKnown];
    if (known.address == address) [[likely]]
        return known.callee;
    const auto callee = functions_.find(span_, time, address);
    if (callee) known = {.address = address, .callee = *callee};
    return callee;
}

/// A thread is on the processor that it leaves next, or that it came to last.
std::uint16_t TaskReader::processor_at(std::uint64_t time) {
    if (next_switch_ < switches_.size() && switches_[next_switch_].time > time && next_switch_ > 0)
        return processor_;
    while (next_switch_ < switches_.size() && switches_[next_switch_].time <= time)
        processor_ = switches_[next_switch_++].processor;
    if (next_switch_ < switches_.size() && switches_[next_switch_].out)
        processor_ = switches_[next_switch_].processor;
    return processor_;
}

}  // namespace rdam::inputs::uftrace
