// The formats in which `rdam export --format` writes the calls of a trace: one table, one file for each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/report/report.h"
#include "analyzer/views/visit.h"
#include "tools/base/result.h"

namespace rdam::exports {

/// Where the bytes go. Not thread-safe.
class Sink {
  public:
    virtual ~Sink() = default;
    /// Error: what is wrong with the place, and the remedy.
    virtual Result<void> write(std::string_view bytes) = 0;
};

/// What was written: calls, or paths.
struct Written {
    std::uint64_t calls = 0;   ///< one by one
    std::uint64_t merged = 0;  ///< as parts of others
};

/// Collects what is written, and remembers the first error: nothing more is written then.
class Buffer {
  public:
    explicit Buffer(Sink& sink) : sink_(sink) {}

    void append(std::string_view bytes) {
        buffer_.append(bytes);
        if (buffer_.size() >= kFull) flush();
    }
    /// To be appended to directly, then full() is called.
    std::string& text() { return buffer_; }
    void full() {
        if (buffer_.size() >= kFull) flush();
    }
    bool good() const { return !error_; }
    /// `written` after all of it is in the sink.
    Result<Written> finish(const Written& written) {
        flush();
        if (error_) return tl::unexpected{*error_};
        return written;
    }

  private:
    static constexpr std::size_t kFull = std::size_t{1} << 20;

    void flush() {
        if (!error_ && !buffer_.empty())
            if (auto written = sink_.write(buffer_); !written) error_ = written.error();
        buffer_.clear();
    }

    Sink& sink_;
    std::string buffer_;
    std::optional<Error> error_;
};

/// Slices that Perfetto shows without trouble.
inline constexpr std::uint64_t kUsualSlices = 5'000'000;

/// What stacks are as wide as.
enum class PathWeight : std::uint8_t { lost, time, calls };

class EarlyLosses;

/// Of a wait that another thread ended: from that thread, when it did so, to the end of the wait.
struct Arrow {
    struct End {
        std::uint32_t thread = 0;  ///< index into TraceInfo::threads
        std::uint64_t at = 0;      ///< ticks
        std::string name;          ///< for people: `gives back the mutex outer, in keep at a.c:9`
    };
    End from, to;
    std::uint64_t begin = 0;  ///< ticks: of the wait
    double waited_ns = 0;     ///< for that thread; before, it may have been for others
};

struct Options {
    std::uint64_t budget = 0;  ///< slices at most; 0: all calls
    PathWeight weight = PathWeight::lost;
    unsigned jobs = 0;  ///< threads; 0: one per processor
    std::span<const Arrow> arrows = {};
    const EarlyLosses* early = nullptr;  ///< with a budget: what Visit::prepare() showed it; null: nothing
};

/// Where a format goes that is a directory.
struct Place {
    std::string folder;  ///< to be made
    std::string name;    ///< what messages call it
};

struct Format {
    std::string_view name;
    std::string_view help;  ///< what reads it, for --help
    // One of the ways to write it; the others are null.
    Result<Written> (*write)(const views::Visit& visit, const Options& options, Sink& sink) = nullptr;
    /// From Report::paths. `info` is that of the whole trace.
    Result<Written> (*write_paths)(const score::Report& report, const trace::TraceInfo& info,
                                   const Options& options, Sink& sink) = nullptr;
    /// It is a directory. What is there after an error is not to be kept. One at a time in a process.
    Result<Written> (*write_archive)(const views::Visit& visit, const Options& options,
                                     const Place& place) = nullptr;
    /// Error: `folder` is none that write_archive has made, or something else lies in it, which is named.
    Result<void> (*check_only_archive)(const std::string& folder) = nullptr;
    std::uint64_t usual_budget = 0;  ///< 0: Options::budget means nothing
    std::uint64_t max_budget = 0;    ///< more slices are not written; 0: no matter how many
    bool binary = false;             ///< nothing to look at in a terminal
    bool draws_arrows = false;       ///< Options::arrows means something
    /// Options::weight means something to `write`, which needs views::Closed::lost_self.
    bool weighs_calls = false;

    bool has_weight() const { return write_paths != nullptr || weighs_calls; }
};

std::span<const Format> all_formats();
/// What is needed for a format that this rdam was built without; empty: it has the format, or there is none
/// of that name.
std::string_view why_left_out(std::string_view name);

// Each in a file of its own name.
Result<Written> write_csv(const views::Visit& visit, const Options& options, Sink& sink);
Result<Written> write_json(const views::Visit& visit, const Options& options, Sink& sink);
Result<Written> write_perfetto(const views::Visit& visit, const Options& options, Sink& sink);
Result<Written> write_folded(const score::Report& report, const trace::TraceInfo& info,
                             const Options& options, Sink& sink);
Result<Written> write_speedscope(const score::Report& report, const trace::TraceInfo& info,
                                 const Options& options, Sink& sink);
Result<Written> write_firefox(const views::Visit& visit, const Options& options, Sink& sink);
Result<Written> write_paje(const views::Visit& visit, const Options& options, Sink& sink);
// In a folder of its own.
Result<Written> write_otf2(const views::Visit& visit, const Options& options, const Place& place);
Result<void> check_only_otf2(const std::string& folder);

}  // namespace rdam::exports
