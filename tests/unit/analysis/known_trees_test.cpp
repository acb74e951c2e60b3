// Call trees that a thread repeats, looked at by columns: nothing may depend on it.
#include "analyzer/score/known_trees.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "analyzer/output/json.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

double number(std::uint64_t value) {
    return static_cast<double>(value);
}

/// All that is kept of single calls as well as the report.
struct Answer {
    std::string report;
    std::vector<std::vector<std::uint64_t>> calls;  // in samples and windows
    std::vector<std::vector<double>> paths;
    std::vector<std::vector<double>> course;

    /// Sums over a part of the run may differ by rounding.
    friend bool operator==(const Answer& a, const Answer& b) {
        const auto near = [](const std::vector<double>& x, const std::vector<double>& y) {
            return std::ranges::equal(x, y, [](double left, double right) {
                return std::abs(left - right) <= 1e-12 * std::max(std::abs(left), std::abs(right));
            });
        };
        return a.report == b.report && a.calls == b.calls && a.paths == b.paths &&
               std::ranges::equal(a.course, b.course, near);
    }
};

Answer answer(const Recording& recording, const score::ResolvedSettings& settings, std::size_t pack) {
    const score::AnalyzedTrace trace = read(recording, settings, {}, pack);
    Answer answer;
    for (const auto& thread : trace.threads) {
        for (const samples::CallSample& sample : thread->samples) {
            for (std::size_t i = 0; i < sample.taken().size(); ++i) {
                const samples::SampledCall& call = sample.taken()[i];
                answer.calls.push_back({call.begin, call.end, call.duration, call.group, call.caller,
                                        call.result, call.inside, call.inside_keys, call.enter_cpu,
                                        call.leave_cpu, call.returned ? 1U : 0U});
                answer.calls.emplace_back(sample.words(i).begin(), sample.words(i).end());
            }
        }
        for (const auto* const windows : {&thread->windows.all(), &thread->windows.of_waits()})
            for (const samples::WindowCall& call : windows->calls())
                answer.calls.push_back({call.begin, call.end, call.duration, call.function, call.group});
        answer.calls.push_back({thread->events, thread->counts.calls, thread->counts.probes,
                                thread->counts.first, thread->counts.last, thread->stack_samples.size()});
        for (std::uint32_t stack = 0; stack < recording.info.stacks.size(); ++stack)
            if (const auto found = thread->stack_samples.find(stack); found != thread->stack_samples.end())
                answer.calls.push_back({stack, found->second});
        for (const calls::FunctionCounts& counts : thread->per_function)
            answer.calls.push_back({counts.calls, counts.estimated, counts.abandoned});
    }
    output::TraceSymbols symbols{recording.info};
    const score::Report report = score::make_report(trace.facts(), settings, trace.threads, 1000, SIZE_MAX);
    for (const score::PathNode& node : report.paths.nodes)
        answer.paths.push_back({number(node.parent), number(node.function), number(node.caller), node.calls,
                                node.time_ns, node.self_ns, node.lost_ns, node.lost_self_ns});
    for (const score::CourseCell& cell : report.course.cells)
        answer.course.push_back({number(cell.thread), number(cell.function), number(cell.bin), cell.calls,
                                 cell.time_ns, cell.lost_ns});
    answer.paths.push_back(
        {number(report.paths.left_out), number(report.paths.approximate), number(report.course.approximate)});
    answer.report = output::to_json({report}, symbols, {});
    return answer;
}

/// A program that does what it does again and again, with accidents in between.
class Program {
  public:
    Program(std::mt19937_64& random, std::size_t functions, ThreadRecording& thread)
        : random_(random), functions_(functions), thread_(thread) {}

    /// When it ends.
    std::uint64_t run(int steps) {
        std::vector<std::uint64_t> seeds(1 + random_() % 4);
        for (std::uint64_t& seed : seeds)
            seed = random_();
        for (int i = 0; i < steps; ++i) {
            const std::uint64_t seed = seeds[random_() % seeds.size()];
            for (std::uint64_t again = 1 + random_() % 6; again > 0; --again)
                tree(seed, 0);
            accident();
        }
        return now_;
    }

  private:
    /// The same seed makes the same functions and callers; times and words differ.
    void tree(std::uint64_t seed, int depth) {
        std::mt19937_64 shape{seed};
        const auto function = static_cast<std::uint32_t>(shape() % functions_);
        thread_.enter(later(), function, {random_() % 5, random_() % 3}, 0x1000 + shape() % 3,
                      random_() % 40 == 0 ? 1 : 0);
        for (std::uint64_t inside = depth < 4 ? shape() % 3 : 0; inside > 0; --inside)
            tree(shape(), depth + 1);
        if (random_() % 3 == 0)
            thread_.returns(later(), function, random_() % 4);
        else
            thread_.leave(later(), function);
    }

    void accident() {
        switch (random_() % 12) {
            case 0: {
                const std::uint64_t begin = later();
                now_ += random_() % 200;
                thread_.pause(begin, now_);
                break;
            }
            case 1:
                thread_.enter(later(), static_cast<std::uint32_t>(random_() % functions_), {1, 1});
                break;
            case 2:
                thread_.leave(later(), static_cast<std::uint32_t>(random_() % functions_));
                break;
            case 3:
                now_ -= std::min<std::uint64_t>(now_, random_() % 3);
                break;
            case 4:
                if (random_() % 4 == 0) thread_.gap();
                break;
            default:
                break;
        }
    }

    std::uint64_t later() { return now_ += random_() % 30; }

    std::mt19937_64& random_;
    std::size_t functions_;
    ThreadRecording& thread_;
    std::uint64_t now_ = 1000;
};

Recording repetitive(std::mt19937_64& random, std::size_t functions) {
    Recording recording{functions, 2};
    recording.info.clock.probe_ticks = static_cast<double>(random() % 4);
    recording.info.clock.probe_inner_ticks = static_cast<double>(random() % 2);
    recording.info.stacks.resize(1);
    for (std::uint64_t threads = 1 + random() % 2; threads > 0; --threads) {
        ThreadRecording& thread = recording.thread(900, 10'000'000);
        recording.info.threads.back().end = 100 + Program{random, functions, thread}.run(60);
    }
    return recording;
}

score::ResolvedSettings random_settings(std::mt19937_64& random, const Recording& recording) {
    score::Settings settings;
    if (random() % 2 == 0) settings.given.keys.emplace_back("a:k");
    if (random() % 4 == 0) settings.given.split_by_context.emplace_back("b");
    if (random() % 4 == 0) settings.given.ignore.emplace_back("c");
    settings.sequences.fold_loops = random() % 4 == 0;
    settings.sequences.deep_keys = random() % 4 == 0;
    settings.patterns = random() % 8 == 0;
    if (random() % 4 == 0) settings.baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.1};
    settings.paths = random() % 3 == 0;
    settings.path_callers = random() % 2 == 0;
    settings.course = random() % 3 == 0;
    score::ResolvedSettings names = resolved(recording, settings);
    if (settings.paths && random() % 4 == 0) names.max_paths = 8 + random() % 8;
    if (settings.paths && random() % 4 == 0) names.max_path_groups = 1 + random() % 20;
    if (settings.course && random() % 4 == 0) names.max_course = 4 + random() % 100;
    names.max_sampled = random() % 3 == 0 ? 0 : 16;
    names.max_in_windows = random() % 2 == 0 ? 0 : 40;
    names.window_shift = 5;
    std::vector<bool> about_waits(recording.info.functions.size());
    about_waits[random() % about_waits.size()] = true;
    if (random() % 2 == 0) names.about_waits = std::make_shared<const std::vector<bool>>(about_waits);
    if (random() % 3 == 0) names.few_groups = random() % 30;
    return names;
}

}  // namespace

TEST_CASE("calls in trees that are known come to what they come to one by one", "[trees][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(1500U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording = repetitive(random, 3 + random() % 3);
        const score::ResolvedSettings settings = random_settings(random, recording);
        const Answer one_by_one = answer(recording, settings, 0);
        CHECK(answer(recording, settings, 4096) == one_by_one);
        CHECK(answer(recording, settings, 1 + random() % 100) == one_by_one);
    }
}

TEST_CASE("programs with accidents come to the same by columns", "[trees][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(1500U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording = random_recording(
            random, {.functions = 4, .events = seed % 10 == 0 ? 3000 : 100, .accidents = seed % 2 == 0});
        const score::ResolvedSettings settings = random_settings(random, recording);
        CHECK(answer(recording, settings, 1 + random() % 500) == answer(recording, settings, 0));
    }
}

TEST_CASE("a tree's calls have their nesting", "[trees]") {
    std::vector<trace::EventColumns::Op> ops(4);
    ops[0].event.function = ops[1].event.function = kA;
    ops[2].event.function = ops[3].event.function = kB;
    ops[1].event.kind = ops[3].event.kind = trace::EventKind::leave;
    // a { b b { a } }
    const std::vector<std::uint32_t> events{0, 2, 3, 2, 0, 1, 3, 1}, numbers{10, 11, 12, 13};
    const score::KnownTree tree = score::KnownTree::of(ops, events, numbers);
    CHECK(tree.ops == std::vector<std::uint32_t>{10, 12, 13, 12, 10, 11, 13, 11});
    CHECK(tree.depth == 3);
    REQUIRE(tree.calls.size() == 4);
    struct Expected {
        std::uint32_t function, enter, leave, parent, inside, nested;
        bool recursive;
    };
    const Expected expected[] = {{kB, 1, 2, 3, 0, 0, false},
                                 {kA, 4, 5, 2, 0, 0, true},
                                 {kB, 3, 6, 3, 1, 1, false},
                                 {kA, 0, 7, 3, 2, 3, false}};
    for (std::size_t i = 0; i < tree.calls.size(); ++i) {
        const score::KnownTree::Call& call = tree.calls[i];
        INFO("call " << i);
        CHECK(call.function == expected[i].function);
        CHECK(call.enter == expected[i].enter);
        CHECK(call.leave == expected[i].leave);
        CHECK(call.parent == expected[i].parent);
        CHECK(call.inside == expected[i].inside);
        CHECK(call.nested == expected[i].nested);
        CHECK(call.recursive == expected[i].recursive);
    }
}

}  // namespace rdam::test
