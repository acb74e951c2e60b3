// The calls of one task.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/uftrace/functions.h"
#include "analyzer/inputs/uftrace/records.h"
#include "analyzer/inputs/uftrace/switches.h"
#include "analyzer/inputs/uftrace/tasks.h"
#include "tools/base/result.h"

namespace rdam::inputs::uftrace {

/// What could not be taken as it stands, of all tasks.
struct Totals {
    std::uint64_t lost = 0;         ///< records, in the recorder
    std::uint64_t gaps = 0;         ///< places where they were
    std::uint64_t events = 0;       ///< records of no call
    std::uint64_t moved = 0;        ///< records that were earlier than the one before
    std::uint64_t unwound = 0;      ///< calls that longjmp() ended
    std::uint64_t undescribed = 0;  ///< calls or returns with values that no specification describes
};

class TaskReader {
  public:
    /// Bytes of the file that have been read.
    using Seen = std::function<void(std::uint64_t)>;

    /// All are used until it is read.
    TaskReader(const Task& task, const Tasks& tasks, const std::vector<Switch>& switches,
               Functions& functions, TraceBuilder& trace, ThreadBuilder& thread, Totals& totals);

    /// Errors: a file that is cut, or has something else.
    Result<void> read(RecordBytes& bytes, const Seen& seen);

  private:
    struct Known {
        std::uint64_t address = UINT64_MAX;
        Callee callee;
    };
    static constexpr std::size_t kKnown = 4096;

    Result<void> take(const Record& record, RecordBytes& bytes);
    Result<void> take_call(const Record& record, RecordBytes& bytes);
    Result<void> take_values(const Record& record, RecordBytes& bytes, const Signature& signature);
    void take_entry(const Record& record, std::uint32_t function);
    void take_exit(const Record& record, std::uint32_t function);
    void unwind(std::size_t kept);
    void forget_open_calls();
    void enter_span(std::uint64_t time);
    Result<Callee> callee_at(std::uint64_t time, std::uint64_t address);
    std::uint16_t processor_at(std::uint64_t time);

    const Task& task_;
    const Tasks& tasks_;
    const std::vector<Switch>& switches_;
    Functions& functions_;
    TraceBuilder& trace_;
    ThreadBuilder& thread_;
    Totals& totals_;

    std::uint64_t time_ = 0;           ///< of the last call or return
    std::vector<std::uint32_t> open_;  ///< functions
    std::uint16_t outermost_ = 0;      ///< the depth of the first of them
    SessionSpan span_;
    bool in_span_ = false;
    std::vector<Known> known_;  ///< by a part of the address
    std::size_t next_switch_ = 0;
    std::uint16_t processor_ = trace::kNoCpu;
    std::vector<std::uint64_t> words_;
};

}  // namespace rdam::inputs::uftrace
