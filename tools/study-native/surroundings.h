// What is seen of the machine around a run, and changed on it: frequencies, the kernel's osnoise tracer,
// interrupts and the hardware prefetchers.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace rdam::study {

/// One of them. When it goes, the machine is as it was.
class Surrounding {
  public:
    Surrounding() = default;
    virtual ~Surrounding() = default;
    Surrounding(const Surrounding&) = delete;
    Surrounding& operator=(const Surrounding&) = delete;

    /// What takes time. Throws a Failure if it cannot be.
    virtual void prepare() {}
    /// The program begins now. Throws a Failure if it is not to.
    virtual void begin() {}
    /// It has ended.
    virtual void end(nlohmann::json& answer) = 0;
    /// What else is to be read, when nothing of the run is left. Throws a Failure if the machine is not as it
    /// was.
    virtual void leave(nlohmann::json& /*answer*/, pid_t /*program*/) {}
};

/// Those that the request wants. They are prepared and begin in this order, and end in the other one.
std::vector<std::unique_ptr<Surrounding>> surroundings_of(const nlohmann::json& request);

}  // namespace rdam::study
