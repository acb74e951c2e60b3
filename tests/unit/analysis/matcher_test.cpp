#include "analyzer/calls/matcher.h"

#include <cmath>
#include <string>

#include "analyzer/calls/call_stream.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

/// Writes down what it hears: `+a` opened, `a:10/4` closed after 10 ticks, 4 of them its own, `a?` without
/// time, `x2` two abandoned, `tree 4` the end of a sampled tree. Inner calls of a recursion end in `'`, calls
/// of weight 4 in `*4`.
class Listener : public calls::CallSink {
  public:
    void tree_ended(std::uint64_t weight) override { note("tree " + std::to_string(weight)); }
    void opened(const trace::Event& enter, std::uint64_t weight) override {
        note("+" + name(enter.function) + times(weight));
    }
    void closed(const calls::Call& call) override {
        std::string text = name(call.function);
        text += call.timed ? ":" + std::to_string(call.duration) : "?";
        if (call.self_timed) text += "/" + std::to_string(call.self);
        note(text + (call.outermost ? "" : "'") + times(call.weight));
    }
    void abandoned(std::size_t count) override { note("x" + std::to_string(count)); }

    std::string heard;

  private:
    static std::string name(std::uint32_t function) {
        return std::string(1, static_cast<char>('a' + function));
    }
    static std::string times(std::uint64_t weight) { return weight == 1 ? "" : "*" + std::to_string(weight); }
    void note(const std::string& text) { heard += (heard.empty() ? "" : " ") + text; }
};

struct Heard {
    std::string text;
    calls::MatchCounts counts;
};

Heard listen(const ThreadRecording& thread, calls::ProbeCost cost = {}, const std::vector<bool>& ignored = {},
             const std::vector<std::uint64_t>& unended = {}) {
    Listener listener;
    calls::Matcher matcher{3, cost, ignored, listener};
    matcher.set_unended(unended);
    for (const ThreadRecording::Piece& piece : thread.pieces()) {
        if (piece.gap_before) matcher.gap();
        matcher.consume(piece.events);
    }
    matcher.finish();
    return {listener.heard, matcher.counts()};
}

}  // namespace

TEST_CASE("calls nest", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).call(110, kB, 5).call(120, kB, 7).leave(150, kA);
    CHECK(listen(thread).text == "+a +b b:5/5 +b b:7/7 a:50/38");
}

TEST_CASE("a sampled tree ends when another begins or nothing is open", "[calls]") {
    ThreadRecording thread;
    thread.tree(2).enter(100, kA).call(110, kB, 5).leave(150, kA);
    thread.tree(2).call(200, kC, 1).tree(0).call(300, kC, 2).call(400, kC, 3);
    CHECK(listen(thread).text == "+a*4 +b*4 b:5/5*4 a:50/45*4 tree 4 +c*4 c:1/1*4 tree 4 +c c:2/2 +c c:3/3");
}

TEST_CASE("a tree that interrupts another splits it in two", "[calls]") {
    ThreadRecording thread;
    thread.tree(1).enter(100, kA).tree(3).enter(110, kB).leave(120, kB).call(130, kC, 5).leave(150, kA);
    CHECK(listen(thread).text == "+a*2 tree 2 +b*8 b:10/10*8 tree 8 +c*2 c:5/5*2 a:50/35*2 tree 2");
}

TEST_CASE("abandoned calls belong to a sampled tree too", "[calls]") {
    ThreadRecording thread;
    thread.tree(1).enter(100, kA).enter(110, kB).gap().tree(2).enter(200, kC);
    CHECK(listen(thread).text == "+a*2 +b*2 tree 2 x2 +c*4 tree 4 x1");
}

TEST_CASE("an ignored function's weight is that of its callees", "[calls]") {
    ThreadRecording thread;
    thread.tree(1).enter(100, kA).call(110, kB, 5).leave(150, kA);
    CHECK(listen(thread, {}, {true}).text == "+b*2 b:5/5*2 tree 2");
}

TEST_CASE("inner calls of a recursion are not outermost", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).enter(110, kB).call(115, kA, 1).leave(130, kB).leave(150, kA).call(200, kA, 3);
    CHECK(listen(thread).text == "+a +b +a a:1/1' b:20/19 a:50/30 +a a:3/3");
}

TEST_CASE("a call inside one of its function that never ends is outermost, once that is known", "[calls]") {
    const auto unended = [](const ThreadRecording& thread) {
        calls::UnendedFinder finder{3, {}};
        for (const ThreadRecording::Piece& piece : thread.pieces()) {
            if (piece.gap_before) finder.gap();
            finder.consume(piece.events);
        }
        return finder.finish();
    };
    using Numbers = std::vector<std::uint64_t>;
    ThreadRecording thread;
    SECTION("open at the end of the thread") {
        thread.enter(100, kA)
            .call(110, kA, 5)
            .call(120, kB, 5)
            .enter(130, kA)
            .call(131, kA, 1)
            .leave(140, kA);
        CHECK(listen(thread).text == "+a +a a:5/5' +b b:5/5 +a +a a:1/1' a:10/9' x1");
        CHECK(listen(thread).counts.hides_calls);
        CHECK(unended(thread) == Numbers{0});
        const Heard heard = listen(thread, {}, {}, unended(thread));
        CHECK(heard.text == "+a +a a:5/5 +b b:5/5 +a +a a:1/1' a:10/9 x1");
        CHECK(heard.counts.inside_unended == 2);
        CHECK_FALSE(heard.counts.hides_calls);
    }
    SECTION("left by a jump, inside a call that ends") {
        thread.enter(100, kA).enter(110, kB).enter(120, kB).call(130, kB, 5).call(140, kB, 5).leave(150, kA);
        thread.enter(200, kB).call(201, kB, 1).leave(210, kB);
        CHECK(unended(thread) == Numbers{1, 2});
        CHECK(listen(thread, {}, {}, unended(thread)).text ==
              "+a +b +b +b b:5/5 +b b:5/5 x2 a:50 +b +b b:1/1' b:10/9");
    }
    SECTION("where events are missing") {
        thread.enter(100, kA).call(110, kA, 5).gap().enter(200, kA).call(210, kA, 5).leave(220, kA);
        CHECK(unended(thread) == Numbers{0});
        CHECK(listen(thread, {}, {}, unended(thread)).text == "+a +a a:5/5 x1 +a +a a:5/5' a:20/15");
    }
    SECTION("an ignored function's calls are numbered as well") {
        thread.enter(90, kC).enter(100, kA).call(105, kC, 1).call(110, kA, 5).leave(200, kC);
        CHECK(unended(thread) == Numbers{1});
        CHECK(listen(thread, {}, {false, false, true}, unended(thread)).text == "+a +a a:5/5 x1");
    }
    SECTION("nothing is hidden where none is inside") {
        thread.enter(100, kA).call(110, kB, 5).leave(120, kA).enter(130, kA).call(140, kB, 5);
        CHECK_FALSE(listen(thread).counts.hides_calls);
        CHECK(unended(thread) == Numbers{2});
    }
}

TEST_CASE("a tail call ends its predecessor and is a child of the frame's function", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).tail_enter(110, kB).call(112, kA, 2).tail_enter(120, kC).leave(150, kA);
    CHECK(listen(thread).text == "+a +b +a a:2/2' b:10/8 +c c:30/30 a:50/10");
}

TEST_CASE("a mutual tail recursion of any length stays two deep", "[calls]") {
    ThreadRecording thread;
    thread.enter(0, kA);
    for (std::uint64_t i = 1; i <= 100000; ++i)
        thread.tail_enter(i, i % 2 == 0 ? kA : kB);
    thread.leave(100001, kA);
    const Heard heard = listen(thread);
    CHECK(heard.counts.calls == 100001);
    CHECK(heard.counts.abandoned_at_end + heard.counts.abandoned_by_jump == 0);
    CHECK(heard.text.ends_with("a:1/1' a:100001/1"));
}

TEST_CASE("a jump out of calls leaves them without a time, and the call around them without a self time",
          "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).enter(110, kB).call(112, kC, 3).enter(120, kC).leave(150, kA);
    const Heard heard = listen(thread);
    CHECK(heard.text == "+a +b +c c:3/3 +c x2 a:50");
    CHECK(heard.counts.abandoned_by_jump == 2);
}

TEST_CASE("calls left by unwinding are abandoned where their ends were not seen, and no others", "[calls]") {
    trace::TraceInfo info;
    info.process.unwound_unseen = true;
    Listener listener;
    calls::Matcher matcher{3, {}, {}, listener};
    matcher.set_known_ends(calls::KnownEnds::of(info));
    ThreadRecording thread;
    thread.enter(100, kA).enter(110, kB).enter(120, kB);
    trace::Event unwound;
    unwound.tsc = 130;
    unwound.function = kB;
    unwound.kind = trace::EventKind::leave;
    unwound.unwound = true;
    matcher.consume(thread.pieces().front().events);
    matcher.consume(unwound);
    ThreadRecording rest;
    rest.leave(140, kB).leave(150, kA);
    matcher.consume(rest.pieces().front().events);
    matcher.finish();
    // The outer b ends at its own end; its self time is not known.
    CHECK(listener.heard == "+a +b +b x1 b:30 a:50/20");
    CHECK(matcher.counts().abandoned_by_jump == 1);
}

TEST_CASE("a jump inside the function that was tail-entered does not abandon that one", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).tail_enter(110, kB).enter(112, kC).leave(150, kA);
    CHECK(listen(thread).text == "+a +b +c x1 b:40 a:50/10");
}

TEST_CASE("what is open at the thread's end or at a gap is abandoned", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).enter(110, kB).gap().leave(120, kB).enter(130, kC);
    const Heard heard = listen(thread);
    CHECK(heard.text == "+a +b x2 +c x1");
    CHECK(heard.counts.abandoned_at_gap == 2);
    CHECK(heard.counts.abandoned_at_end == 1);
    CHECK(heard.counts.unmatched_leaves == 1);
}

TEST_CASE("a leave or tail call without a frame is counted and ignored", "[calls]") {
    ThreadRecording thread;
    thread.leave(100, kA).tail_enter(101, kB).enter(102, kC).leave(103, kA).leave(104, kC);
    const Heard heard = listen(thread);
    CHECK(heard.text == "+c c:2/2");
    CHECK(heard.counts.unmatched_leaves == 2);
    CHECK(heard.counts.stray_tail_enters == 1);
}

TEST_CASE("unmatched leaves cost no search through a deep stack", "[calls]") {
    ThreadRecording thread;
    for (std::uint64_t i = 0; i < 200000; ++i)
        thread.enter(i, kA);
    for (std::uint64_t i = 0; i < 200000; ++i)
        thread.leave(200000 + i, kB);
    const Heard heard = listen(thread);
    CHECK(heard.counts.unmatched_leaves == 200000);
    CHECK(heard.counts.abandoned_at_end == 200000);
}

TEST_CASE("pauses are taken out of every open call, once", "[calls]") {
    ThreadRecording thread;
    SECTION("inside") {
        thread.enter(100, kA).enter(110, kB).pause(112, 122).leave(130, kB).leave(150, kA);
        CHECK(listen(thread).text == "+a +b b:10/10 a:40/30");
    }
    SECTION("outside") {
        thread.pause(80, 90).call(100, kA, 10).pause(120, 130);
        CHECK(listen(thread).text == "+a a:10/10");
    }
    SECTION("overlapping one another") {
        thread.enter(100, kA).pause(110, 130).pause(120, 140).leave(150, kA);
        CHECK(listen(thread).text == "+a a:20/20");
    }
    SECTION("begun before the innermost call's clock was read") {
        thread.enter(100, kA).enter(110, kB).pause(106, 120).leave(125, kB).leave(150, kA);
        CHECK(listen(thread).text == "+a +b b:5/5 a:36/31");
    }
    SECTION("ended after a call's end had been read") {
        thread.enter(100, kA).enter(110, kB).pause(112, 122).leave(120, kB).leave(150, kA);
        CHECK(listen(thread).text == "+a +b b:2/2 a:40/38");
    }
    SECTION("several behind a call's end, whose slot was taken late") {
        thread.enter(100, kA).enter(110, kB).pause(122, 130).pause(135, 140).pause(140, 145).leave(120, kB);
        thread.leave(160, kA);
        CHECK(listen(thread).text == "+a +b b:10/10 a:42/32");
    }
    SECTION("that end before they begin are counted and ignored") {
        thread.enter(100, kA).pause(120, 110).leave(150, kA);
        const Heard heard = listen(thread);
        CHECK(heard.text == "+a a:50/50");
        CHECK(heard.counts.bad_pauses == 1);
    }
}

TEST_CASE("the cost of probes is taken out of every call that contains them", "[calls]") {
    const calls::ProbeCost cost{.total = 10, .inner = 4};
    ThreadRecording thread;
    SECTION("nested") {
        // b: 20 − 4; a: 100 − 4 − 2 × 10, of which the two b take 16 each.
        thread.enter(100, kA).call(110, kB, 20).call(150, kB, 20).leave(200, kA);
        CHECK(listen(thread, cost).text == "+a +b b:16/16 +b b:16/16 a:76/44");
    }
    SECTION("never below nothing") {
        thread.enter(100, kA).call(101, kB, 1).leave(103, kA);
        CHECK(listen(thread, cost).text == "+a +b b:0/0 a:0/0");
    }
    SECTION("that make no sense are not") {
        thread.call(100, kA, 5);
        CHECK(listen(thread, {.total = -1, .inner = std::nan("")}).text == "+a a:5/5");
    }
}

TEST_CASE("a call that ends before it begins has no time, nor have those around it a self time", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).enter(110, kB).leave(105, kB).leave(150, kA);
    const Heard heard = listen(thread);
    CHECK(heard.text == "+a +b b? a:50");
    CHECK(heard.counts.bad_clock == 1);
}

TEST_CASE("a signal handler may run before the clock of the call around it was read", "[calls]") {
    ThreadRecording thread;
    thread.enter(120, kA).call(110, kB, 5).leave(150, kA);
    CHECK(listen(thread, {.total = 10, .inner = 0}).text == "+a +b b:5/5 a:30/30");
}

TEST_CASE("an ignored function's children belong to the function around it", "[calls]") {
    ThreadRecording thread;
    thread.enter(100, kA).enter(110, kB).call(112, kC, 3).leave(130, kB).leave(150, kA);
    const Heard heard = listen(thread, {.total = 2, .inner = 0}, {false, true});
    CHECK(heard.text == "+a +c c:3/3 a:46/43");
    CHECK(heard.counts.calls == 2);
}

TEST_CASE("a hundred thousand calls deep", "[calls]") {
    constexpr std::uint64_t kDepth = 300000;
    ThreadRecording thread;
    for (std::uint64_t i = 0; i < kDepth; ++i)
        thread.enter(i, kA);
    for (std::uint64_t i = 0; i < kDepth; ++i)
        thread.leave(kDepth + i, kA);
    const Heard heard = listen(thread);
    CHECK(heard.counts.calls == kDepth);
    CHECK(heard.text.ends_with("a:" + std::to_string(2 * kDepth - 1) + "/2"));
}

TEST_CASE("a sampled function's call is doubted if the probes inside it took nearly all of it", "[calls]") {
    struct Doubts : Listener {
        std::vector<std::uint64_t> held;
        void closed(const calls::Call& call) override {
            if (call.function == kA) held.push_back(call.held);
        }
    };
    ThreadRecording thread;
    thread.enter(100, kA).call(110, kB, 5).leave(224, kA);                   // 24 beside one probe of 100
    thread.enter(300, kA).call(310, kB, 5).leave(425, kA);                   // 25
    thread.enter(500, kA).leave(501, kA);                                    // no probe inside
    thread.enter(600, kA).call(610, kB, 5).call(620, kB, 5).leave(849, kA);  // 49 beside two
    for (const bool sampled : {true, false}) {
        Doubts doubts;
        calls::Matcher matcher{3, {.total = 100}, {}, doubts};
        if (sampled) matcher.set_sampled({true});
        for (const ThreadRecording::Piece& piece : thread.pieces())
            matcher.consume(piece.events);
        CHECK(doubts.held == (sampled ? std::vector<std::uint64_t>{100, 0, 0, 200}
                                      : std::vector<std::uint64_t>{0, 0, 0, 0}));
    }
}

}  // namespace rdam::test
