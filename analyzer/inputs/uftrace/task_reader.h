// The calls of one task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/uftrace/folder.h"
#include "analyzer/inputs/uftrace/functions.h"
#include "analyzer/inputs/uftrace/tasks.h"
#include "tools/base/result.h"

namespace rdam::inputs::uftrace {

// The records of a task, `<tid>.dat`: 16 bytes each, some with data behind.

enum class RecordKind : std::uint8_t { entry, exit, lost, event };

struct Record {
    std::uint64_t time = 0;  ///< nanoseconds
    RecordKind kind = RecordKind::entry;
    bool has_data = false;
    bool sound = false;         ///< the bits that all records have in common are there
    std::uint16_t depth = 0;    ///< of the call, modulo 1024
    std::uint64_t address = 0;  ///< of the function; event: its number; lost: how many records
};

/// Values that follow a record are filled up to a multiple of it, in bytes.
inline constexpr std::size_t kWordBytes = 8;
/// That a record can have: of a call that is deeper it says the rest of the division.
inline constexpr unsigned kDepths = 1024;
inline constexpr std::size_t kRecordSize = 16;

/// `bytes`: kRecordSize at least.
Record decode_record(const char* bytes);

/// A window on the bytes of a file that moves forward.
class RecordBytes {
  public:
    RecordBytes(std::unique_ptr<ByteStream> stream, std::string path);

    /// The next `wanted` bytes, or as many as there are. Valid until the next call. `wanted`: 64 KiB at most.
    std::string_view ahead(std::size_t wanted) {
        if (end_ - at_ < wanted) [[unlikely]]
            fill();
        return {buffer_.data() + at_, end_ - at_ < wanted ? end_ - at_ : wanted};
    }
    /// Not more than were ahead.
    void skip(std::size_t bytes) { at_ += bytes; }

    std::uint64_t position() const { return before_ + at_; }
    const std::string& path() const { return path_; }
    const std::optional<Error>& error() const { return error_; }  ///< then it seems to have ended

  private:
    void fill();

    std::unique_ptr<ByteStream> stream_;
    std::string path_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::uint64_t before_ = 0;  ///< bytes of the file before the buffer
    bool ended_ = false;
    std::optional<Error> error_;
};

/// How many bytes of data an event's record has behind it, all in all; nothing: more than there are.
std::optional<std::size_t> event_data_size(std::string_view data);

/// Where, in bytes behind `record`, the next one begins if the specification of its data is not known or
/// wrong: at the first place that follows from it (depth, time, function). Nothing: there is none.
std::optional<std::size_t> find_next_record(const Record& record, std::string_view data);

/// Whether a record may begin with `bytes`, as far as the one before tells.
bool may_follow(const Record& record, std::string_view bytes);

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
