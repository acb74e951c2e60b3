// The calls of one thread, from its events to rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/columns/npy_file.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/views/thread_calls.h"
#include "tools/base/unmovable.h"
#include "tools/trace/clock.h"
#include "tools/trace/event.h"

namespace rdam::columns {

// The tables of an export and their columns. What they mean: docs/columns.md.

/// What is known of a call when it begins, and when it has ended.
struct CallBegin {
    std::uint32_t thread = 0;
    std::uint32_t function = 0;
    std::int64_t start_ns = 0;
    std::int32_t cpu = -1;
    std::uint64_t caller = 0;
    std::int64_t parent = -1;
    std::uint32_t weight = 1;
};
struct CallEnd {
    double duration_ns = 0;  ///< NaN: not known
    double self_ns = 0;
    std::int32_t cpu = -1;
    std::int64_t sequence = -1;
    std::uint64_t instructions = 0;  ///< 0: not known
    calls::End end = calls::End::returned;
    bool outermost = false;
    double doubt_ns = 0;  ///< by how much it may have taken longer (calls::Call::held); NaN: not known
};

class CallTable {
  public:
    /// `counted`: there is a column for instructions.
    CallTable(Folder& folder, bool counted);
    std::uint64_t rows() const { return thread_.size(); }
    void append(const CallBegin& call);
    void end(std::uint64_t row, const CallEnd& call);
    std::vector<NpyFile*> columns();

  private:
    Column<std::uint32_t> thread_, function_;
    Column<std::int64_t> start_;
    Column<double> duration_, self_;
    Column<std::int32_t> cpu_enter_, cpu_leave_;
    Column<std::uint64_t> caller_;
    Column<std::int64_t> parent_, sequence_;
    Column<std::uint32_t> weight_;
    Column<std::uint8_t> end_;
    Column<bool> outermost_, held_;
    Column<double> doubt_;
    std::optional<Column<std::uint64_t>> instructions_;
};

/// Parameters and return values of the calls of one function.
class ValueTable {
  public:
    /// A value's column and, except for the table's own columns, the parameter or result that it contains.
    struct Value {
        std::string name;
        std::unique_ptr<NpyFile> file;
        const trace::ParameterInfo* parameter = nullptr;
    };

    /// `info` must outlive it.
    ValueTable(Folder& folder, std::uint32_t function, const trace::FunctionInfo& info);
    std::uint64_t rows() const { return call_->size(); }
    void append(std::uint64_t call, std::span<const std::uint64_t> words);
    void returned(std::uint64_t row, std::span<const std::uint64_t> words);
    const std::vector<Value>& values() const { return values_; }

  private:
    std::string unused_name(const std::string& wanted) const;

    std::vector<Value> values_;
    NpyFile* call_ = nullptr;
    NpyFile* return_ = nullptr;  // null: there is no result
    NpyFile* returned_ = nullptr;
    std::size_t parameters_ = 0;  // values_[1] to values_[parameters_]
};

struct SequenceRow {
    std::uint32_t thread = 0;
    std::uint32_t function = 0;
    std::uint64_t id = 0;  ///< sequences::lasting_ids
    std::uint64_t calls = 0;
    std::string name;
};

class SequenceTable {
  public:
    explicit SequenceTable(Folder& folder);
    std::uint64_t rows() const { return id_.size(); }
    void append(const SequenceRow& row);
    std::vector<NpyFile*> columns();

  private:
    Column<std::uint32_t> thread_, function_;
    Column<std::uint64_t> id_, calls_;
    Column<std::int64_t> name_end_;
    Column<std::uint8_t> name_;
};

/// Times in which a thread was on no processor.
class OffCpuTable {
  public:
    explicit OffCpuTable(Folder& folder);
    std::uint64_t rows() const { return thread_.size(); }
    void append(std::uint32_t thread, std::int64_t out_ns, std::int64_t in_ns, std::int32_t cpu,
                bool preempted, bool by_recorder, bool by_program);
    std::vector<NpyFile*> columns();

  private:
    Column<std::uint32_t> thread_;
    Column<std::int64_t> out_, in_;
    Column<std::int32_t> cpu_;
    Column<bool> preempted_, by_recorder_, by_program_;
};

/// The tables, and by function those that have values (null: no call yet, or nothing was recorded of them).
struct Tables {
    Tables(Folder& folder, const trace::TraceInfo& info);
    /// The files are whole after that, unless `folder` says otherwise.
    void finish();

    Folder& folder;
    CallTable calls;
    SequenceTable sequences;
    std::vector<std::unique_ptr<ValueTable>> values;
    std::unique_ptr<OffCpuTable> off_cpu;  ///< null: not recorded
};

/// Not thread-safe; one thread of the trace is written after the other. All references must outlive it.
class ThreadWriter final : private views::ThreadSequences<ThreadWriter>, private Unmovable {
  public:
    /// `shown`: by function, whether its calls have rows.
    ThreadWriter(std::uint32_t thread, const trace::TraceInfo& info, const score::ResolvedSettings& settings,
                 const std::vector<bool>& shown, trace::TimeScale time, Tables& tables);
    ~ThreadWriter() = default;

    using ThreadSequences::consume;
    using ThreadSequences::gap;
    using ThreadSequences::set_unended;
    /// Ends the open calls and writes the thread's sequences.
    void finish();

  private:
    friend ThreadSequences;
    friend calls::BasicMatcher<ThreadWriter>;

    struct Open {
        std::int64_t row = -1;  ///< its own; without one, that of the call around it
        std::uint64_t value_row = 0;
        std::uint64_t instructions = 0;  ///< trace::Event
    };
    static constexpr std::uint32_t kNone = UINT32_MAX;
    /// A sequence in the table.
    struct Sequence {
        sequences::GroupId group = 0;
        std::uint64_t calls = 0;
    };

    void opened(const trace::Event& enter, std::uint64_t weight);
    void closed(const calls::Call& call);
    void abandoned(std::size_t count);

    ValueTable* values_of(std::uint32_t function);
    std::size_t place_of(sequences::GroupId group);

    std::uint32_t thread_;
    trace::TimeScale time_;
    Tables& tables_;
    const std::vector<bool>& shown_;
    std::vector<bool> known_ends_;     // by function; empty: all
    std::vector<Sequence> sequences_;  // in the order of their rows
    std::vector<std::uint32_t>
        places_;  // in sequences_, by sequences::GroupId; kNone: its function is not shown
    std::vector<Open> open_;
};

}  // namespace rdam::columns
