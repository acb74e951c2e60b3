// Times calls of an empty function, batch by batch, and right before each batch two `rdtscp`, a fence behind
// the first of them as in the recorder: the floor of what a pair of time-stamps can cost, measured under the
// same conditions (frequency, the other processor's load); and the same without the fence. Writes JSON:
// nanoseconds a call. microbench/probe-cost runs it under each recorder. With a BATCH of 1 each call is timed
// by itself (probe_cost_each.h).
//
//     probe_cost FUNCTION CALLS BATCH THREADS OUTPUT
//
// FUNCTION is `none`, `ints`, `undescribed` or `shared`: see probe_cost_functions.h.
#include <algorithm>
#include <barrier>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "microbench/probe_cost_each.h"
#include "microbench/probe_cost_functions.h"

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Plan {
    std::string_view function;
    std::uint64_t calls = 0;
    std::uint64_t batch = 0;
    std::uint64_t threads = 0;
    const char* output = nullptr;
};

/// Nanoseconds a call, a number for each batch.
struct Costs {
    std::vector<double> calls;
    std::vector<double> floor;
    std::vector<double> unfenced_floor;
};

void two_clock_reads() {
    asm volatile(
        "rdtscp\n\t"
        "lfence\n\t"
        "rdtscp"
        :
        :
        : "rax", "rcx", "rdx");
}

void two_unfenced_reads() {
    asm volatile(
        "rdtscp\n\t"
        "rdtscp"
        :
        :
        : "rax", "rcx", "rdx");
}

template <typename Call>
double nanoseconds_a_call(std::uint64_t count, Call call) {
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; ++i) {
        call();
        asm volatile("");
    }
    const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;
    return spent.count() / static_cast<double>(count);
}

template <typename Call>
Costs measure(const Plan& plan, Call call) {
    const std::uint64_t batches = std::max<std::uint64_t>(1, plan.calls / plan.batch);
    Costs costs;
    costs.calls.reserve(batches);
    costs.floor.reserve(batches);
    costs.unfenced_floor.reserve(batches);
    // A recorder's first event of a thread sets things up; that is not the cost of a call.
    nanoseconds_a_call(plan.batch, call);
    for (std::uint64_t i = 0; i < batches; ++i) {
        costs.unfenced_floor.push_back(nanoseconds_a_call(plan.batch, two_unfenced_reads));
        costs.floor.push_back(nanoseconds_a_call(plan.batch, two_clock_reads));
        costs.calls.push_back(nanoseconds_a_call(plan.batch, call));
    }
    return costs;
}

/// Direct calls: a pointer would add its own cost.
std::optional<Costs> measure_named(const Plan& plan) {
    if (plan.function == "none") return measure(plan, [] { empty_call(); });
    if (plan.function == "ints") return measure(plan, [] { empty_call_ints(1, 2, 3); });
    if (plan.function == "undescribed") return measure(plan, [] { empty_call_undescribed(); });
    if (plan.function == "shared") return measure(plan, [] { empty_call_shared(); });
    return std::nullopt;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value;
    return sum / static_cast<double>(values.size());
}

double percentile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

Json summary(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return {{"min", values.front()},
            {"p50", percentile(values, 0.5)},
            {"p99", percentile(values, 0.99)},
            {"max", values.back()},
            {"mean", mean(values)}};
}

Json summary(const Costs& costs) {
    const auto ratios = [&](const std::vector<double>& floor) {
        std::vector<double> values;
        for (std::size_t i = 0; i < costs.calls.size(); ++i)
            values.push_back(costs.calls[i] / floor[i]);
        return summary(values);
    };
    return {{"call_ns", summary(costs.calls)},
            {"floor_ns", summary(costs.floor)},
            {"ratio", ratios(costs.floor)},
            {"unfenced_floor_ns", summary(costs.unfenced_floor)},
            {"unfenced_ratio", ratios(costs.unfenced_floor)}};
}

/// What one thread has measured; null: there is no such function.
Json measure_thread(const Plan& plan) {
    if (plan.batch == 1) return measure_each(plan.function, plan.calls);
    const std::optional<Costs> costs = measure_named(plan);
    return costs ? summary(*costs) : Json{};
}

std::vector<Json> run_threads(const Plan& plan) {
    std::vector<Json> results(plan.threads);
    std::barrier together(static_cast<std::ptrdiff_t>(plan.threads));
    std::vector<std::jthread> others;
    const auto work = [&](std::size_t at) {
        together.arrive_and_wait();
        results[at] = measure_thread(plan);
    };
    for (std::size_t i = 1; i < plan.threads; ++i)
        others.emplace_back(work, i);
    work(0);
    others.clear();
    return results;
}

int run(const Plan& plan) {
    Json threads = Json::array();
    for (Json& measured : run_threads(plan)) {
        if (measured.is_null()) {
            std::fprintf(stderr, "probe_cost: no function '%.*s'\n", static_cast<int>(plan.function.size()),
                         plan.function.data());
            return 2;
        }
        threads.push_back(std::move(measured));
    }
    std::ofstream out(plan.output);
    out << Json{{"function", plan.function}, {"calls", plan.calls}, {"threads", threads}}.dump(2) << '\n';
    out.close();
    if (!out) {
        std::fprintf(stderr, "probe_cost: %s cannot be written: %s\n", plan.output, std::strerror(errno));
        return 1;
    }
    return 0;
}

bool parse(std::string_view text, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value > 0;
}

}  // namespace

int main(int argc, char** argv) {
    Plan plan;
    if (argc != 6 || !parse(argv[2], plan.calls) || !parse(argv[3], plan.batch) ||
        !parse(argv[4], plan.threads)) {
        std::fputs("usage: probe_cost none|ints|undescribed|shared CALLS BATCH THREADS OUTPUT\n", stderr);
        return 2;
    }
    plan.function = argv[1];
    plan.output = argv[5];
    try {
        return run(plan);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "probe_cost: %s\n", error.what());
        return 1;
    }
}
