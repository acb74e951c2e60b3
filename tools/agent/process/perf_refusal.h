// Who forbids perf events, for the notes on what was not recorded.
#pragma once

#include <string>
#include <string_view>

namespace rdam::agent {

/// "forbidden by …". `paranoid` is what kernel.perf_event_paranoid says; empty: it cannot be read.
std::string who_forbids_perf(std::string_view paranoid);
/// who_forbids_perf() with this machine's kernel.perf_event_paranoid.
std::string who_forbids_perf();

}  // namespace rdam::agent
