#include "analyzer/inputs/uftrace/task_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rdam::inputs::uftrace {

namespace {

constexpr std::size_t kUnit = 4;  // values begin at multiples of it
constexpr std::size_t kLongDouble = 10;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

template <class Plain>
Plain load_value(std::string_view bytes) {
    Plain value{};
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

std::int64_t signed_value(std::string_view bytes) {
    switch (bytes.size()) {
        case 1:
            return load_value<std::int8_t>(bytes);
        case 2:
            return load_value<std::int16_t>(bytes);
        case 4:
            return load_value<std::int32_t>(bytes);
        default:
            return load_value<std::int64_t>(bytes);
    }
}

/// The upper half of the register of an `int` is 0.
std::int64_t number_value(std::string_view bytes) {
    constexpr std::int64_t kLeast = 0xffff0000;
    constexpr std::int64_t kMost = 0xffffffff;
    const std::int64_t value = signed_value(bytes);
    return value > kLeast && value <= kMost ? static_cast<std::int32_t>(value) : value;
}

double floating_value(std::string_view bytes) {
    if (bytes.size() == sizeof(float)) return load_value<float>(bytes);
    if (bytes.size() == kLongDouble) return static_cast<double>(load_value<long double>(bytes));
    return load_value<double>(bytes);
}

std::uint64_t word_of(std::string_view bytes, ValueFormat format, TraceBuilder& texts) {
    switch (format) {
        case ValueFormat::number:
            return put_value(number_value(bytes));
        case ValueFormat::signed_number:
        case ValueFormat::character:
            return put_value(signed_value(bytes));
        case ValueFormat::floating:
            return put_value(floating_value(bytes));
        case ValueFormat::text:
            return texts.text(bytes.substr(2));
        default:
            return put_value(load_value<std::uint64_t>(bytes));
    }
}

/// Appends a word for each value, except for structures. How many bytes they take, with what fills up the
/// last 8; nothing: more than `data` has.
std::optional<std::size_t> decode_values(std::string_view data, const std::vector<ValueSpec>& specs,
                                         TraceBuilder& texts, std::vector<std::uint64_t>& words) {
    std::size_t at = 0;
    for (const ValueSpec& spec : specs) {
        if (at + spec.size > data.size()) return std::nullopt;
        std::size_t size = spec.size;
        if (spec.format == ValueFormat::text) size += load_value<std::uint16_t>(data.substr(at, 2));
        if (at + size > data.size()) return std::nullopt;
        if (spec.format != ValueFormat::structure)
            words.push_back(word_of(data.substr(at, size), spec.format, texts));
        at = rounded_up(at + size, kUnit);
    }
    at = rounded_up(at, kWordBytes);
    if (at > data.size()) return std::nullopt;
    return at;
}

constexpr std::size_t kMaxWrittenValueBytes = 1024;  ///< that uftrace writes for a call
constexpr std::size_t kMaxValueBytes = 4096;
constexpr std::uint64_t kSeenEvery = 100'000;  // records

/// By how many levels the depth of a record, modulo kDepths, is less than `expected` where that of the first
/// is `outermost`; 0: it is not less.
std::size_t surplus(std::size_t expected, std::uint16_t depth, std::uint16_t outermost) {
    const std::size_t levels = (expected + outermost + kDepths - depth) % kDepths;
    return levels > kDepths / 2 || levels > expected ? 0 : levels;
}

tl::unexpected<Error> cut_at(const RecordBytes& bytes, std::uint64_t position) {
    return fail(
        "{} ends within the record at byte {}: copy the directory again, or remove the file to analyze the "
        "other threads",
        bytes.path(), position);
}

/// Whether a file that ends after `data`, behind a record, has been cut. `described`: the bytes of the values
/// as specified, if they are there.
bool is_cut(std::string_view data, std::optional<std::size_t> described, bool undescribed) {
    if (data.size() > kMaxWrittenValueBytes) return false;
    if (data.empty() || data.size() % kWordBytes != 0) return true;
    return !undescribed && (!described || data.size() - *described < kRecordSize);
}

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
        if (next.size() < kRecordSize) return cut_at(bytes, bytes.position());
        const Record record = decode_record(next.data());
        if (!record.sound && totals_.undescribed > 0)
            return fail(
                "{} has no record of uftrace at byte {}, and values before it that neither `info` nor a "
                "*.dbg "
                "file describes: copy the whole directory again, or record again",
                bytes.path(), bytes.position());
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
            forget_open_calls();
            totals_.lost += record.address;
            ++totals_.gaps;
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

void TaskReader::forget_open_calls() {
    thread_.gap();
    open_.clear();
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
    if (record.kind == RecordKind::entry) {
        take_entry(record, callee->function);
    } else {
        take_exit(record, callee->function);
    }
    return {};
}

/// Calls that are open at its depth have ended without a record.
void TaskReader::take_entry(const Record& record, std::uint32_t function) {
    if (open_.empty()) outermost_ = record.depth;
    unwind(open_.size() - surplus(open_.size(), record.depth, outermost_));
    open_.push_back(function);
    thread_.enter(time_, function, words_, processor_at(time_));
}

void TaskReader::take_exit(const Record& record, std::uint32_t function) {
    if (!open_.empty()) {
        const std::size_t at = open_.size() - 1 - surplus(open_.size() - 1, record.depth, outermost_);
        if (open_[at] == function) {
            unwind(at + 1);
        } else if (open_.back() != function) {
            // setjmp() has returned once more, for longjmp().
            return unwind(at);
        }
        open_.pop_back();
    }
    thread_.leave(time_, words_, processor_at(time_));
}

void TaskReader::unwind(std::size_t kept) {
    if (kept == open_.size()) [[likely]]
        return;
    totals_.unwound += open_.size() - kept;
    open_.resize(kept);
    thread_.unwind(time_, kept);
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
    const auto next = find_next_record(record, data);
    const bool to_end = data.size() <= kMaxWrittenValueBytes;
    if (!next && is_cut(data, size, specs.empty()))
        return cut_at(bytes, size ? bytes.position() + *size : bytes.position() - kRecordSize);
    ++totals_.undescribed;
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
    if (before != nullptr && before != span_.session) forget_open_calls();
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

namespace {

constexpr std::size_t kRecordBuffer = std::size_t{1} << 20U;
constexpr unsigned kRecordMagic = 5;
constexpr std::uint64_t kDay = 86'400'000'000'000;

std::size_t aligned(std::size_t bytes) {
    return (bytes + kWordBytes - 1) / kWordBytes * kWordBytes;
}

/// Whether `next` is what comes after `record` where nothing is lost.
bool is_next(const Record& record, const Record& next) {
    if (!next.sound || next.time < record.time || next.time - record.time > kDay) return false;
    const bool inside = record.kind == RecordKind::entry;
    switch (next.kind) {
        case RecordKind::entry:
            return next.depth == (record.depth + (inside ? 1 : 0)) % kDepths;
        case RecordKind::exit:
            return inside ? next.depth == record.depth && next.address == record.address
                          : (next.depth + 1U) % kDepths == record.depth;
        default:
            return false;
    }
}

}  // namespace

Record decode_record(const char* bytes) {
    std::uint64_t time = 0;
    std::uint64_t rest = 0;
    std::memcpy(&time, bytes, sizeof time);
    std::memcpy(&rest, bytes + sizeof time, sizeof rest);
    return {.time = time,
            .kind = static_cast<RecordKind>(rest & 3U),
            .has_data = (rest >> 2U & 1U) != 0,
            .sound = (rest >> 3U & 7U) == kRecordMagic,
            .depth = static_cast<std::uint16_t>(rest >> 6U & 0x3ffU),
            .address = rest >> 16U};
}

RecordBytes::RecordBytes(std::unique_ptr<ByteStream> stream, std::string path)
    : stream_(std::move(stream)), path_(std::move(path)), buffer_(kRecordBuffer) {}

void RecordBytes::fill() {
    if (ended_) return;
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    before_ += at_;
    end_ -= at_;
    at_ = 0;
    const auto got = stream_->read(std::span{buffer_}.subspan(end_));
    if (!got) error_ = got.error();
    ended_ = !got || *got < buffer_.size() - end_;
    end_ += got ? *got : 0;
}

std::optional<std::size_t> event_data_size(std::string_view data) {
    std::uint16_t length = 0;
    if (data.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, data.data(), sizeof length);
    const std::size_t size = aligned(sizeof length + length);
    if (size > data.size()) return std::nullopt;
    return size;
}

std::optional<std::size_t> find_next_record(const Record& record, std::string_view data) {
    for (std::size_t at = 0; at + kRecordSize <= data.size(); at += kWordBytes)
        if (is_next(record, decode_record(data.data() + at))) return at;
    return std::nullopt;
}

bool may_follow(const Record& record, std::string_view bytes) {
    if (bytes.empty()) return true;
    if (bytes.size() < kRecordSize) return false;
    const Record next = decode_record(bytes.data());
    if (!next.sound) return false;
    if (next.kind == RecordKind::lost) return true;
    return next.time + kDay > record.time && next.time < record.time + kDay;
}

}  // namespace rdam::inputs::uftrace
