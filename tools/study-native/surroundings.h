// What is seen of the machine around a run, and changed on it: frequencies, the kernel's osnoise tracer,
// interrupts and the hardware prefetchers.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace rdam::study {

/// One of them.
class Surrounding {
  public:
    virtual ~Surrounding() = default;

    /// What takes time. Throws a Failure if it cannot be.
    virtual void prepare() {}
    /// The program begins now. Throws a Failure if it is not to.
    virtual void begin() {}
    /// It has ended.
    virtual void end(nlohmann::json& /*answer*/) {}
    /// What else is to be read, when nothing of the run is left. Throws a Failure if the machine is not as it
    /// was.
    virtual void leave(nlohmann::json& /*answer*/, pid_t /*program*/) {}
    /// However the run ends: the machine is as it was. It may have been prepared in part, or not at all.
    virtual void restore() {}
};

struct Restored {
    void operator()(Surrounding* surrounding) const {
        surrounding->restore();
        delete surrounding;
    }
};

using Surroundings = std::vector<std::unique_ptr<Surrounding, Restored>>;

/// Those that the request wants.
Surroundings surroundings_of(const nlohmann::json& request);

}  // namespace rdam::study
