// From events made by hand to rows.
#include "analyzer/columns/thread_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "analyzer/calls/call_stream.h"
#include "analyzer/columns/export.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/columns/folder.h"
#include "tools/trace/clock.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::test {
namespace {

/// What was written, read back.
struct Rows {
    template <class T>
    std::vector<T> column(const std::string& name) const {
        return read_column<T>(place.path() / (name + ".npy"));
    }

    /// `f@start+duration/self p<parent> #sequence end`, one for each row.
    std::string calls() const {
        const auto function = column<std::uint32_t>("calls/function");
        const auto start = column<std::int64_t>("calls/start");
        const auto duration = column<double>("calls/duration");
        const auto self = column<double>("calls/self");
        const auto parent = column<std::int64_t>("calls/parent");
        const auto sequence = column<std::int64_t>("calls/sequence");
        const auto end = column<std::uint8_t>("calls/end");
        const auto outermost = column<bool>("calls/outermost");
        std::string out;
        for (std::size_t i = 0; i < function.size(); ++i) {
            out += fmt::format("{}{}@{}+{}/{} p{} #{} {}", i == 0 ? "" : ", ",
                               static_cast<char>('a' + function[i]), start[i], duration[i], self[i],
                               parent[i], sequence[i], calls::kEndWords[end[i]]);
            if (end[i] != static_cast<std::uint8_t>(calls::End::not_seen) && !outermost[i]) out += " inner";
        }
        return out;
    }

    TemporaryPlace place;
};

/// The calls of a recording.
struct Written : Rows {
    explicit Written(const Recording& recording, const score::Settings& settings = {}) {
        const score::ResolvedSettings names = resolved(recording, settings);
        auto folder = columns::Folder::create(place.path().string());
        REQUIRE(folder);
        for (const char* room : {"calls", "sequences", "values"})
            REQUIRE(folder->make_room(room));
        columns::Tables tables{*folder, recording.info};
        const trace::TimeScale time{.origin = 1000,
                                    .ns_per_tick = trace::nanoseconds_per_tick(recording.info.clock)};
        const std::vector<bool> shown(recording.info.functions.size(), true);
        for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
            calls::UnendedFinder finder{recording.info.functions.size(), names.ends};
            for (const ThreadRecording::Piece& piece : recording.threads[t].pieces()) {
                if (piece.gap_before) finder.gap();
                finder.consume(piece.events);
            }
            const std::vector<std::uint64_t> unended = finder.finish();
            columns::ThreadWriter writer{t, recording.info, names, shown, time, tables};
            writer.set_unended(unended);
            for (const ThreadRecording::Piece& piece : recording.threads[t].pieces()) {
                if (piece.gap_before) writer.gap();
                writer.consume(piece.events);
            }
            writer.finish();
        }
        tables.finish();
        REQUIRE_FALSE(folder->error());
    }
};

/// The same by way of a trace file, or a part of it.
struct Exported : Rows {
    explicit Exported(const trace::TraceReader& reader, const score::Selection& selection = {}) {
        const columns::ExportOptions options{
            .settings = {.selection = selection}, .trace = "trace.bin", .rules = "", .progress = {}};
        REQUIRE(columns::export_columns(reader, place.path().string(), options));
    }
};

}  // namespace

TEST_CASE("rows are in the order in which calls began, and know the call around them", "[rows]") {
    Recording recording{3};
    recording.thread(1000, 2000)
        .enter(1010, kA)
        .call(1020, kB, 5)
        .call(1030, kB, 7)
        .leave(1050, kA)
        .call(1060, kB, 1);
    recording.thread(1000, 2000).enter(900, kA).enter(1005, kA).leave(1010, kA).leave(1100, kA);
    const Written written{recording};
    CHECK(written.calls() ==
          "a@10+40/28 p-1 #1 returned, b@20+5/5 p0 #0 returned, b@30+7/7 p0 #0 returned, b@60+1/1 p-1 #0 "
          "returned, "
          "a@-100+200/195 p-1 #3 returned, a@5+5/5 p4 #2 returned inner");
    CHECK(written.column<std::uint32_t>("calls/thread") == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1});
    CHECK(written.column<std::uint64_t>("sequences/calls") == std::vector<std::uint64_t>{3, 1, 1, 1});
    CHECK(written.column<std::uint32_t>("sequences/thread") == std::vector<std::uint32_t>{0, 0, 1, 1});
    CHECK(written.column<std::uint32_t>("sequences/function") == std::vector<std::uint32_t>{kB, kA, kA, kA});
    const auto names = written.column<std::uint8_t>("sequences/name");
    CHECK(std::string(names.begin(), names.end()) == "ba[b ×2]aa[a]");
    CHECK(written.column<std::int64_t>("sequences/name_end") == std::vector<std::int64_t>{1, 9, 10, 14});
}

TEST_CASE("calls that were not seen to end have neither duration nor sequence", "[rows]") {
    Recording recording{3};
    recording.thread(1000, 2000)
        .enter(1000, kA)
        .enter(1010, kB)
        .enter(1020, kC)
        .leave(1050, kA)
        .enter(1060, kB);
    recording.thread(1000, 2000).enter(1000, kA).gap().call(1100, kC, 3);
    CHECK(Written{recording}.calls() ==
          "a@0+50/nan p-1 #0 returned, b@10+nan/nan p0 #-1 not seen, c@20+nan/nan p1 #-1 not seen, "
          "b@60+nan/nan p-1 #-1 not seen, a@0+nan/nan p-1 #-1 not seen, c@100+3/3 p-1 #1 returned");
}

TEST_CASE("a call with an impossible end has no duration", "[rows]") {
    Recording recording{1};
    recording.thread(1000, 2000).enter(1010, kA).leave(1005, kA);
    CHECK(Written{recording}.calls() == "a@10+nan/nan p-1 #0 returned");
}

TEST_CASE("pauses and probes are taken out, and ticks become nanoseconds", "[rows]") {
    Recording recording{2};
    recording.info.clock.ticks_per_second = 2e9;
    recording.info.clock.probe_ticks = 10;
    recording.info.clock.probe_inner_ticks = 4;
    recording.thread(1000, 9000).enter(1200, kA).pause(1300, 1400).call(1500, kB, 24).leave(1700, kA);
    // a: 500 − 100 − 4 − 10 ticks, of which b has 20.
    CHECK(Written{recording}.calls() == "a@100+193/183 p-1 #1 returned, b@250+10/10 p0 #0 returned");
}

TEST_CASE("functions that are left out have no rows", "[rows]") {
    Recording recording{2};
    recording.thread(1000, 2000).enter(1000, kA).call(1010, kB, 5).leave(1050, kA);
    CHECK(Written{recording, {.given = {.ignore = {"b"}}}}.calls() == "a@0+50/50 p-1 #0 returned");
    CHECK(Written{recording, {.given = {.ignore = {"a"}}}}.calls() == "b@10+5/5 p-1 #0 returned");
}

TEST_CASE("keys tell sequences apart", "[rows]") {
    Recording recording{1, 2};
    recording.thread(1000, 2000)
        .call(1000, kA, 5, {1, 7})
        .call(1010, kA, 5, {2, 7})
        .call(1020, kA, 5, {1, 8});
    CHECK(Written{recording}.column<std::int64_t>("calls/sequence") == std::vector<std::int64_t>{0, 0, 0});
    CHECK(Written{recording, {.given = {.keys = {"a:k"}}}}.column<std::int64_t>("calls/sequence") ==
          std::vector<std::int64_t>{0, 1, 0});
}

TEST_CASE("processors, callers and weights are those of the events", "[rows]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1000, 2000);
    thread.enter(1000, kA, {}, 0x1234).leave(1010, kA).tree(3).enter(1020, kA, {}, 0x99).leave(1030, kA);
    const std::uint16_t cpus[] = {3, 65534, trace::kNoCpu, 1};
    std::vector<trace::Event> events = thread.pieces()[0].events;
    Recording with_cpus{1};
    ThreadRecording& copy = with_cpus.thread(1000, 2000);
    for (std::size_t i = 0; i < events.size(); ++i)
        events[i].cpu = cpus[i];
    copy.copy(std::span{events}.first(2), 0).copy(std::span{events}.last(2), 4);
    const Written written{with_cpus};
    CHECK(written.column<std::int32_t>("calls/cpu_enter") == std::vector<std::int32_t>{3, -1});
    CHECK(written.column<std::int32_t>("calls/cpu_leave") == std::vector<std::int32_t>{65534, 1});
    CHECK(written.column<std::uint64_t>("calls/caller") == std::vector<std::uint64_t>{0x1234, 0x99});
    CHECK(written.column<std::uint32_t>("calls/weight") == std::vector<std::uint32_t>{1, 8});
}

namespace {

trace::ParameterInfo parameter(const std::string& name, ValueKind kind, std::uint8_t size,
                               std::uint16_t word) {
    trace::ParameterInfo info;
    info.name = name;
    info.kind = static_cast<std::uint8_t>(kind);
    info.size = size;
    info.word = word;
    return info;
}

trace::Event leave(std::uint64_t tsc, std::uint32_t function, std::span<const std::uint64_t> words,
                   bool unwound) {
    trace::Event event;
    event.tsc = tsc;
    event.function = function;
    event.kind = trace::EventKind::leave;
    event.words = words;
    event.unwound = unwound;
    return event;
}

void give_result(Recording& recording, std::uint32_t function, ValueKind kind, std::uint8_t size) {
    recording.info.functions[function].leave_words = 1;
    recording.info.functions[function].result = {parameter("", kind, size, 0)};
}

}  // namespace

TEST_CASE("values have the type of their parameter", "[values]") {
    Recording recording{1};
    auto& parameters = recording.info.functions[0].parameters;
    parameters = {parameter("call", ValueKind::signed_integer, 4, 0),
                  parameter("", ValueKind::signed_integer, 1, 0),
                  parameter("return", ValueKind::unsigned_integer, 2, 0),
                  parameter("call", ValueKind::boolean, 1, 1),
                  parameter("d", ValueKind::floating, 8, 2),
                  parameter("f", ValueKind::floating, 4, 3),
                  parameter("p", ValueKind::pointer, 8, 0),
                  parameter("l", ValueKind::floating, 16, 2),
                  parameter("lost", ValueKind::pointer, 8, 9)};
    give_result(recording, 0, ValueKind::enumeration, 4);
    recording.thread(1000, 2000)
        .call(1000, kA, 5,
              {0xfedcba98fffefdfc, 0xffffff00, std::bit_cast<std::uint64_t>(-2.5),
               0xffffffff00000000 | std::bit_cast<std::uint32_t>(1.5F)});
    const Written written{recording};
    const auto bytes = [&](int column, columns::ElementType type) {
        std::uint64_t value = 0;
        const auto found = read_npy(written.place.path() / fmt::format("values/0.{}.npy", column), type);
        REQUIRE(found.size() == type.size);
        std::memcpy(&value, found.data(), found.size());
        return value;
    };
    CHECK(bytes(1, {"<i4", 4}) == 0xfffefdfc);
    CHECK(bytes(2, {"|i1", 1}) == 0xfc);
    CHECK(bytes(3, {"<u2", 2}) == 0xfdfc);
    CHECK(bytes(4, {"|b1", 1}) == 0);
    CHECK(bytes(5, {"<f8", 8}) == std::bit_cast<std::uint64_t>(-2.5));
    CHECK(bytes(6, {"<f4", 4}) == std::bit_cast<std::uint32_t>(1.5F));
    CHECK(bytes(7, {"<u8", 8}) == 0xfedcba98fffefdfc);
    CHECK(bytes(8, {"<u8", 8}) == std::bit_cast<std::uint64_t>(-2.5));
    CHECK(bytes(9, {"<u8", 8}) == 0);
}

TEST_CASE("columns of values have names of their own", "[values]") {
    Recording recording{1};
    recording.info.functions[0].parameters = {
        parameter("call", ValueKind::pointer, 8, 0),   parameter("", ValueKind::pointer, 8, 0),
        parameter("return", ValueKind::pointer, 8, 0), parameter("x", ValueKind::pointer, 8, 0),
        parameter("x", ValueKind::pointer, 8, 0),      parameter("returned", ValueKind::pointer, 8, 0)};
    give_result(recording, 0, ValueKind::pointer, 8);
    const TemporaryPlace place;
    auto folder = columns::Folder::create(place.path().string());
    REQUIRE(folder);
    const columns::ValueTable table{*folder, 0, recording.info.functions[0]};
    std::vector<std::string> names;
    for (const auto& value : table.values())
        names.push_back(value.name);
    CHECK(names == std::vector<std::string>{"call", "call_2", "parameter2", "return_2", "x", "x_2",
                                            "returned_2", "return", "returned"});
}

TEST_CASE("a result is there if its call returned", "[values]") {
    Recording recording{3};
    give_result(recording, kA, ValueKind::signed_integer, 8);
    give_result(recording, kB, ValueKind::signed_integer, 8);
    const bool of_other_kind = GENERATE(false, true);
    give_result(recording, kC, of_other_kind ? ValueKind::floating : ValueKind::signed_integer,
                of_other_kind ? 8 : 4);
    const std::uint64_t words[] = {42};
    // a returns; a is left by an exception; a, b and c in one frame, c by a tail call of b, b by one of a; a
    // again with b; a jump out of a third a.
    ThreadRecording& thread = recording.thread(1000, 2000);
    const auto left = [&](std::uint64_t tsc, bool unwound) {
        const trace::Event event = leave(tsc, kA, words, unwound);
        thread.copy({&event, 1}, 0);
    };
    thread.enter(1000, kA);
    left(1001, false);
    thread.enter(1002, kA);
    left(1003, true);
    thread.enter(1004, kA).tail_enter(1005, kB).tail_enter(1006, kC);
    left(1007, false);
    thread.enter(1008, kA).tail_enter(1009, kB);
    left(1010, false);
    thread.enter(1011, kA);
    const Written written{recording};
    CHECK(written.calls() ==
          "a@0+1/1 p-1 #0 returned, a@2+1/1 p-1 #0 unwound, a@4+3/1 p-1 #3 returned, b@5+1/1 p2 #1 tail, "
          "c@6+1/1 p2 #2 returned, a@8+2/1 p-1 #4 returned, b@9+1/1 p5 #1 returned, a@11+nan/nan p-1 #-1 "
          "not seen");
    CHECK(written.column<bool>("values/0.2") == std::vector<bool>{true, false, true, true, false});
    CHECK(written.column<std::int64_t>("values/0.1") == std::vector<std::int64_t>{42, 0, 42, 42, 0});
    CHECK(written.column<std::int64_t>("values/0.0") == std::vector<std::int64_t>{0, 1, 2, 5, 7});
    CHECK(written.column<bool>("values/1.2") == std::vector<bool>{false, true});
    CHECK(written.column<bool>("values/2.2") ==
          std::vector<bool>{false});  // of another type than the frame's
}

TEST_CASE("columns of random traces say what their analysis says", "[rows]") {
    std::mt19937_64 random{11};
    for (int round = 0; round < 150; ++round) {
        const Recording recording =
            random_recording(random, {.threads = 3, .events = 200, .accidents = round % 3 != 0});
        const score::Report report = analyze(recording);
        const Written written{recording};
        const auto function = written.column<std::uint32_t>("calls/function");
        const auto duration = written.column<double>("calls/duration");
        const auto outermost = written.column<bool>("calls/outermost");
        const auto held = written.column<bool>("calls/held");
        const auto doubt = written.column<double>("calls/doubt");
        const auto parent = written.column<std::int64_t>("calls/parent");
        const auto sequence = written.column<std::int64_t>("calls/sequence");
        const auto thread = written.column<std::uint32_t>("calls/thread");
        // Of those that are scored, by sequence; a tick is a nanosecond.
        struct Fastest {
            score::Least least;
            bool sure = false;
        };
        std::map<std::int64_t, Fastest> fastest;
        for (std::size_t i = 0; i < function.size(); ++i) {
            if (!outermost[i] || std::isnan(duration[i])) continue;
            fastest[sequence[i]].least.add(static_cast<std::uint64_t>(duration[i] + doubt[i]));
            if (!held[i]) fastest[sequence[i]].sure = true;
        }
        const auto taken = [&](std::size_t i) {
            const auto found = fastest.find(sequence[i]);
            if (!held[i] || found == fastest.end() || !found->second.sure) return duration[i];
            return std::max(duration[i],
                            static_cast<double>(found->second.least.floor(recording.info.clock.step_ticks)));
        };
        for (const score::FunctionRow& row : report.functions) {
            std::uint64_t recorded = 0, scored = 0;
            double sum = 0, least = INFINITY, most = 0;
            for (std::size_t i = 0; i < function.size(); ++i) {
                if (function[i] != row.function) continue;
                ++recorded;
                if (!outermost[i] || std::isnan(duration[i])) continue;
                ++scored;
                sum += taken(i);
                const bool bounded = held[i] && fastest.at(sequence[i]).sure;
                least = std::min({least, taken(i), bounded ? duration[i] + doubt[i] : INFINITY});
                most = std::max(most, taken(i));
            }
            CHECK(recorded == row.recorded);
            CHECK(scored == row.outermost);
            if (scored == 0) continue;
            CHECK(sum == Approx(row.mean_ns * static_cast<double>(scored)));
            CHECK(least == row.min_ns);
            CHECK(most == row.max_ns);
        }
        const auto owner = written.column<std::uint32_t>("sequences/function");
        auto left = written.column<std::uint64_t>("sequences/calls");
        for (std::size_t i = 0; i < function.size(); ++i) {
            CHECK(parent[i] < static_cast<std::int64_t>(i));
            if (parent[i] >= 0) CHECK(thread[static_cast<std::size_t>(parent[i])] == thread[i]);
            if (sequence[i] < 0) continue;
            CHECK(owner[static_cast<std::size_t>(sequence[i])] == function[i]);
            --left[static_cast<std::size_t>(sequence[i])];
        }
        CHECK(left == std::vector<std::uint64_t>(left.size()));
    }
}

TEST_CASE("a part has the rows of the whole that its analysis counts", "[rows]") {
    std::mt19937_64 random{37};
    std::size_t ended = 0;
    for (int round = 0; round < 150; ++round) {
        const Recording recording =
            random_recording(random, {.threads = 3, .events = 150, .accidents = false});
        const trace::TraceReader reader = reader_of(recording);
        score::Selection selection;
        if (round % 2 == 0) selection.since_ns = static_cast<double>(random() % 4000);
        if (round % 3 == 0)
            selection.until_ns = selection.since_ns.value_or(0) + 1.0 + static_cast<double>(random() % 4000);
        if (round % 5 < 2) selection.threads = {"100", "102"};
        if (round % 7 < 4) selection.functions = {"a", "c"};
        const Exported whole{reader}, part{reader, selection};

        const auto key = [](const Rows& rows) {
            const auto thread = rows.column<std::uint32_t>("calls/thread");
            const auto start = rows.column<std::int64_t>("calls/start");
            const auto function = rows.column<std::uint32_t>("calls/function");
            std::vector<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>> keys;
            for (std::size_t i = 0; i < thread.size(); ++i)
                keys.emplace_back(thread[i], start[i], function[i]);
            return keys;
        };
        const auto keys = key(part), all_keys = key(whole);
        std::map<decltype(keys)::value_type, std::size_t> in_whole, in_part;
        for (std::size_t i = 0; i < all_keys.size(); ++i)
            in_whole.emplace(all_keys[i], i);
        for (std::size_t i = 0; i < keys.size(); ++i)
            in_part.emplace(keys[i], i);
        REQUIRE(in_whole.size() == all_keys.size());

        const auto check_same = [&]<class T>(T /*type*/, const std::string& name, auto same) {
            const auto own = part.column<T>(name), all = whole.column<T>(name);
            for (std::size_t i = 0; i < keys.size(); ++i) {
                REQUIRE(in_whole.contains(keys[i]));
                INFO(name << " of row " << i);
                CHECK(same(i, own[i], all[in_whole.at(keys[i])]));
            }
        };
        const auto ends = part.column<std::uint8_t>("calls/end");
        const auto is_whole = [&](std::size_t i) {
            return ends[i] != static_cast<std::uint8_t>(calls::End::not_seen);
        };
        const auto equal = [&](std::size_t i, auto own, auto all) {
            return !is_whole(i) || own == all ||
                   (std::isnan(static_cast<double>(own)) && std::isnan(static_cast<double>(all)));
        };
        check_same(std::uint8_t{}, "calls/end", equal);
        check_same(double{}, "calls/duration", equal);
        check_same(double{}, "calls/self", equal);
        check_same(double{}, "calls/doubt", equal);
        check_same(std::int32_t{}, "calls/cpu_leave", equal);
        check_same(std::uint64_t{}, "calls/caller",
                   [](std::size_t, auto own, auto all) { return own == all; });
        check_same(bool{}, "calls/outermost",
                   [&](std::size_t i, bool own, bool all) { return !is_whole(i) || own || !all; });
        const auto ids = part.column<std::uint64_t>("sequences/id"),
                   all_ids = whole.column<std::uint64_t>("sequences/id");
        check_same(std::int64_t{}, "calls/sequence", [&](std::size_t i, std::int64_t own, std::int64_t all) {
            return is_whole(i)
                       ? ids.at(static_cast<std::size_t>(own)) == all_ids.at(static_cast<std::size_t>(all))
                       : own == -1;
        });
        const auto parents = whole.column<std::int64_t>("calls/parent");
        check_same(std::int64_t{}, "calls/parent", [&](std::size_t, std::int64_t own, std::int64_t all) {
            while (all >= 0 && !in_part.contains(all_keys[static_cast<std::size_t>(all)]))
                all = parents[static_cast<std::size_t>(all)];
            return all < 0
                       ? own == -1
                       : own ==
                             static_cast<std::int64_t>(in_part.at(all_keys[static_cast<std::size_t>(all)]));
        });

        const score::Report report = analyze(recording, {.selection = selection});
        std::size_t counted = 0;
        for (const score::FunctionRow& row : report.functions) {
            counted += row.recorded;
            CHECK(std::ranges::count(keys, row.function, [](const auto& each) {
                      return std::get<2>(each);
                  }) == static_cast<std::ptrdiff_t>(row.recorded));
        }
        CHECK(counted == keys.size());
        ended += static_cast<std::size_t>(std::ranges::count(part.column<bool>("calls/outermost"), true));
    }
    CHECK(ended > 5000);
}

TEST_CASE("times off the processors are those of the part", "[rows]") {
    Recording recording{1};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    recording.thread(1000, 9000)
        .call(1100, kA, 10)
        .off({.out = 1900, .in = 2200})
        .off({.out = 2900, .in = 3500});
    recording.thread(1000, 9000).call(1100, kA, 10).off({.out = 1200, .in = 1400, .preempted = true});
    const trace::TraceReader reader = reader_of(recording);
    const Exported window{reader, {.since_ns = 1000, .until_ns = 2000}}, thread{reader, {.threads = {"101"}}};
    CHECK(window.column<std::int64_t>("off_cpu/out") == std::vector<std::int64_t>{1000, 1900});
    CHECK(window.column<std::int64_t>("off_cpu/in") == std::vector<std::int64_t>{1200, 2000});
    CHECK(thread.column<std::int64_t>("off_cpu/out") == std::vector<std::int64_t>{200});
    CHECK(thread.column<std::uint32_t>("off_cpu/thread") == std::vector<std::uint32_t>{1});
}

TEST_CASE("no events whatever make rows that do not fit together", "[rows]") {
    std::mt19937_64 random{5};
    const std::uint64_t extremes[] = {0, 1, UINT64_MAX, std::uint64_t{1} << 63, 1000, 2000};
    const auto number = [&] {
        return random() % 2 == 0 ? extremes[random() % 6] : random() >> (random() % 64);
    };
    for (int round = 0; round < 300; ++round) {
        Recording recording{3, 1};
        recording.info.clock.ticks_per_second =
            round % 4 == 0 ? std::nan("") : 1e-3 * std::pow(10, round % 16);
        give_result(recording, kB, ValueKind::pointer, 8);
        ThreadRecording& thread = recording.thread(number(), number());
        std::vector<std::uint64_t> words{number()};
        for (int i = 0; i < 80; ++i) {
            trace::Event event;
            event.tsc = number();
            event.until = number();
            event.function = static_cast<std::uint32_t>(random() % 3);
            event.cpu = static_cast<std::uint16_t>(random());
            event.sampling = static_cast<std::uint8_t>(random() % (trace::kMaxSampling + 2));
            event.kind = static_cast<trace::EventKind>(random() % 4);
            event.unwound = random() % 4 == 0;
            event.words = words;
            thread.copy({&event, 1}, event.sampling);
        }
        const Written written{recording};
        const auto parent = written.column<std::int64_t>("calls/parent");
        const auto duration = written.column<double>("calls/duration");
        const auto weight = written.column<std::uint32_t>("calls/weight");
        const auto sequence = written.column<std::int64_t>("calls/sequence");
        const auto sequences =
            static_cast<std::int64_t>(written.column<std::uint64_t>("sequences/id").size());
        REQUIRE(duration.size() == parent.size());
        for (std::size_t i = 0; i < parent.size(); ++i) {
            CHECK((parent[i] >= -1 && parent[i] < static_cast<std::int64_t>(i)));
            CHECK((sequence[i] >= -1 && sequence[i] < sequences));
            CHECK((std::isnan(duration[i]) || (duration[i] >= 0 && std::isfinite(duration[i]))));
            CHECK(weight[i] >= 1);
        }
    }
}

}  // namespace rdam::test
