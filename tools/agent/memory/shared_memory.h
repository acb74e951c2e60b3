// The agent's view of the memory it shares with the profiled process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libprobe/format/events.h"
#include "libprobe/format/shared.h"
#include "tools/base/result.h"

namespace rdam::agent {

// Which function each entry of the process stands for.

/// The process has kAll entries for functions, and numbers them; the trace has a function for each that was
/// ever wrapped. A function whose library is gone leaves its number to another, once nothing that it has
/// recorded is unread. Not thread-safe.
class FunctionNumbers {
  public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    static constexpr std::uint32_t kAll = shm::kFirstRegion;

    /// The function's index in the trace; kNone: nothing has the number.
    std::uint32_t function(std::uint32_t number) const {
        return number < functions_.size() ? functions_[number] : kNone;
    }
    /// The number that the function has now; kNone: none.
    std::uint32_t number(std::uint32_t function) const {
        return function < numbers_.size() ? numbers_[function] : kNone;
    }
    /// All numbers are below this.
    std::uint32_t end() const { return static_cast<std::uint32_t>(functions_.size()); }

    /// One that nothing has, for the function; nothing: there is none. Those that have never been used come
    /// first, then those that were released first.
    struct Given {
        std::uint32_t number = kNone;
        bool anew = false;  ///< it stood for another function before
    };
    std::optional<Given> give(std::uint32_t function);

    /// The number stands for the function, whatever it stood for before. It must be below kAll.
    void set(std::uint32_t number, std::uint32_t function);

    /// Nothing has the number any more, if anything had it: it may be given.
    void release(std::uint32_t number);

    /// No number is given that was not released: the process may have used any.
    void use_up() { functions_.resize(kAll, kNone); }

  private:
    std::vector<std::uint32_t> functions_;  ///< by number
    std::vector<std::uint32_t> numbers_;    ///< by function
    std::vector<std::uint32_t> released_;
    std::size_t taken_ = 0;  ///< of those, from the first on
};

struct ProcessObject {
    std::string path;
    std::string build_id;  ///< hex
    std::uint64_t base = 0;
    std::uint64_t end = 0;
    std::string open_at = {};  ///< LoadedObject::open_at
};

/// What the process published about itself.
struct ProcessDescription {
    std::uint32_t pid = 0;
    std::string own_path;
    std::string executable;
    std::vector<std::string> command;
    std::vector<ProcessObject> objects;
    std::vector<std::uint8_t> inherited;  ///< a fork child's: what is known of its parent's plan
    FunctionNumbers numbers = {};         ///< of its entries
};

/// Objects that came and went while the program ran.
struct ObjectChange {
    std::vector<ProcessObject> added;
    std::vector<std::uint64_t> gone;  ///< bases
};

/// What the process published before the program ran, when it could not have been overwritten.
struct StartFacts {
    std::uint32_t pid = 0;
    std::uint32_t chunks = 0;
    shm::Clock clock = shm::Clock::rdtscp;
    settings::Values settings;
    bool forked = false;  ///< shm::Control::forked

    /// What the recorder may cost a thread, as a share of its own time; 0: everything is recorded.
    double max_overhead() const {
        return static_cast<double>(settings[settings::Id::max_overhead]) / settings::kMillionths;
    }
};

class SharedMemory {
  public:
    /// Maps the memfd. Its size cannot change: it is sealed, where the kernel can do that. `pid` is the
    /// process's number here; 0: as it says itself.
    static Result<SharedMemory> map(int fd, std::uint32_t pid = 0);
    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&&) = delete;
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory();

    /// For publishing to the program, and for futexes. Anything may be read there: see shared_facts.h.
    shm::Control& control() const { return *static_cast<shm::Control*>(memory_); }
    /// The facts from before the program ran: the process, its clock and its budget.
    const StartFacts& start() const { return start_; }
    /// Reads what the process measured before it records, once it has. False: no values that make sense, and
    /// the clock's step is assumed to be 1.
    bool read_measured();
    const shm::Measured& measured() const { return measured_; }
    std::uint8_t* chunk(std::uint32_t index) const;
    /// One for each function number (shm::kGatesOffset).
    std::atomic<std::uint8_t>& gate(std::uint32_t function) const;
    /// What threads have counted: a block of the calls area.
    const shm::PublishedCalls& published_calls(std::uint32_t block) const;
    /// The slots of threads that have ever been written to, and their neighbours. The others are free, and to
    /// look at them would give them memory.
    std::vector<std::uint32_t> slots_with_memory() const;
    shm::ChunkHeader& chunk_header(std::uint32_t index) const;
    std::span<std::uint8_t> plan_area() const;
    Result<ProcessDescription> describe_process() const;
    /// Nothing: what stands there is not request `serial`, or not as it was written.
    std::optional<ObjectChange> describe_change(std::uint32_t serial) const;

    /// Sets the state and wakes the process.
    void announce(shm::AgentState state) const;

    /// No more is read of what the process has recorded: the memory is given back, even if a fork child still
    /// has the page by which it could ask for an agent.
    void drop_chunks() const;

  private:
    SharedMemory(void* memory, std::uint64_t size, int fd) : memory_(memory), size_(size), fd_(fd) {}

    void* memory_;
    std::uint64_t size_;
    int fd_;  ///< of our own; -1: there is none left
    StartFacts start_;
    shm::Measured measured_{};
};

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, int milliseconds);
void futex_wake(const void* word, int count);

}  // namespace rdam::agent
