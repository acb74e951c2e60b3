// The pipes, sockets and event counters among the file descriptors of the profiled process: which of them lead to each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/agent/process/process_facts.h"
#include "tools/trace/event.h"

namespace rdam::agent {

struct NamedChannel {
    trace::ChannelInfo::Kind kind = trace::ChannelInfo::Kind::pipe;
    std::uint64_t number = 0;  ///< 0: of an event counter, which the link does not tell

    friend bool operator==(const NamedChannel&, const NamedChannel&) = default;
};
/// What /proc/PID/fd/N leads to, by its text: `pipe:[4026]`, `socket:[4027]`, `anon_inode:[eventfd]`. Nothing: something else.
std::optional<NamedChannel> named_channel(std::string_view link);

/// By the number of a socket.
using Peers = std::map<std::uint64_t, std::uint64_t>;
/// Of those whose both ends are in `table`, the text of /proc/PID/net/tcp or tcp6. Damaged lines are left out.
Peers connected_sockets(std::string_view table);

/// Looks at the descriptors of a process from time to time: calls name them by numbers, which are used again. Not thread-safe.
class Channels {
  public:
    /// `found` is completed at each look, and must outlive this.
    Channels(std::uint32_t pid, std::vector<trace::ChannelInfo>& found) : pid_(pid), found_(found) {}

    /// Looks, if it is time to and calls may be recorded that send or receive through descriptors. At first soon, then ten times a
    /// second at most, and never for more than one hundredth of a processor. Looks at no more than 1,024 descriptors, and keeps
    /// 16,384 in all. `at_once`: it is time.
    void look(const TickRate& rate, const std::vector<trace::FunctionInfo>& functions, bool at_once = false);

    /// Until it is time, 0 or more; no more than `most`.
    int milliseconds(int most) const;

  private:
    /// As in ChannelInfo.
    struct End {
        trace::ChannelInfo::Kind kind = trace::ChannelInfo::Kind::pipe;
        std::uint64_t reads = 0, writes = 0;
    };
    std::map<std::uint32_t, End> ends();
    End end_of(std::uint32_t descriptor, const NamedChannel& named, bool reads, bool writes) const;
    void find_peers();

    std::uint32_t pid_;
    std::vector<trace::ChannelInfo>& found_;
    std::map<std::uint32_t, std::size_t> open_;  // by descriptor: indices into found_
    Peers peers_;
    std::size_t functions_ = 0;  // that have been asked about
    bool needed_ = false;
    std::uint64_t next_ns_ = 0;      // of CLOCK_MONOTONIC
    std::uint64_t interval_ns_ = 0;  // without the cost
};

}  // namespace rdam::agent
