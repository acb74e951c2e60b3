// The nodes of memory of this machine, threads on their processors, and vectors on them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/base/result.h"

namespace rdam::microbench {

struct NumaNode {
    unsigned number = 0;          ///< the system's
    std::vector<int> processors;  ///< that this process may use
    std::vector<int> distances;   ///< to the nodes of this machine, as the firmware tells them: 10 is local
};

/// Nodes that have memory, and at least one processor that this process may use; one node where the kernel knows none.
std::vector<NumaNode> numa_nodes();

/// Of the first processor; 0 where the kernel does not tell.
std::size_t cache_bytes(int level);

/// Of the largest cache.
std::size_t last_cache_bytes();

/// Where the pages of a vector lie: a policy of tools/study-native/memory/rules.h, and for bind_block the processors
/// of the threads.
struct Placing {
    std::string policy = "first-touch";
    std::vector<int> processors;
};

/// Doubles that are 0, on small pages. Those of first touch are made when they are used first, the others at once.
class NumaVector {
  public:
    /// An error where there is no memory, or where it cannot be placed.
    static Result<NumaVector> make(std::size_t elements, const Placing& placing);

    std::span<double> elements() const { return {memory_.get(), count_}; }

  private:
    struct Unmap {
        std::size_t bytes;
        void operator()(double* memory) const;
    };

    NumaVector(double* memory, std::size_t count);

    std::unique_ptr<double, Unmap> memory_;
    std::size_t count_;
};

/// Runs `work` in a thread on each of these processors, from a common start, and waits for all: seconds from the start
/// to the last end. An error where the system refuses threads or processors.
Result<double> run_on(const std::vector<int>& processors, const std::function<void(unsigned)>& work);

}  // namespace rdam::microbench
