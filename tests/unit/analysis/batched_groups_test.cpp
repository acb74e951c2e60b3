// Calls of many groups, put off and worked off by group: nothing may depend on it.
#include "analyzer/score/batched_groups.h"

#include <map>
#include <random>
#include <vector>

#include "analyzer/output/json.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

constexpr std::size_t kAllTogether = std::size_t{1} << 20;  // bytes

/// All that is kept of single calls as well as the report.
struct Answer {
    std::string report;
    std::vector<std::vector<std::uint64_t>> calls;  // in samples and windows

    friend bool operator==(const Answer&, const Answer&) = default;
};

Answer answer(const Recording& recording, score::ResolvedSettings settings, std::size_t few_groups,
              std::size_t batch_bytes) {
    settings.few_groups = few_groups;
    settings.batch_bytes = batch_bytes;
    const score::AnalyzedTrace trace = read(recording, settings);
    Answer answer;
    for (const auto& thread : trace.threads) {
        for (const samples::CallSample& sample : thread->samples)
            for (const samples::SampledCall& call : sample.taken())
                answer.calls.push_back({call.begin, call.end, call.duration, call.group});
        for (const auto* const windows : {&thread->windows.all(), &thread->windows.of_waits()})
            for (const samples::WindowCall& call : windows->calls())
                answer.calls.push_back({call.begin, call.end, call.function, call.group});
    }
    output::TraceSymbols symbols{recording.info};
    answer.report = output::to_json(
        {score::make_report(trace.facts(), settings, trace.threads, 1000, SIZE_MAX)}, symbols, {});
    return answer;
}

score::Settings random_settings(std::mt19937_64& random, std::size_t functions) {
    score::Settings settings;
    for (std::size_t f = 0; f < functions; ++f) {
        const std::string name(1, static_cast<char>('a' + f));
        if (random() % 3 != 0) settings.given.keys.push_back(name + ":k");
        if (random() % 3 == 0) settings.given.keys.push_back(name + ":n");
        if (random() % 4 == 0) settings.given.split_by_context.push_back(name);
    }
    settings.sequences.deep_keys = random() % 8 == 0;
    settings.sequences.fold_loops = random() % 4 == 0;
    settings.patterns = random() % 4 == 0;
    if (random() % 4 == 0) settings.baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.1};
    return settings;
}

/// Nested calls of one thread, of two functions with two parameters; some are sampled with a weight.
Recording weighted_recording(std::mt19937_64& random, bool weighted) {
    Recording recording{2, 2};
    ThreadRecording& thread = recording.thread(0, 1'000'000);
    std::uint64_t now = 0;
    for (int i = 0; i < 300; ++i) {
        if (weighted && i > 150 && i % 3 == 0) thread.tree(2);
        thread.enter(now += 10, 0, {random() % 50, random() % 3});
        for (std::uint64_t inside = random() % 3; inside > 0; --inside) {
            thread.enter(now += 10, 1, {random() % 50, random() % 3});
            thread.leave(now += 20 + random() % 30, 1);
        }
        thread.leave(now += 20 + random() % 100, 0);
    }
    return recording;
}

void check(const Recording& recording, score::ResolvedSettings settings, std::mt19937_64& random) {
    settings.max_sampled = random() % 2 == 0 ? 0 : 8;
    settings.max_in_windows = random() % 2 == 0 ? 0 : 16;
    settings.window_shift = 3;
    std::vector<bool> about_waits(recording.info.functions.size());
    about_waits.front() = true;
    if (random() % 2 == 0) settings.about_waits = std::make_shared<const std::vector<bool>>(about_waits);
    const Answer in_order = answer(recording, settings, SIZE_MAX, 0);
    CHECK(answer(recording, settings, 0, kAllTogether) == in_order);
    CHECK(answer(recording, settings, 0, 0) == in_order);
    CHECK(answer(recording, settings, 1 + random() % 20, 0) == in_order);
}

}  // namespace

TEST_CASE("calls that are put off come to what they come to in their order", "[batch][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(1500U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording = random_recording(
            random, {.functions = 5, .events = seed % 10 == 0 ? 3000 : 100, .accidents = seed % 2 == 0});
        check(recording, resolved(recording, random_settings(random, 5)), random);
    }
}

TEST_CASE("calls of sampled trees end what is put off", "[batch][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(200U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording = weighted_recording(random, seed % 2 == 0);
        score::Settings settings = random_settings(random, 2);
        settings.patterns = false;
        check(recording, resolved(recording, settings), random);
    }
}

TEST_CASE("a batch gives back every call with its keys, those of a group in order", "[batch]") {
    std::mt19937_64 random{5};
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100'000}, std::size_t{3} << 20}) {
        score::CallBatch batch{bytes};
        std::vector<std::pair<std::uint64_t, std::vector<std::uint64_t>>> pushed;  // hash and keys
        std::size_t given = 0, batches = 0;
        const auto drain = [&] {
            ++batches;
            std::map<std::uint64_t, std::uint32_t> last;  // order, by hash
            std::uint64_t partition = 0;
            REQUIRE(batch.size() == pushed.size());
            batch.drain([&](std::span<score::BatchedCall> calls) {
                for (const score::BatchedCall& call : calls) {
                    const auto& [hash, keys] = pushed[call.order];
                    const auto found = batch.keys(call);
                    CHECK(std::vector<std::uint64_t>(found.begin(), found.end()) == keys);
                    CHECK(call.duration == call.order + 7);
                    CHECK(hash >> (64 - score::CallBatch::kPartitionBits) >= partition);
                    partition = hash >> (64 - score::CallBatch::kPartitionBits);
                    if (const auto before = last.find(hash); before != last.end())
                        CHECK(before->second < call.order);
                    last[hash] = call.order;
                    ++given;
                }
            });
            CHECK(batch.size() == 0);
            pushed.clear();
        };
        constexpr std::size_t kCalls = 20'000;
        for (std::size_t i = 0; i < kCalls; ++i) {
            // One group has half of the calls.
            const std::uint64_t hash = random() % 2 == 0 ? 1 : (random() % 300) * 0x9e3779b97f4a7c15;
            if (batch.full(hash)) drain();
            REQUIRE(!batch.full(hash));
            std::vector<std::uint64_t> keys(random() % 4);
            for (std::uint64_t& key : keys)
                key = random();
            batch.push(hash, keys).duration = pushed.size() + 7;
            pushed.emplace_back(hash, keys);
        }
        drain();
        CHECK(given == kCalls);
        CHECK((bytes > kAllTogether ? batches == 1 : batches > 1));
    }
}

}  // namespace rdam::test
