// Clients and a server over TCP (table 5.4 of the thesis): the clients share the link.
#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/tcp.h"
#include "microbench/interference/team.h"

namespace rdam::microbench {
namespace {

constexpr std::size_t kRequestBytes = 64;

}  // namespace
}  // namespace rdam::microbench

/// The client's: from the first byte of the request to the last one of the answer. False if the connection
/// was lost.
MEASURED bool send_request(int socket, char* answer, std::size_t answer_bytes) {
    const char request[rdam::microbench::kRequestBytes] = {};
    return rdam::microbench::send_all(socket, request, sizeof request) &&
           rdam::microbench::receive_all(socket, answer, answer_bytes);
}

/// The server's: a request is there, an answer is made and handed to the system.
MEASURED bool serve_request(int socket, char* answer, std::size_t answer_bytes, const char* request) {
    for (std::size_t i = 0; i < answer_bytes; ++i)
        answer[i] = static_cast<char>(request[i % rdam::microbench::kRequestBytes] + 1);
    return rdam::microbench::send_all(socket, answer, answer_bytes);
}

namespace rdam::microbench {
namespace {

struct Options {
    std::string role = "both";
    Endpoint endpoint{.address = "127.0.0.1"};
    std::size_t bytes = std::size_t{16} << 10;
};

Result<Outcome> unless_lost(bool lost, const Result<Outcome>& outcome) {
    if (!lost) return outcome;
    return fail(
        "the connection was lost; give server and client the same --threads, --iterations, --bytes and "
        "--delay");
}

Result<Outcome> send_requests(const Point& point, const Options& options,
                              const std::vector<Socket>& sockets) {
    const Sleep pause(point.delay_ns);
    std::atomic<bool> lost = false;
    const Result<Outcome> outcome = run_team(point, [&](const Seat& seat) {
        std::vector<char> answer(options.bytes);
        return repeat(point, seat, pause, [&] {
            if (!lost && !send_request(sockets[seat.number].number(), answer.data(), answer.size()))
                lost = true;
        });
    });
    return unless_lost(lost, outcome);
}

Result<Outcome> serve(const Point& point, const Options& options, const std::vector<Socket>& sockets) {
    std::atomic<bool> lost = false;
    const Result<Outcome> outcome = run_team(point, [&](const Seat& seat) {
        const int socket = sockets[seat.number].number();
        std::vector<char> answer(options.bytes);
        std::vector<char> request(kRequestBytes);
        const auto wait = [&] {
            if (!lost && !receive_all(socket, request.data(), request.size())) lost = true;
        };
        return repeat(point, seat, wait, [&] {
            if (!lost && !serve_request(socket, answer.data(), answer.size(), request.data())) lost = true;
        });
    });
    return unless_lost(lost, outcome);
}

Result<Outcome> accept_and_serve(const Point& point, const Options& options, Socket listener) {
    const Result<std::vector<Socket>> sockets = accept_from(listener, point.threads);
    if (!sockets) return tl::unexpected{sockets.error()};
    // The next point's clients shall wait for the next listener.
    listener = Socket{};
    return serve(point, options, *sockets);
}

Result<Outcome> run_client(const Point& point, const Options& options) {
    const Result<std::vector<Socket>> sockets = connect_to(options.endpoint, point.threads);
    if (!sockets) return tl::unexpected{sockets.error()};
    return send_requests(point, options, *sockets);
}

Result<Outcome> run(const Point& point, Options options) {
    if (point.together)
        return fail("clients and server expect a number of calls of each other; leave --together out");
    if (options.role == "client") return run_client(point, options);
    Result<Socket> listener = listen_on(options.endpoint);
    if (!listener) return tl::unexpected{listener.error()};
    if (options.role == "server") return accept_and_serve(point, options, std::move(*listener));
    std::future<Result<Outcome>> server = std::async(
        std::launch::async, [&] { return accept_and_serve(point, options, std::move(*listener)); });
    const Result<Outcome> outcome = run_client(point, options);
    const Result<Outcome> served = server.get();
    return outcome && !served ? served : outcome;
}

void check(const Options& options) {
    if (options.role != "both" && options.endpoint.port == 0) {
        throw CLI::ValidationError("--port", "server and client need the same number, 1 to 65535");
    }
}

Runner add(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("--role", options->role, "Which side to be: server, client, or both in one process")
        ->check(CLI::IsMember({"server", "client", "both"}))
        ->type_name("ROLE")
        ->capture_default_str();
    app.add_option("--address", options->endpoint.address, "The server's IPv4 address")
        ->type_name("ADDRESS")
        ->capture_default_str();
    app.add_option("--port", options->endpoint.port, "The server's port; with both any that is free")
        ->check(CLI::Range(0, 65535))

        ->type_name("N");
    app.add_option("--bytes", options->bytes, "Size of an answer")
        ->check(CLI::Range(1, 1 << 30))
        ->type_name("N")
        ->capture_default_str();
    app.callback([options] { check(*options); });
    return {[options] { return options->role == "server" ? "serve_request" : "send_request"; },
            [options](const Point& point) { return run(point, *options); }};
}

}  // namespace

const Benchmark kNetwork{
    .name = "network",
    .summary = "Sleep, then send a request over TCP and wait for the answer",
    .threads = 2,
    .iterations = 2'000,
    .delay = "200us",
    .add = add,
};

}  // namespace rdam::microbench
