// File descriptors that are kept free for what cannot be done without.
#pragma once

#include <vector>

namespace rdam::agent {

/// Reserves as many descriptors as the program's objects, the sources about the process, and the trace need
/// at a time; releases them on destruction.
class SpareDescriptors {
  public:
    SpareDescriptors();
    ~SpareDescriptors();
    SpareDescriptors(const SpareDescriptors&) = delete;
    SpareDescriptors& operator=(const SpareDescriptors&) = delete;

    /// False: there are fewer, and of what cannot be opened nothing true could be said.
    bool enough() const;

  private:
    std::vector<int> taken_;
};

}  // namespace rdam::agent
