#include "microbench/interference/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace rdam::microbench {
namespace {

constexpr int kAcceptMs = 60'000;
constexpr std::chrono::seconds kConnect{10};
constexpr std::chrono::milliseconds kBetweenTries{20};
/// An answer must fit in, or the server would wait for the network while it serves.
constexpr int kSendBuffer = 1 << 20;

Result<sockaddr_in> address_of(const Endpoint& endpoint) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    if (inet_pton(AF_INET, endpoint.address.c_str(), &address.sin_addr) == 1) return address;
    return fail("'{}' is no IPv4 address; write one like 127.0.0.1 with --address", endpoint.address);
}

/// What the functions of sockets take.
const sockaddr* generic(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

void set_up(int socket) {
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
}

Result<Socket> connect_once(const Endpoint& endpoint, const sockaddr_in& address) {
    const auto deadline = std::chrono::steady_clock::now() + kConnect;
    for (;;) {
        Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (connect(socket.number(), generic(address), sizeof address) == 0) {
            set_up(socket.number());
            return socket;
        }
        if (errno != ECONNREFUSED || std::chrono::steady_clock::now() > deadline) break;
        std::this_thread::sleep_for(kBetweenTries);
    }
    return fail("cannot connect to {}:{}: {}; start 'rdam-microbench network --role server' there",
                endpoint.address, endpoint.port, std::strerror(errno));
}

}  // namespace

Socket::~Socket() {
    if (number_ >= 0) close(number_);
}

Result<Socket> listen_on(Endpoint& endpoint) {
    const Result<sockaddr_in> wanted = address_of(endpoint);
    if (!wanted) return tl::unexpected{wanted.error()};
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    if (bind(socket.number(), generic(*wanted), sizeof *wanted) != 0 ||
        listen(socket.number(), SOMAXCONN) != 0 ||
        getsockname(socket.number(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
        return fail("cannot listen on {}:{}: {}; choose others with --address and --port", endpoint.address,
                    endpoint.port, std::strerror(errno));
    }
    endpoint.port = ntohs(bound.sin_port);
    return socket;
}

Result<std::vector<Socket>> accept_from(const Socket& listener, unsigned count) {
    std::vector<Socket> sockets;
    while (sockets.size() < count) {
        pollfd ready{.fd = listener.number(), .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, kAcceptMs) == 0) {
            return fail("{} of {} connections came within a minute; start the client with the same --threads",
                        sockets.size(), count);
        }
        const int number = accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC);
        if (number < 0 && errno != EINTR)
            return fail("cannot accept a connection: {}; try again", std::strerror(errno));
        if (number < 0) continue;
        sockets.emplace_back(number);
        set_up(number);
    }
    return sockets;
}

Result<std::vector<Socket>> connect_to(const Endpoint& endpoint, unsigned count) {
    const Result<sockaddr_in> address = address_of(endpoint);
    if (!address) return tl::unexpected{address.error()};
    std::vector<Socket> sockets;
    while (sockets.size() < count) {
        Result<Socket> socket = connect_once(endpoint, *address);
        if (!socket) return tl::unexpected{socket.error()};
        sockets.push_back(std::move(*socket));
    }
    return sockets;
}

bool send_all(int socket, const char* data, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        data += sent;
        bytes -= static_cast<std::size_t>(sent);
    }
    return true;
}

bool receive_all(int socket, char* data, std::size_t bytes) {
    while (bytes > 0) {
        const ssize_t received = recv(socket, data, bytes, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return false;
        data += received;
        bytes -= static_cast<std::size_t>(received);
    }
    return true;
}

}  // namespace rdam::microbench
