// A row of a divided trace: what one stack has of the events of the threads that ran on it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tools/trace/encoder.h"
#include "tools/trace/event.h"
#include "tools/trace/side_tables.h"

namespace rdam::inputs {

/// Not thread-safe.
class Row {
  public:
    Row(std::uint32_t its_index, std::uint64_t its_stack, std::uint32_t its_thread)
        : index(its_index), stack(its_stack), thread(its_thread) {}

    /// From here on it is run by `thread`, until the next time. `stretch` is unique in the trace.
    void run_by(std::uint32_t its_thread, std::uint64_t its_stretch) {
        thread = its_thread;
        stretch = its_stretch;
    }
    /// An event of any kind but stack_switch.
    void add(const trace::Event& event);
    /// Events are missing here.
    void gap();
    /// In the order of time.
    void add_off_cpu(const trace::OffCpu& interval);

    bool is_empty() const { return open_.empty(); }
    /// The weight of the sampled call tree that is open, as Event::sampling; 0: none.
    std::uint8_t open_tree() const { return tree_depth_ > 0 ? tree_ : std::uint8_t{0}; }

    const std::uint32_t index;  ///< of the thread in the divided trace
    const std::uint64_t stack;
    std::uint32_t thread;  ///< that runs it, or has run it last
    bool one_thread = true;
    std::uint64_t stretch = 0;
    std::uint64_t seen_gaps = 0;
    std::uint64_t first = UINT64_MAX;  ///< ticks, of enters and leaves
    std::uint64_t last = 0;
    std::uint64_t events = 0;
    trace::ChunkEncoder encoder;
    std::unique_ptr<trace::OffCpuEncoder> off_cpu;  ///< null: there was none
    std::uint64_t off_until = 0;                    ///< ticks: the end of the last interval

  private:
    struct Frame {
        std::uint32_t function = 0;
        std::uint64_t stretch = 0;
    };

    void enter(const trace::Event& event);
    void leave(const trace::Event& event);
    void close_to(std::size_t depth);

    std::vector<Frame> open_;
    std::size_t tree_depth_ = 0;  ///< the number of the frame with which the tree began, from 1
    std::uint8_t tree_ = 0;
};

}  // namespace rdam::inputs
