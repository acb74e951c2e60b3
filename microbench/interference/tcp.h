// TCP connections, as far as the network benchmark needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/base/result.h"

namespace rdam::microbench {

class Socket {
  public:
    explicit Socket(int number = -1) : number_(number) {}
    ~Socket();
    Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

struct Endpoint {
    std::string address;     ///< an IPv4 address in numbers
    std::uint16_t port = 0;  ///< 0, when listening: any that is free
};

/// Listens on `endpoint` and sets its port.
Result<Socket> listen_on(Endpoint& endpoint);

/// The next `count` connections. An error if they do not come within a minute.
Result<std::vector<Socket>> accept_from(const Socket& listener, unsigned count);

/// `count` connections to `endpoint`; a server that does not listen yet is waited for, ten seconds at most.
Result<std::vector<Socket>> connect_to(const Endpoint& endpoint, unsigned count);

/// All `bytes`, or false if the connection was lost.
bool send_all(int socket, const char* data, std::size_t bytes);
bool receive_all(int socket, char* data, std::size_t bytes);

}  // namespace rdam::microbench
