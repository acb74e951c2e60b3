#include "microbench/known_loss_truth.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace known_loss {
namespace {

using Json = nlohmann::ordered_json;

struct Loss {
    std::uint64_t calls = 0;
    double by_shape = 0;  ///< outermost calls, each against the least of its shape
    double flat = 0;      ///< outermost calls against the least of all
    double self = 0;      ///< own times of all calls, each against the least of its shape
    double min = 0;       ///< of the outermost calls, as the next two
    double median = 0;
    double max = 0;
};

double lost(const std::vector<double>& values) {
    if (values.empty()) return 0;
    const double least = *std::min_element(values.begin(), values.end());
    double sum = 0;
    for (const double value : values)
        sum += value - least;
    return sum;
}

double lost_by_shape(const std::map<std::uint32_t, std::vector<double>>& shapes) {
    double sum = 0;
    for (const auto& [shape, values] : shapes)
        sum += lost(values);
    return sum;
}

Loss loss_of(const FunctionCalls& function, double ticks_per_ns) {
    std::map<std::uint32_t, std::vector<double>> durations;
    std::map<std::uint32_t, std::vector<double>> selves;
    std::vector<double> all;
    for (const Call& call : function.calls) {
        selves[call.shape].push_back(static_cast<double>(call.self) / ticks_per_ns);
        if (!call.outermost) continue;
        durations[call.shape].push_back(static_cast<double>(call.duration) / ticks_per_ns);
        all.push_back(durations[call.shape].back());
    }
    Loss loss{.calls = function.calls.size(),
              .by_shape = lost_by_shape(durations),
              .flat = lost(all),
              .self = lost_by_shape(selves)};
    if (all.empty()) return loss;
    std::sort(all.begin(), all.end());
    loss.min = all.front();
    loss.median = all[all.size() / 2];
    loss.max = all.back();
    return loss;
}

using LossByCaller = std::map<std::string, std::pair<std::uint64_t, double>>;  // calls, lost

/// Every call against the least of its shape, whoever made that one.
void add_callers(const FunctionCalls& function, double ticks_per_ns, LossByCaller& callers) {
    std::map<std::uint32_t, std::uint64_t> least;
    for (const Call& call : function.calls) {
        if (!call.outermost) continue;
        std::uint64_t& value = least.try_emplace(call.shape, call.duration).first->second;
        value = std::min(value, call.duration);
    }
    for (const Call& call : function.calls) {
        if (call.caller == nullptr) continue;
        auto& [calls, lost] = callers[call.caller];
        ++calls;
        if (call.outermost) lost += static_cast<double>(call.duration - least.at(call.shape)) / ticks_per_ns;
    }
}

struct RollUp {
    std::uint64_t calls = 0;
    double rdam = 0;
    double flat = 0;
    double lost = 0;
    double self = 0;
    LossByCaller callers;
};

Json callers_json(const LossByCaller& callers) {
    Json out = Json::object();
    for (const auto& [name, sums] : callers)
        out[name] = {{"calls", sums.first}, {"lost_ns", sums.second}};
    return out;
}

}  // namespace

Json truth(const std::vector<ThreadRecord>& threads, double ticks_per_ns) {
    double life = 0;
    for (const ThreadRecord& thread : threads)
        life += static_cast<double>(thread.duration) / ticks_per_ns;
    Json rows = Json::array();
    std::map<std::string, RollUp> sums;
    for (const ThreadRecord& thread : threads) {
        const double duration = static_cast<double>(thread.duration) / ticks_per_ns;
        Json functions = Json::object();
        for (const FunctionCalls& function : thread.functions) {
            const Loss loss = loss_of(function, ticks_per_ns);
            const double unsettled = static_cast<double>(function.unsettled) / ticks_per_ns;
            functions[function.name] = {{"calls", loss.calls},
                                        {"rdam", loss.by_shape / duration},
                                        {"rdam_flat", loss.flat / duration},
                                        {"lost_ns", loss.by_shape},
                                        {"unsettled_ns", unsettled},
                                        {"min_ns", loss.min},
                                        {"median_ns", loss.median},
                                        {"max_ns", loss.max}};
            RollUp& sum = sums[function.name];
            sum.calls += loss.calls;
            sum.rdam = std::max(sum.rdam, loss.by_shape / duration);
            sum.flat = std::max(sum.flat, loss.flat / duration);
            sum.lost += loss.by_shape;
            sum.self += loss.self;
            add_callers(function, ticks_per_ns, sum.callers);
        }
        rows.push_back({{"tid", thread.tid},
                        {"duration_ns", duration},
                        {"waited_ns", thread.waited_ns},
                        {"functions", functions}});
    }
    Json functions = Json::object();
    for (const auto& [name, sum] : sums) {
        functions[name] = {{"calls", sum.calls},
                           {"rdam", sum.rdam},
                           {"rdam_flat", sum.flat},
                           {"rdam_all", sum.lost / life},
                           {"rdam_self", sum.self / life},
                           {"lost_ns", sum.lost},
                           {"callers", callers_json(sum.callers)}};
    }
    return {{"threads", rows}, {"functions", functions}};
}

}  // namespace known_loss
