#include "analyzer/inputs/rows/division.h"

#include <queue>

namespace rdam::inputs {

namespace {

constexpr std::size_t kMaxOfRow = std::size_t{1} << 16U;
/// Events in the encoders of all rows.
constexpr std::size_t kMaxOfRows = std::size_t{1} << 22U;
constexpr std::uint64_t kProgressEach = std::uint64_t{1} << 20U;
/// Linux gives no thread a tid from here on.
constexpr std::uint32_t kFirstFiberTid = 1U << 22U;

/// Each row takes some kilobytes, and a made-up file can switch to a new one in a bit or two.
std::size_t most_rows_of(const trace::TraceReader& reader) {
    constexpr std::size_t kAlways = std::size_t{1} << 17U;
    constexpr std::size_t kBytesEach = 8;
    return reader.info().threads.size() + kAlways + reader.stored_bytes() / kBytesEach;
}

}  // namespace

Result<bool> Carrier::fetch(bool& gap) {
    gap = false;
    while (at_ == events_.size()) {
        auto part = stream_.next();
        if (!part) return tl::unexpected{part.error()};
        if (!*part) return false;
        gap = gap || (*part)->gap;
        events_ = (*part)->events;
        at_ = 0;
    }
    return true;
}

Division::Division(const trace::TraceReader& reader, const calls::Absences& off_cpu,
                   const StackSurvey& survey, trace::TraceWriter& writer, const Progress& progress)
    : reader_(reader),
      off_cpu_(off_cpu),
      survey_(survey),
      writer_(writer),
      progress_(progress),
      counted_(reader.info()),
      max_rows_(most_rows_of(reader)) {
    for (std::uint32_t thread = 0; thread < reader.info().threads.size(); ++thread)
        rows_.push_back(std::make_unique<Row>(thread, 0, thread));
}

Result<void> Division::run() {
    for (const std::vector<std::uint32_t>& group : survey_.groups)
        if (auto divided = divide(group); !divided) return divided;
    return {};
}

/// Threads that share stacks take turns in the order of time, so that the events of a shared stack do.
Result<void> Division::divide(const std::vector<std::uint32_t>& group) {
    Carriers carriers;
    const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
    using Turn = std::pair<std::uint64_t, Carrier*>;
    std::priority_queue<Turn, std::vector<Turn>, decltype(later)> turns{later};
    by_stack_.clear();
    in_group_.clear();
    for (const std::uint32_t thread : group) {
        auto stream = reader_.stream(thread);
        if (!stream) return tl::unexpected{stream.error()};
        auto off_cpu = off_cpu_.thread(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        turns.emplace(0, &carriers.emplace_back(thread, std::move(*stream), std::move(*off_cpu)));
        in_group_.push_back(rows_[thread].get());
    }
    while (!turns.empty()) {
        Carrier& carrier = *turns.top().second;
        turns.pop();
        const auto more = run_until(carrier, turns.empty() ? UINT64_MAX : turns.top().first);
        if (!more) return tl::unexpected{more.error()};
        if (*more) turns.emplace(carrier.since, &carrier);
    }
    return finish_group();
}

/// Until the thread switches its stack or, on one that it shares with others, `limit` (ticks). False: it has
/// no more events. Otherwise `since` says when it goes on.
Result<bool> Division::run_until(Carrier& carrier, std::uint64_t limit) {
    bool shared = is_shared(carrier);
    Row* row = nullptr;
    for (;;) {
        bool gap = false;
        const auto more = carrier.fetch(gap);
        if (!more) return more;
        if (gap) {
            miss_events(carrier);
            row = nullptr;
            shared = is_shared(carrier);
        }
        if (!*more) {
            stop(carrier, UINT64_MAX, UINT64_MAX);
            return false;
        }
        const trace::Event& event = carrier.next();
        if (event.kind == trace::EventKind::stack_switch) {
            stop(carrier, event.tsc, event.tsc);
            switch_to(carrier, event);
            carrier.take();
            return true;
        }
        if (shared && event.tsc > limit) {
            stop(carrier, limit, event.tsc);
            carrier.goes_on = true;
            return true;
        }
        if (row == nullptr) {
            row = event.kind == trace::EventKind::pause ? row_on(carrier) : row_for(carrier);
            if (row != nullptr) resume(*row, carrier);
        }
        if (auto taken = take(row, carrier); !taken) return tl::unexpected{taken.error()};
    }
}

/// The carrier's next event is `row`'s; null: nobody's.
Result<void> Division::take(Row* row, Carrier& carrier) {
    if (row != nullptr)
        give(*row, carrier, carrier.next());
    else if (carrier.next().kind != trace::EventKind::pause)
        ++left_out_;
    carrier.take();
    if (++done_ % kProgressEach == 0) progress_(done_, reader_.events());
    if (error_) return tl::unexpected{*error_};
    return row != nullptr ? added(*row) : Result<void>{};
}

bool Division::is_shared(const Carrier& carrier) const {
    return carrier.owner != UINT32_MAX ? survey_.lent.contains(carrier.owner)
                                       : survey_.shared.contains(carrier.stack);
}

/// Null: nothing has been called there.
Row* Division::row_on(const Carrier& carrier) {
    if (carrier.owner != UINT32_MAX) return rows_[carrier.owner].get();
    const auto known = by_stack_.find(key_of(carrier));
    return known != by_stack_.end() ? known->second : nullptr;
}

/// Null: there are too many.
Row* Division::row_for(const Carrier& carrier) {
    if (Row* known = row_on(carrier); known != nullptr) return known;
    return rows_.size() < max_rows_ ? &add_row(carrier) : nullptr;
}

/// What a thread has on stacks of which it is not known which they are is a row of its own.
std::uint64_t Division::key_of(const Carrier& carrier) {
    constexpr std::uint64_t kOfThreads = std::uint64_t{1} << 63U;
    return carrier.stack == kSomeStack ? kOfThreads + carrier.thread() : carrier.stack;
}

Row& Division::add_row(const Carrier& carrier) {
    const auto index = static_cast<std::uint32_t>(rows_.size());
    Row& row = *rows_.emplace_back(std::make_unique<Row>(index, carrier.stack, carrier.thread()));
    by_stack_.emplace(key_of(carrier), &row);
    in_group_.push_back(&row);
    row.seen_gaps = gaps_;
    return row;
}

/// The thread goes on with the row.
void Division::resume(Row& row, Carrier& carrier) {
    if ((row.stack != 0 || survey_.lent.contains(row.index)) && row.seen_gaps != gaps_) {
        row.gap();
        row.seen_gaps = gaps_;
    }
    if (row.thread != carrier.thread()) row.one_thread = false;
    if (row.stack == kSomeStack && !row.is_empty()) row.gap();
    const bool went_on = carrier.goes_on && row.thread == carrier.thread();
    if (!went_on) {
        carrier.off_from = std::max(carrier.off_from, carrier.since);
        row.run_by(carrier.thread(), ++stretches_);
    }
}

/// Up to `until` the thread ran the row of its stack; it goes on at `since` (ticks).
void Division::stop(Carrier& carrier, std::uint64_t until, std::uint64_t since) {
    Row* const row = row_on(carrier);
    carrier.off_cpu(carrier.off_from, until, [&](const trace::OffCpu& part) {
        if (row == nullptr) return;
        row->add_off_cpu(part);
        if (!row->off_cpu->full()) return;
        if (auto done = append_off_cpu(*row); !done && !error_) error_ = done.error();
    });
    carrier.off_from = until;
    carrier.since = since;
    carrier.goes_on = false;
}

void Division::switch_to(Carrier& carrier, const trace::Event& event) {
    // What was given to the thread's own stack meanwhile may have been on another one.
    if (!carrier.stack_known) rows_[carrier.thread()]->gap();
    carrier.stack_known = true;
    carrier.stack = event.until;
    carrier.owner = event.until == 0
                        ? carrier.thread()
                        : survey_.lender(reader_.info(), event.until, event.tsc).value_or(UINT32_MAX);
}

/// The thread may have switched to any stack, and left any call there.
void Division::miss_events(Carrier& carrier) {
    rows_[carrier.thread()]->gap();
    if (!reader_.switches_stacks(carrier.thread())) return;
    ++gaps_;
    carrier.stack = 0;
    carrier.owner = carrier.thread();
    carrier.stack_known = false;
}

void Division::give(Row& row, Carrier& carrier, const trace::Event& event) {
    if (event.kind != trace::EventKind::enter || event.sampling != 0 || !row.is_empty() ||
        carrier.tree_row == UINT32_MAX || carrier.tree_row == row.index) {
        if (event.sampling != 0) carrier.tree_row = row.index;
        row.add(event);
    } else {
        trace::Event marked = event;
        marked.sampling = rows_[carrier.tree_row]->open_tree();
        row.add(marked);
    }
    if (event.kind < trace::EventKind::leave) counted_.see(carrier.thread(), row.index, event);
}

Result<void> Division::added(Row& row) {
    if (row.encoder.events() >= kMaxOfRow)
        if (auto done = flush(row); !done) return done;
    if (++held_ >= kMaxOfRows) return flush_all();
    return {};
}

Result<void> Division::flush(Row& row) {
    if (row.encoder.events() == 0) return {};
    return writer_.append(row.index, row.encoder);
}

Result<void> Division::flush_all() {
    // Of most of many rows nothing comes for a while.
    constexpr std::size_t kMany = 4096;
    held_ = 0;
    for (Row* row : in_group_) {
        if (row->encoder.events() == 0) continue;
        if (auto done = flush(*row); !done) return done;
        if (in_group_.size() > kMany) row->encoder = {};
    }
    return {};
}

Result<void> Division::append_off_cpu(Row& row) {
    return writer_.append_off_cpu(tid_of(row), *row.off_cpu);
}

Result<void> Division::finish_group() {
    for (Row* row : in_group_) {
        if (auto flushed = flush(*row); !flushed) return flushed;
        row->encoder = {};
        if (!row->off_cpu) continue;
        if (auto done = append_off_cpu(*row); !done) return done;
        row->off_cpu.reset();
    }
    held_ = 0;
    if (error_) return tl::unexpected{*error_};
    return {};
}

std::uint32_t Division::tid_of(const Row& row) const {
    const std::vector<trace::ThreadInfo>& threads = reader_.info().threads;
    if (row.stack == 0) return threads[row.index].tid;
    return kFirstFiberTid + row.index - static_cast<std::uint32_t>(threads.size());
}

trace::ThreadInfo Division::describe(const Row& row) const {
    if (row.stack == 0) return reader_.info().threads[row.index];
    const trace::ThreadInfo& thread = reader_.info().threads[row.thread];
    trace::ThreadInfo info;
    info.tid = tid_of(row);
    const std::string number = row.stack == kSomeStack ? "other fibers" : fmt::format("fiber {}", row.stack);
    info.name = row.one_thread && !thread.name.empty() ? fmt::format("{}'s {}", thread.name, number) : number;
    info.start = row.first;
    info.end = row.last;
    info.calls_until = thread.calls_until;
    info.fiber = row.stack;
    return info;
}

trace::TraceInfo Division::describe() const {
    trace::TraceInfo info = reader_.info();
    info.threads.clear();
    for (const std::unique_ptr<Row>& row : rows_)
        info.threads.push_back(describe(*row));
    counted_.divide(reader_.info(), info.threads);
    info.switches.marked = true;
    add_remark(info.remarks, left_out_, "event on a stack of its own is left out: there are too many stacks",
               "events on stacks of their own are left out: there are too many stacks");
    return info;
}

CountedCalls::CountedCalls(const trace::TraceInfo& info) {
    for (const trace::FunctionInfo& function : info.functions) {
        counted_.push_back(function.counted && function.windowed_since != 0);
        since_.push_back(function.windowed_since);
    }
}

void CountedCalls::note(std::uint32_t thread, std::uint32_t row, const trace::Event& enter) {
    Recorded& calls = recorded_[key(thread, enter.function)][row];
    ++calls.all;
    if (enter.tsc >= since_[enter.function]) ++calls.sampled;
}

void CountedCalls::divide(const trace::TraceInfo& info, std::vector<trace::ThreadInfo>& rows) const {
    for (std::uint32_t thread = 0; thread < info.threads.size(); ++thread) {
        const std::vector<trace::CallCount>& counts = info.threads[thread].calls;
        rows[thread].calls.clear();
        for (const trace::CallCount& count : counts) {
            const auto found = recorded_.find(key(thread, count.function));
            if (found == recorded_.end()) {
                rows[thread].calls.push_back(count);
                continue;
            }
            std::uint64_t all = 0, sampled = 0;
            for (const auto& [row, calls] : found->second) {
                all += calls.all;
                sampled += calls.sampled;
            }
            const std::uint64_t rest = count.calls > all ? count.calls - all : 0;
            // Shares add up to the whole: each is the difference of two rounded sums.
            std::uint64_t before = 0, given = 0;
            for (const auto& [row, calls] : found->second) {
                before += sampled > 0 ? calls.sampled : calls.all;
                const auto up_to = static_cast<std::uint64_t>(
                    static_cast<long double>(rest) * static_cast<long double>(before) /
                    static_cast<long double>(sampled > 0 ? sampled : all));
                rows[row].calls.push_back({count.function, calls.all + up_to - given});
                given = up_to;
            }
        }
    }
    // A row that several threads have run has a number of each.
    for (trace::ThreadInfo& row : rows) {
        std::ranges::sort(row.calls, {}, &trace::CallCount::function);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < row.calls.size(); ++i) {
            if (kept > 0 && row.calls[kept - 1].function == row.calls[i].function)
                row.calls[kept - 1].calls += row.calls[i].calls;
            else
                row.calls[kept++] = row.calls[i];
        }
        row.calls.resize(kept);
    }
}

}  // namespace rdam::inputs
