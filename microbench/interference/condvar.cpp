// Writers that queue at a monitor, as in LevelDB: the first one writes for all that are there, the others
// wait.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"
#include "microbench/interference/time_option.h"

namespace {

struct Writer {
    std::condition_variable turn;
    bool done = false;
};

/// The writers that wait, the first one at the front; and what a write costs, however many take part in it.
struct Queue {
    explicit Queue(double write_ns) : write(write_ns) {}
    std::mutex mutex;
    std::deque<Writer*> waiting;
    rdam::microbench::Compute write;
};

/// Takes away the first `count` writers, whose data has been written, and lets the next one begin.
void release(Queue& queue, std::size_t count, const Writer& me) {
    for (std::size_t i = 0; i < count; ++i) {
        Writer* const writer = queue.waiting.front();
        queue.waiting.pop_front();
        if (writer == &me) continue;
        writer->done = true;
        writer->turn.notify_one();
    }
    if (!queue.waiting.empty()) queue.waiting.front()->turn.notify_one();
}

}  // namespace

MEASURED void queue_write(Queue* queue) {
    Writer me;
    std::unique_lock lock(queue->mutex);
    queue->waiting.push_back(&me);
    me.turn.wait(lock, [&] { return me.done || queue->waiting.front() == &me; });
    if (me.done) return;
    const std::size_t group = queue->waiting.size();
    lock.unlock();
    queue->write();
    lock.lock();
    release(*queue, group, me);
}

namespace rdam::microbench {
namespace {

Result<Outcome> run(const Point& point, double write_ns) {
    Queue queue(write_ns);
    const Compute pause(point.delay_ns);
    return run_team(
        point, [&](const Seat& seat) { return repeat(point, seat, pause, [&] { queue_write(&queue); }); });
}

constexpr double kWriteMicroseconds = 10;

Runner add(CLI::App& app) {
    const auto write_ns = std::make_shared<double>(kWriteMicroseconds * 1e3);
    add_time(
        app, "--write", [write = write_ns.get()](double time) { *write = time; },
        fmt::format("How long a write takes [{}us]", kWriteMicroseconds));
    return measures("queue_write", [write_ns](const Point& point) { return run(point, *write_ns); });
}

}  // namespace

const Benchmark kCondvar{
    .name = "condvar",
    .summary = "Compute, then queue with other writers at a monitor",
    .threads = 4,
    .iterations = 10'000,
    .delay = "20us",
    .add = add,
};

}  // namespace rdam::microbench
