// A `rdam record` inside another one: it alone records what it starts.
#pragma once

#include <string>
#include <vector>

namespace rdam {

/// To be called before this process sets the variables of its own run: tells the recording that this process
/// runs under, if there is one, where the calls are. `traces` are what has been written.
void tell_outer_recording(const std::vector<std::string>& traces);

/// The message about an inner recording, without a prefix. `told` are absolute paths, one per line; not
/// empty.
std::string describe_inner(const std::string& told);

}  // namespace rdam
