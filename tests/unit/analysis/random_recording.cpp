#include "tests/unit/analysis/random_recording.h"

namespace rdam::test {
namespace {

class RandomThread {
  public:
    RandomThread(std::mt19937_64& random, const RandomShape& shape, ThreadRecording& out, std::uint64_t start)
        : random_(random), shape_(shape), out_(out), now_(start) {}

    void run() {
        while (events_ < shape_.events)
            call(0);
    }

    std::uint64_t now() const { return now_; }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool one_in(std::uint64_t odds) { return below(odds) == 0; }
    std::uint32_t some_function() { return static_cast<std::uint32_t>(below(shape_.functions)); }
    std::vector<std::uint64_t> some_words() { return {below(2), below(3)}; }

    // Most functions have a caller or two, some more than are searched without a hash, or an unknown one.
    std::uint64_t caller() { return one_in(6) ? below(14) : 1 + below(2); }

    // Steps of at least 4 ticks leave room for pauses that begin a little before the event they belong to.
    std::uint64_t tick() { return now_ += 4 + below(one_in(4) ? 60 : 6); }

    // Programs repeat themselves: what a function calls is drawn from two habits of its own.
    void call(int depth) {
        const std::uint32_t function = some_function();
        enter(function, false);
        const std::uint64_t habit = below(3);
        if (habit == 2 && depth < 5) {
            for (std::uint64_t i = below(3); i > 0; --i)
                call(depth + 1);
        } else if (habit == 1 && depth < 5) {
            const std::uint64_t children = function + below(2);
            for (std::uint64_t i = 0; i < children && events_ < shape_.events; ++i)
                leaf(i % 3 == 2);
        }
        if (shape_.accidents && one_in(30)) return;  // left by longjmp, or still running
        if (one_in(8)) {
            for (std::uint64_t i = 1 + below(2); i > 0; --i) {
                enter(some_function(), true);
                if (one_in(3) && depth < 5) call(depth + 1);
            }
        }
        leave(function);
        if (shape_.accidents) accident();
    }

    void leaf(bool other) {
        const std::uint32_t function = other ? 1U : 0U;
        enter(function, false);
        leave(function);
    }

    void enter(std::uint32_t function, bool tail) {
        ++events_;
        const std::uint64_t entered = tick();
        if (tail) {
            out_.tail_enter(entered, function, some_words());
        } else {
            out_.enter(entered, function, some_words(), caller());
        }
        if (one_in(10))
            pause(tail ? entered : entered - below(3));  // a tail call ends its predecessor at that time
    }

    void pause(std::uint64_t begin) {
        now_ += 4 + below(40);
        out_.pause(begin, now_);
        if (one_in(3))
            now_ -= 5 + below(3);  // the next event's clock may have been read before the pause was over
    }

    void leave(std::uint32_t function) {
        ++events_;
        const bool backwards = shape_.accidents && one_in(60);
        const std::uint64_t left = tick();
        out_.leave(backwards ? below(500) : left, function);
    }

    void accident() {
        if (one_in(40)) out_.gap();
        if (one_in(40)) out_.leave(tick(), some_function());
        if (one_in(60)) out_.tail_enter(tick(), some_function(), some_words());
        if (one_in(20)) pause(now_);
    }

    std::mt19937_64& random_;
    const RandomShape& shape_;
    ThreadRecording& out_;
    std::uint64_t now_;
    int events_ = 0;
};

}  // namespace

Recording random_recording(std::mt19937_64& random, const RandomShape& shape) {
    Recording recording{shape.functions, 2};
    recording.info.clock.probe_ticks = static_cast<double>(random() % 4) * 0.7;
    recording.info.clock.probe_inner_ticks = recording.info.clock.probe_ticks / 2;
    recording.info.clock.step_ticks = random() % 2 == 0 ? 0 : random() % 30;
    for (int t = 0; t < shape.threads; ++t) {
        const std::uint64_t start = 1000 + random() % 5000;
        const std::size_t index = recording.info.threads.size();
        RandomShape own = shape;
        if (random() % 8 == 0) own.events = 1;  // short-lived
        ThreadRecording& thread = recording.thread(start, 0);
        RandomThread writer{random, own, thread, start};
        writer.run();
        const std::uint64_t slack = random() % 4 == 0 ? 20000 : 0;
        recording.info.threads[index].end = writer.now() + slack;
    }
    return recording;
}

}  // namespace rdam::test
