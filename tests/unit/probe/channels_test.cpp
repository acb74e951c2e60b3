// Which descriptors of a process lead to each other: this process looks at itself.
#include "tools/agent/process/channels.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/unit/catch.h"
#include "tools/base/files.h"

using namespace rdam;
using agent::Channels;
using agent::NamedChannel;
using trace::ChannelInfo;
using Kind = trace::ChannelInfo::Kind;

namespace {

/// Two ends.
struct Ends {
    template <class Open>
    explicit Ends(const Open& open) {
        std::array<int, 2> both{-1, -1};
        REQUIRE(open(both.data()) == 0);
        first = Descriptor{both[0]};
        second = Descriptor{both[1]};
    }
    Descriptor first, second;
};

struct Look {
    Look() {
        add("read", "fd");
        add("send", "sockfd");
    }

    void add(const char* name, const char* parameter) {
        trace::FunctionInfo& function = functions.emplace_back();
        function.name = name;
        function.waits = true;
        function.parameters.emplace_back().name = parameter;
    }

    void look(bool at_once = true) { channels.look(rate, functions, at_once); }

    /// The last one of the descriptor; null: there is none.
    const ChannelInfo* of(const Descriptor& descriptor) const {
        const auto last = std::find_if(found.rbegin(), found.rend(), [&](const ChannelInfo& each) {
            return each.descriptor == static_cast<std::uint32_t>(descriptor.get());
        });
        return last != found.rend() ? &*last : nullptr;
    }

    agent::TickRate rate{shm::Clock::rdtscp};
    std::vector<trace::FunctionInfo> functions;
    std::vector<ChannelInfo> found;
    Channels channels{static_cast<std::uint32_t>(getpid()), found};
};

}  // namespace

TEST_CASE("The text of a descriptor's link names a pipe, a socket or an event counter") {
    CHECK(agent::named_channel("pipe:[4026]") == NamedChannel{Kind::pipe, 4026});
    CHECK(agent::named_channel("socket:[4294967296]") == NamedChannel{Kind::socket, 4294967296});
    CHECK(agent::named_channel("anon_inode:[eventfd]") == NamedChannel{Kind::eventfd, 0});
    for (const char* const other :
         {"", "pipe:[]", "pipe:[0]", "pipe:[12", "pipe:[-1]", "pipe:[99999999999999999999]",
          "socket:[7] (deleted)", "/tmp/pipe:[7]", "anon_inode:[eventpoll]"})
        CHECK_FALSE(agent::named_channel(other));
}

TEST_CASE("Two sockets of one table that have each other's addresses are connected") {
    const auto peers = agent::connected_sockets(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 501 1 0 100 0 0 10 "
        "0\n"
        "   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  0 0 502 1 0 20 4 1 10 "
        "-1\n"
        "   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  0 0 503 1 0 20 4 1 10 "
        "-1\n"
        "   3: 0100007F:C351 0100007F:1F91 01 00000000:00000000 00:00000000 00000000  0 0 504 1 0 20 4 1 10 "
        "-1\n"
        "   4: 0100007F:C352 0100007F:1F9");
    CHECK(peers == agent::Peers{{502, 503}, {503, 502}});
}

TEST_CASE("Both ends of a pipe, of two sockets and of an event counter are one channel") {
    Look made;
    const Ends pipe{[](int* ends) { return ::pipe(ends); }};
    const Ends sockets{[](int* ends) { return socketpair(AF_UNIX, SOCK_STREAM, 0, ends); }};
    const Descriptor counter{eventfd(0, 0)}, same{dup(counter.get())}, other{eventfd(0, 0)};
    made.look();
    REQUIRE(
        (made.of(pipe.first) && made.of(pipe.second) && made.of(sockets.first) && made.of(sockets.second)));
    REQUIRE((made.of(counter) && made.of(same) && made.of(other)));
    CHECK(made.of(pipe.first)->reads == made.of(pipe.second)->writes);
    CHECK(made.of(pipe.first)->writes == 0);
    CHECK(made.of(pipe.second)->reads == 0);
    CHECK(made.of(sockets.first)->kind == Kind::socket);
    CHECK(made.of(sockets.first)->reads != made.of(sockets.second)->reads);
    CHECK(made.of(sockets.first)->writes == made.of(sockets.second)->reads);
    CHECK(made.of(sockets.second)->writes == made.of(sockets.first)->reads);
    CHECK(made.of(counter)->kind == Kind::eventfd);
    CHECK(made.of(counter)->reads == made.of(same)->writes);
    CHECK(made.of(counter)->reads != made.of(other)->reads);
}

TEST_CASE("A descriptor is what it was seen to be at two times, and its number is used again") {
    Look made;
    Ends pipe{[](int* ends) { return ::pipe(ends); }};
    made.look();
    const ChannelInfo first = *made.of(pipe.first);
    CHECK(first.since == first.until);
    made.look();
    CHECK(made.of(pipe.first)->since == first.since);
    CHECK(made.of(pipe.first)->until > first.until);
    const std::uint64_t until = made.of(pipe.first)->until;
    const auto number = made.of(pipe.first)->reads;
    const Ends another{[](int* ends) { return ::pipe(ends); }};
    REQUIRE(dup2(another.first.get(), pipe.first.get()) == pipe.first.get());
    made.look();
    CHECK(made.of(pipe.first)->reads == made.of(another.first)->reads);
    CHECK(made.of(pipe.first)->since > until);
    CHECK(std::ranges::count(made.found, number, &ChannelInfo::reads) == 1);
}

TEST_CASE("Descriptors are looked at only where calls may send and receive, and when it is time to") {
    Look made;
    const Ends pipe{[](int* ends) { return ::pipe(ends); }};
    made.functions.pop_back();
    made.look();
    CHECK(made.found.empty());
    CHECK(made.channels.milliseconds(100) == 100);
    made.add("write", "fd");
    made.look();
    const auto until = made.of(pipe.first)->until;
    CHECK(made.channels.milliseconds(100) > 0);
    CHECK(made.channels.milliseconds(0) == 0);
    made.look(false);
    CHECK(made.of(pipe.first)->until == until);
}
