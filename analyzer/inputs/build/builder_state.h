// What a TraceBuilder and its ThreadBuilders share. For this folder only.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/unmovable.h"
#include "tools/trace/encoder.h"
#include "tools/trace/side_tables.h"
#include "tools/trace/writer.h"

namespace rdam::inputs {

/// So that no event is at 0, which in a trace means "not known".
inline constexpr std::uint64_t kOrigin = 1;

/// With Order::any: an event as it was given.
struct GivenEvent {
    enum class What : std::uint8_t { enter, leave, leave_function, leave_renamed, unwind, pause, gap };
    std::uint64_t time = 0;
    std::uint64_t words_at = 0;
    std::uint32_t function = 0;
    std::uint16_t cpu = trace::kNoCpu;
    std::uint8_t words = 0;
    What what = What::enter;
};

/// How many words the events of a function have.
struct Words {
    std::uint16_t enter = 0;
    std::uint16_t leave = 0;
};

/// What could not be taken as it stands, in calls.
struct Oddities {
    std::uint64_t unmatched = 0;  ///< leaves without a call: left out
    std::uint64_t renamed = 0;    ///< leaves of another function than any that is open
    std::uint64_t too_deep = 0;   ///< inside of more than kMaxOpen: left out
};

/// The functions of a thread's open calls. To look for one takes the same time however many are open.
class OpenCalls {
  public:
    std::size_t size() const { return functions_.size(); }
    bool empty() const { return functions_.empty(); }
    std::uint32_t innermost() const { return functions_.back(); }
    void push(std::uint32_t function) {
        if (functions_.size() >= kFew) ++deep_[function];
        functions_.push_back(function);
    }
    void pop() {
        if (functions_.size() > kFew) forget(functions_.back());
        functions_.pop_back();
    }
    bool has(std::uint32_t function) const {
        if (deep_.contains(function)) return true;
        const std::size_t few = std::min(functions_.size(), kFew);
        return std::find(functions_.begin(), functions_.begin() + static_cast<std::ptrdiff_t>(few),
                         function) != functions_.begin() + static_cast<std::ptrdiff_t>(few);
    }
    /// Ends the innermost of `function`, which must be open, and those inside it.
    void end(std::uint32_t function) {
        while (innermost() != function)
            pop();
        pop();
    }
    void keep(std::size_t outermost) {
        while (size() > outermost)
            pop();
    }
    /// Gives memory back.
    void shrink() { functions_.shrink_to_fit(); }

  private:
    /// A thread rarely has more, and these are looked through.
    static constexpr std::size_t kFew = 64;

    void forget(std::uint32_t function) {
        const auto found = deep_.find(function);
        if (--found->second == 0) deep_.erase(found);
    }

    std::vector<std::uint32_t> functions_;
    std::unordered_map<std::uint32_t, std::uint32_t> deep_;  ///< how many of each, without the outermost few
};

struct TraceBuilder::State : Unmovable {
    State(std::string its_name, Order its_order, int its_fd, trace::TraceWriter its_writer)
        : name(std::move(its_name)), order(its_order), fd(its_fd), writer(std::move(its_writer)) {}
    ~State();

    void keep(Result<void> done) {
        if (!done && !error) error = done.error();
    }
    void append(std::uint32_t thread, trace::ChunkEncoder& encoder);
    void append_off_cpu(std::uint32_t tid, trace::OffCpuEncoder& encoder);

    std::string name;
    Order order;
    int fd;  ///< of the file that `writer` writes, for reading it
    trace::TraceInfo info;
    std::vector<Words> words;  ///< of each function, close together
    std::unordered_map<std::string, std::uint32_t> objects;
    std::unordered_set<std::uint32_t> tids;
    std::uint32_t next_tid = 1;
    std::vector<std::unique_ptr<ThreadBuilder>> threads;
    std::size_t events_of_chunk = 0;  ///< so that all encoders together hold a bounded number

    std::mutex lock;  ///< of what follows
    trace::TraceWriter writer;
    std::optional<Error> error;
    std::unordered_map<std::string, std::uint64_t> texts;
};

struct ThreadBuilder::State {
    State(TraceBuilder::State& its_trace, std::uint32_t its_index) : trace(its_trace), index(its_index) {}

    void enter(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words,
               std::uint16_t cpu);
    void leave(std::uint64_t time, std::span<const std::uint64_t> words, std::uint16_t cpu);
    void leave_function(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words,
                        std::uint16_t cpu, bool renamed);
    void pause(std::uint64_t from, std::uint64_t until);
    void unwind(std::uint64_t time, std::size_t kept);
    void gap();
    void put_leave(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words,
                   std::uint16_t cpu, bool unwound = false);
    bool takes(std::uint64_t time);
    void give(GivenEvent event, std::span<const std::uint64_t> words);
    void encode_given();
    void append();
    void flush_if_full();
    void release();
    std::span<const std::uint64_t> exactly(std::size_t wanted, std::span<const std::uint64_t> words);
    std::span<const std::uint64_t> filled_up(std::size_t wanted, std::span<const std::uint64_t> words);
    void finish(std::uint64_t end_of_trace);

    TraceBuilder::State& trace;
    std::uint32_t index;
    trace::ChunkEncoder encoder;
    std::size_t encoded = 0;            ///< events in it
    std::vector<std::uint64_t> filled;  ///< words with what was missing
    OpenCalls open;
    std::uint64_t skipped = 0;  ///< open calls inside of kMaxOpen
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
    std::uint64_t calls = 0;
    std::optional<std::uint64_t> begin, end;
    bool disordered = false;
    Oddities oddities;
    std::vector<trace::OffCpu> off_cpu;

    // With Order::any.
    std::vector<GivenEvent> given;
    std::vector<std::uint64_t> given_words;
    OpenCalls given_open;
};

}  // namespace rdam::inputs
