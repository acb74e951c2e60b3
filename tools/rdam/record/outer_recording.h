// A `rdam record` that runs under another one: what it starts is recorded by it, and by no other.
#pragma once

#include <string>
#include <vector>

namespace rdam {

/// To be called before this process sets the variables of its own run: tells the recording that this process
/// runs under, if there is one, where the calls are. `traces` are what has been written.
void tell_outer_recording(const std::vector<std::string>& traces);

/// Of the recording that was told: what to say of it, without a name in front. `told` are absolute paths, one
/// a line; not empty.
std::string describe_inner(const std::string& told);

}  // namespace rdam
