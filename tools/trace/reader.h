// Reads trace files: intact ones by their index, broken ones by scanning. Every byte is untrusted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/base/result.h"
#include "tools/trace/event.h"
#include "tools/trace/event_columns.h"

namespace rdam::trace {

class FileInput;
class EventStream;
class ExpansionLock;

/// What was wrong with the file, for the report's header.
struct Damage {
    bool bad_header = false;       ///< the file's first bytes are damaged: its chunks say that it is a trace
    bool no_index = false;         ///< the end is missing: found by scanning
    std::uint64_t bad_chunks = 0;  ///< checksum or structure wrong: left out
    std::uint64_t missing_chunks = 0;  ///< sequence numbers that are not there
    std::uint64_t skipped_bytes = 0;   ///< between chunks, while scanning
};

/// Ticks: begin ≤ t ≤ end.
struct TimePart {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// What tells the file of a trace from any other that has been, or will be, under its name: by its header, the
/// checksum of its index, its size and when it was written.
struct TraceIdentity {
    std::string path;        ///< of the file itself, not of a link to it
    std::uint64_t hash = 0;  ///< of all this but the path
    std::uint32_t mode = 0;  ///< who may read it (stat)
    std::uint32_t owner = 0, group = 0;
};

/// How the events of a thread are read.
struct Reading {
    bool ahead = false;  ///< a second thread of this process decodes the chunks that come next
    /// The caller's, taken before a chunk that takes far more memory than a recorder's; null: one of its own.
    ExpansionLock* turn = nullptr;
    std::function<bool()> stopped = {};  ///< asked after each chunk; true: reading ends with an error
};

/// Where the events of a thread go, chunk by chunk.
struct ColumnsSink {
    /// Gets them, unless it is empty, or some leave by unwinding of the thread names no function.
    std::function<void(std::span<const EventColumns>)> columns;
    std::function<void(std::span<const Event>)> events;  ///< gets the others
    std::function<void()> gap;
};

class TraceReader {
  public:
    /// Opens and reads everything but the events. If a recorder still writes the file, waits for it (calls
    /// `waiting` once if that takes more than a second). Errors: no such file, not a trace, a newer format
    /// version, nothing readable in it.
    static Result<TraceReader> open(const std::string& path, const std::function<void()>& waiting = {});
    /// Opens the file with its current content: one that is still being written has no end yet.
    static Result<TraceReader> open_as_it_is(const std::string& path);
    /// Reads a file that is open for reading; takes over `fd`. `name` is for messages.
    static Result<TraceReader> read_descriptor(int fd, const std::string& name);
    ~TraceReader();
    TraceReader(TraceReader&&) noexcept;
    TraceReader& operator=(TraceReader&&) noexcept;
    TraceReader(const TraceReader&) = delete;
    TraceReader& operator=(const TraceReader&) = delete;

    /// Guarantees: every function and object index in it is in range of its vector, every thread of a chunk
    /// is in `threads`, `windows` are in the order of time, every parameter's and result's word is one that
    /// is recorded, at most one result. What the file has lost is there with empty fields, a function with
    /// the name "(description lost)".
    const TraceInfo& info() const;
    /// Nothing: the trace is none of a file that open() has opened, or the file's beginning or end is damaged.
    std::optional<TraceIdentity> identity() const;
    /// Grows while threads are read (a chunk's inside is looked at only then); complete after all are.
    Damage damage() const;
    std::uint64_t events() const;  ///< according to the chunks' headers or the index; including bad chunks
    std::uint64_t events_of(std::uint32_t thread) const;
    std::uint64_t stored_bytes() const;  ///< of the chunks of events, compressed
    /// Ticks: when the thread began or, if that was not seen, its first event according to the chunks'
    /// headers; 0: it has none.
    std::uint64_t begin_of(std::uint32_t thread) const;
    /// Ticks: when the thread ended or, if that was not seen, its last event according to the chunks'
    /// headers; 0: it has none.
    std::uint64_t end_of(std::uint32_t thread) const;

    /// Calls `sink` for each event of one thread, in order. A chunk that turns out to be bad is left out, as
    /// a whole, counted in damage(), and `gap` is called at its place (calls open there cannot be trusted).
    /// Guarantees for each event: function < info().functions.size(), words.size() == the function's
    /// enter_words or leave_words, stack <= info().stacks.size(). Different threads may be read at the same
    /// time. No sink may wait for another thread of a trace.
    Result<void> read_thread(std::uint32_t thread, const std::function<void(std::span<const Event>)>& sink,
                             const std::function<void()>& gap, const Reading& how = {}) const;

    /// Like read_thread(), but by columns where the sink has them.
    Result<void> read_columns(std::uint32_t thread, const ColumnsSink& sink, const Reading& how) const;

    /// Like read_thread(), but reads only the chunks of events that reach into `part`: calls that began before
    /// these chunks have no begin. `gap` is also called before the first chunk.
    Result<void> read_part(std::uint32_t thread, const TimePart& part,
                           const std::function<void(std::span<const Event>)>& sink,
                           const std::function<void()>& gap) const;
    /// The events of read_thread(), one chunk after the other, as they stand in the file: leaves by unwinding may
    /// name no function (pack::kInnermost). The reader must outlive what is returned. Errors: no such thread.
    /// Different threads may be read at the same time.
    Result<EventStream> stream(std::uint32_t thread) const;
    /// Whether the thread switches its stack (EventKind::stack_switch), according to its chunks' flags.
    bool switches_stacks(std::uint32_t thread) const;
    /// Counts what was wrong with the file that this one has been made of.
    void add_damage(const Damage& damage);

    /// The number of events in these chunks, according to their headers. Reads the headers of the thread's
    /// chunks when it is first asked, and keeps 16 bytes for each.
    std::uint64_t events_of_part(std::uint32_t thread, const TimePart& part) const;

    /// The times in which the thread was on no processor, as far as they lie in its life: sorted, not empty,
    /// not overlapping. One that was not seen to end lasts to the thread's end (where that is not known, to
    /// its last event). Nothing where they were not recorded, or later than they were (info().switches),
    /// and of a thread whose tid is not known. A chunk that is bad is left out and counted in damage(); so an
    /// interval may be missing. Errors: no such thread; no memory (24 bytes for each). Different threads may
    /// be read at the same time, and while read_thread() runs.
    Result<std::vector<OffCpu>> off_cpu(std::uint32_t thread) const;

  private:
    TraceReader();
    static Result<TraceReader> read(FileInput file, const std::string& path);

    friend class EventStream;
    struct State;
    std::unique_ptr<State> state_;
};

/// The chunks of one thread, in order. To be used by one thread.
class EventStream {
  public:
    struct Part {
        bool gap = false;               ///< events are missing before these
        std::span<const Event> events;  ///< valid until the next call
    };

    ~EventStream();
    EventStream(EventStream&&) noexcept;
    EventStream& operator=(EventStream&&) noexcept;
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;

    /// Nothing: there are no more. Errors: no memory.
    Result<std::optional<Part>> next();

  private:
    friend class TraceReader;
    struct State;
    explicit EventStream(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace rdam::trace
