#include "microbench/numa/numa.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Validators.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "microbench/numa/kernels.h"
#include "microbench/numa/machine.h"

namespace rdam::microbench {
namespace {

using Json = nlohmann::ordered_json;

/// What somebody might read: so that no compiler leaves the reading out.
std::atomic<double> sink;

struct Times {
    double mean = 0;
    double least = std::numeric_limits<double>::max();
};

class Suite {
  public:
    explicit Suite(const NumaOptions& options) : options_(options), nodes_(numa_nodes()) {
        for (const NumaNode& node : nodes_)
            processors_.insert(processors_.end(), node.processors.begin(), node.processors.end());
        sizes_ = {options.elements};
        const std::size_t large = options.large != 0 ? options.large : default_large();
        if (large > options.elements) sizes_.push_back(large);
    }

    Result<void> bandwidth();
    Result<void> pairs();
    Result<void> threads();
    Result<void> sharing();
    Result<void> sizes();
    Result<void> latency();
    Result<void> access();

    std::size_t nodes() const { return nodes_.size(); }

  private:
    /// Three such vectors are on one node at a time.
    std::size_t default_large() const {
        const std::size_t wanted = 4 * last_cache_bytes();
        const std::size_t room =
            static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * 4096 / nodes_.size() / 6;
        if (room < wanted)
            fmt::print(stderr,
                       "rdam-microbench: numa: the larger vectors have {} MiB instead of {}, 4 times the "
                       "last cache: there is no more memory\n",
                       room >> 20, wanted >> 20);
        return std::min(room, wanted) / sizeof(double);
    }

    static void print(const Json& line) {
        fmt::print("{}\n", line.dump());
        std::fflush(stdout);
    }

    /// Mean and least of the repetitions; one before them does not count.
    Result<Times> time(const std::vector<int>& processors, const std::function<void(unsigned)>& work) const {
        Times times;
        for (unsigned i = 0; i <= options_.repetitions; ++i) {
            const Result<double> seconds = run_on(processors, work);
            if (!seconds) return tl::unexpected{seconds.error()};
            if (i == 0) continue;
            times.mean += *seconds / options_.repetitions;
            times.least = std::min(times.least, *seconds);
        }
        return times;
    }

    Placing on(const NumaNode& node) const { return {"bind:" + std::to_string(node.number), {}}; }

    /// So often that reading this much takes long enough to be measured.
    static std::size_t passes(std::size_t bytes) {
        return std::max<std::size_t>(1, (std::size_t{64} << 20) / bytes);
    }

    Result<Times> reading(const NumaVector& vector, int processor) const {
        const auto elements = vector.elements();
        const std::size_t often = passes(elements.size_bytes());
        return time({processor}, [&](unsigned) {
            for (std::size_t i = 0; i < often; ++i)
                sink = static_cast<double>(read_all(elements));
        });
    }

    Result<Times> writing(const NumaVector& vector, int processor) const {
        const auto elements = vector.elements();
        const std::size_t often = passes(elements.size_bytes());
        return time({processor}, [&](unsigned) {
            for (std::size_t i = 0; i < often; ++i)
                write_all(elements, static_cast<double>(i));
        });
    }

    /// Of one step along a ring in this vector, in ns; the least of the repetitions.
    Result<double> step_ns(const NumaVector& vector, int processor) const {
        constexpr std::size_t kSteps = 200'000;
        make_ring(vector.elements());
        const Result<Times> times = time(
            {processor}, [&](unsigned) { sink = static_cast<double>(follow(vector.elements(), kSteps)); });
        if (!times) return tl::unexpected{times.error()};
        return times->least / kSteps * 1e9;
    }

    static double megabytes_a_second(std::size_t bytes, double seconds) {
        return static_cast<double>(bytes) / seconds / 1e6;
    }

    /// The first processor of each node, then the second ones; or all of a node, then those of the next.
    std::vector<int> order(bool spread) const {
        if (!spread) return processors_;
        std::vector<int> found;
        for (std::size_t place = 0; found.size() < processors_.size(); ++place)
            for (const NumaNode& node : nodes_)
                if (place < node.processors.size()) found.push_back(node.processors[place]);
        return found;
    }

    static std::vector<int> first(const std::vector<int>& processors, unsigned threads) {
        std::vector<int> found;
        for (unsigned i = 0; i < threads; ++i)
            found.push_back(processors[i % processors.size()]);
        return found;
    }

    /// 1, 2, 4, … to twice as many as there are processors.
    std::vector<unsigned> thread_counts() const {
        std::set<unsigned> counts;
        const auto all = static_cast<unsigned>(processors_.size());
        for (unsigned count = 1; count < 2 * all; count *= 2)
            counts.insert(count);
        counts.insert({all, 2 * all});
        return {counts.begin(), counts.end()};
    }

    Result<void> access(Order order, Action action, bool dynamic, unsigned threads,
                        const std::string& policy) const;

    NumaOptions options_;
    std::vector<NumaNode> nodes_;
    std::vector<int> processors_;
    std::vector<std::size_t> sizes_;  ///< elements
};

Result<void> Suite::bandwidth() {
    const NumaNode& node = nodes_.front();
    const auto measure = [&](const char* where, std::size_t elements) -> Result<void> {
        const Result<NumaVector> vector = NumaVector::make(elements, on(node));
        if (!vector) return tl::unexpected{vector.error()};
        const std::size_t bytes = elements * sizeof(double);
        const Result<Times> reads = reading(*vector, node.processors.front());
        const Result<Times> writes = writing(*vector, node.processors.front());
        if (!reads || !writes) return tl::unexpected{(reads ? writes : reads).error()};
        print({{"measurement", "bandwidth"},
               {"shows", "table 2"},
               {"node", node.number},
               {"where", where},
               {"bytes", bytes},
               {"read_mb_per_s", megabytes_a_second(bytes * passes(bytes), reads->least)},
               {"write_mb_per_s", megabytes_a_second(bytes * passes(bytes), writes->least)}});
        return {};
    };
    for (const int level : {1, 2})
        if (const std::size_t bytes = cache_bytes(level); bytes != 0)
            if (auto done = measure(level == 1 ? "cache 1" : "cache 2", bytes / 2 / sizeof(double)); !done)
                return done;
    for (const std::size_t elements : sizes_)
        if (auto done = measure("memory", elements); !done) return done;
    return {};
}

Result<void> Suite::pairs() {
    for (const std::size_t elements : sizes_)
        for (const NumaNode& node : nodes_) {
            const int processor = node.processors.front();
            // By node of memory: triad, reading, step.
            std::vector<std::array<double, 3>> all;
            for (const NumaNode& memory : nodes_) {
                std::vector<NumaVector> vectors;
                for (int i = 0; i < 3; ++i) {
                    Result<NumaVector> vector = NumaVector::make(elements, on(memory));
                    if (!vector) return tl::unexpected{vector.error()};
                    vectors.push_back(std::move(*vector));
                }
                const Result<Times> triads = time({processor}, [&](unsigned) {
                    triad(vectors[0].elements(), vectors[1].elements(), vectors[2].elements(), 3);
                });
                const Result<Times> reads = reading(vectors[1], processor);
                const Result<double> step = step_ns(vectors[2], processor);
                if (!triads || !reads) return tl::unexpected{(triads ? reads : triads).error()};
                if (!step) return tl::unexpected{step.error()};
                all.push_back({triads->least, reads->least, *step});
            }
            const auto own = static_cast<std::size_t>(&node - nodes_.data());
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                print({{"measurement", "pairs"},
                       {"shows", "tables 3, 4"},
                       {"processor_of", node.number},
                       {"memory_of", nodes_[i].number},
                       {"distance", node.distances[i]},
                       {"elements", elements},
                       {"triad_s", all[i][0]},
                       {"triad_factor", all[i][0] / all[own][0]},
                       {"read_mb_per_s",
                        megabytes_a_second(elements * sizeof(double) * passes(elements * sizeof(double)),
                                           all[i][1])},
                       {"bandwidth_factor", all[i][1] / all[own][1]},
                       {"latency_ns", all[i][2]},
                       {"latency_factor", all[i][2] / all[own][2]}});
        }
    return {};
}

Result<void> Suite::threads() {
    for (const std::size_t elements : sizes_)
        for (const bool spread : {true, false}) {
            if (spread && nodes_.size() == 1) continue;
            for (const unsigned count : thread_counts()) {
                const std::vector<int> processors = first(order(spread), count);
                for (const bool one_node : {true, false}) {
                    if (!one_node && nodes_.size() == 1) continue;
                    const Placing placing = one_node ? on(nodes_.front()) : Placing{"bind_block", processors};
                    std::vector<NumaVector> vectors;
                    for (int i = 0; i < 3; ++i) {
                        Result<NumaVector> vector = NumaVector::make(elements, placing);
                        if (!vector) return tl::unexpected{vector.error()};
                        vectors.push_back(std::move(*vector));
                    }
                    const Result<Times> times = time(processors, [&](unsigned thread) {
                        const std::size_t begin = elements * thread / count;
                        const std::size_t part = elements * (thread + 1) / count - begin;
                        triad(vectors[0].elements().subspan(begin, part),
                              vectors[1].elements().subspan(begin, part),
                              vectors[2].elements().subspan(begin, part), 3);
                    });
                    if (!times) return tl::unexpected{times.error()};
                    print({{"measurement", "threads"},
                           {"shows", "figures 9-11"},
                           {"threads", count},
                           {"processors", spread ? "one of each node first" : "all of a node first"},
                           {"data", one_node ? "one node" : "distributed"},
                           {"elements", elements},
                           {"mean_s", times->mean},
                           {"least_s", times->least},
                           {"mb_per_s", megabytes_a_second(3 * sizeof(double) * elements, times->least)}});
                }
            }
        }
    return {};
}

Result<void> Suite::sharing() {
    for (const unsigned each : {1U, 2U}) {
        const auto count = static_cast<unsigned>(processors_.size()) * each;
        const std::vector<int> processors = first(order(true), count);
        for (const std::size_t elements : sizes_)
            for (const Action action : {Action::read, Action::write, Action::both}) {
                const Result<NumaVector> one = NumaVector::make(elements, {"bind_block", processors});
                const Result<NumaVector> other = NumaVector::make(elements, {"bind_block", processors});
                if (!one || !other) return tl::unexpected{(one ? other : one).error()};
                const Result<Times> times = time(processors, [&](unsigned thread) {
                    // The neighbour's block, so another's memory.
                    const unsigned owner = (thread + 1) % count;
                    const std::size_t begin = elements * owner / count / 8 * 8;
                    const std::size_t part = elements * (owner + 1) / count / 8 * 8 - begin;
                    const auto to = one->elements().subspan(begin, part);
                    const auto from = other->elements().subspan(begin, part);
                    if (action == Action::read)
                        sink = static_cast<double>(read_all(to));
                    else if (action == Action::write)
                        write_all(to, 1);
                    else
                        std::ranges::copy(from, to.begin());
                });
                if (!times) return tl::unexpected{times.error()};
                static constexpr std::array kNames{"readers", "writers", "readers and writers"};
                print({{"measurement", "sharing"},
                       {"shows", "figure 12"},
                       {"threads", count},
                       {"threads_a_processor", each},
                       {"who", kNames[static_cast<int>(action)]},
                       {"elements", elements},
                       {"mb_per_s",
                        megabytes_a_second((action == Action::both ? 2 : 1) * elements * sizeof(double),
                                           times->least)}});
            }
    }
    return {};
}

Result<void> Suite::sizes() {
    const NumaNode& node = nodes_.front();
    for (std::size_t elements = 2048; elements <= sizes_.back(); elements *= 4)
        for (const NumaNode& memory : nodes_) {
            const Result<NumaVector> vector = NumaVector::make(elements, on(memory));
            if (!vector) return tl::unexpected{vector.error()};
            const std::size_t bytes = elements * sizeof(double);
            const Result<Times> reads = reading(*vector, node.processors.front());
            const Result<Times> writes = writing(*vector, node.processors.front());
            if (!reads || !writes) return tl::unexpected{(reads ? writes : reads).error()};
            print({{"measurement", "sizes"},
                   {"shows", "figure 13"},
                   {"processor_of", node.number},
                   {"memory_of", memory.number},
                   {"bytes", bytes},
                   {"read_mb_per_s", megabytes_a_second(bytes * passes(bytes), reads->least)},
                   {"write_mb_per_s", megabytes_a_second(bytes * passes(bytes), writes->least)}});
        }
    return {};
}

Result<void> Suite::latency() {
    const NumaNode& node = nodes_.front();
    for (std::size_t elements = 512; elements <= sizes_.back(); elements *= 2)
        for (const NumaNode& memory : nodes_) {
            const Result<NumaVector> vector = NumaVector::make(elements, on(memory));
            if (!vector) return tl::unexpected{vector.error()};
            const Result<double> step = step_ns(*vector, node.processors.front());
            if (!step) return tl::unexpected{step.error()};
            print({{"measurement", "latency"},
                   {"shows", "figure 14"},
                   {"processor_of", node.number},
                   {"memory_of", memory.number},
                   {"bytes", elements * sizeof(double)},
                   {"latency_ns", *step}});
        }
    return {};
}

Result<void> Suite::access(Order order_of_elements, Action action, bool dynamic, unsigned threads,
                           const std::string& policy) const {
    const std::size_t elements = options_.elements;
    const std::vector<int> processors = first(order(true), threads);
    const Result<NumaVector> one = NumaVector::make(elements, {policy, processors});
    const Result<NumaVector> other = NumaVector::make(elements, {policy, processors});
    if (!one || !other) return tl::unexpected{(one ? other : one).error()};
    if (policy == "first-touch") {  // as the report's program, whose main thread initialises
        std::ranges::fill(one->elements(), 0.0);
        std::ranges::fill(other->elements(), 0.0);
    }
    const Accesses accesses(elements, order_of_elements);
    std::atomic<std::size_t> next = 0;
    std::atomic<unsigned> ended = 0;
    const Result<Times> times = time(processors, [&](unsigned thread) {
        double sum = 0;
        if (!dynamic) {
            sum = accesses.run(action, one->elements(), other->elements(), elements * thread / threads,
                               elements * (thread + 1) / threads);
        } else {
            for (std::size_t at = next.fetch_add(options_.chunk); at < elements;
                 at = next.fetch_add(options_.chunk))
                sum += accesses.run(action, one->elements(), other->elements(), at,
                                    std::min(at + options_.chunk, elements));
            if (++ended % threads == 0)
                next = 0;  // for the next repetition, which begins when all have ended
        }
        sink = sum;
    });
    if (!times) return tl::unexpected{times.error()};
    static constexpr std::array kActions{"read", "write", "read and write"};
    static constexpr std::array kOrders{"regular", "irregular", "random"};
    print({{"measurement", "access"},
           {"shows", fmt::format("figure {}", 16 + static_cast<int>(action))},
           {"vectors", kActions[static_cast<int>(action)]},
           {"order", kOrders[static_cast<int>(order_of_elements)]},
           {"schedule", dynamic ? "dynamic" : "static"},
           {"policy", policy},
           {"threads", threads},
           {"elements", elements},
           {"mean_s", times->mean},
           {"least_s", times->least}});
    return {};
}

Result<void> Suite::access() {
    const auto all = static_cast<unsigned>(processors_.size());
    std::set<unsigned> counts{2, 8, all};
    std::erase_if(counts, [&](unsigned count) { return count > 4 * all; });
    std::vector<std::string> policies{"first-touch", "bind_block", "cyclic",
                                      "skew_mapp",   "prime_mapp", "random"};
    if (nodes_.size() == 1) policies.resize(1);  // all are the same
    for (const Action action : {Action::read, Action::write, Action::both})
        for (const bool dynamic : {false, true})
            for (const Order order_of_elements : {Order::regular, Order::irregular, Order::random})
                for (const unsigned count : counts)
                    for (const std::string& policy : policies)
                        if (auto done = access(order_of_elements, action, dynamic, count, policy); !done)
                            return done;
    return {};
}

/// By name, in the order in which they are made.
struct Measurement {
    const char* name;
    Result<void> (Suite::*make)();
};

constexpr std::array kMeasurements{
    Measurement{"bandwidth", &Suite::bandwidth}, Measurement{"pairs", &Suite::pairs},
    Measurement{"threads", &Suite::threads},     Measurement{"sharing", &Suite::sharing},
    Measurement{"sizes", &Suite::sizes},         Measurement{"latency", &Suite::latency},
    Measurement{"access", &Suite::access},
};

}  // namespace

CLI::App& add_numa(CLI::App& root, NumaOptions& options) {
    CLI::App& app = *root.add_subcommand(
        "numa", "Measure what distance between threads and memory costs: a suite of tables");
    std::vector<std::string> names;
    names.reserve(kMeasurements.size());
    for (const Measurement& each : kMeasurements)
        names.emplace_back(each.name);
    app.add_option("--only", options.only,
                   fmt::format("Make only these measurements: {}", fmt::join(names, ", ")))
        ->check(CLI::IsMember(names))
        ->delimiter(',')
        ->type_name("NAME,...");
    app.add_option("--elements", options.elements, "Doubles of a vector")
        ->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 40))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--large", options.large, "Doubles of the larger vector [4 times the last cache]")
        ->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 40))
        ->type_name("N");
    app.add_option("--repetitions", options.repetitions,
                   "Repetitions of each measurement; bandwidths, latencies and factors are of the fastest")
        ->check(CLI::Range(1, 10'000))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--chunk", options.chunk, "Elements that a thread of a dynamic schedule takes at a time")
        ->check(CLI::Range(1, 1 << 30))
        ->type_name("N")
        ->capture_default_str();
    return app;
}

Result<void> run_numa(const NumaOptions& options) {
    const std::size_t memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * 4096;
    if (const std::size_t most = std::max(options.elements, options.large);
        most > memory / 3 / sizeof(double))
        return fail(
            "three vectors of {} elements do not fit into this machine's {} MiB; give fewer by --elements "
            "and --large",
            most, memory >> 20);
    Suite suite(options);
    if (suite.nodes() == 1)
        fmt::print(stderr,
                   "rdam-microbench: numa: this machine has one node of memory: nothing is remote and all "
                   "page policies are the "
                   "same; what is local follows\n");
    for (const Measurement& each : kMeasurements) {
        if (!options.only.empty() && std::ranges::find(options.only, each.name) == options.only.end())
            continue;
        if (auto done = (suite.*each.make)(); !done) return done;
    }
    return {};
}

}  // namespace rdam::microbench
