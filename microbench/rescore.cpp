// How long the interactive screen's changes take (tools/rdam/screen): each is made, timed, taken back.
//   rescore TRACE
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <string>

#include "analyzer/sequences/keys.h"
#include "tools/rdam/screen/session.h"

namespace {

using namespace rdam;

double timed_ms(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

std::string result_text(const Result<screen::Effect>& effect) {
    if (!effect) return effect.error().message;
    return *effect == screen::Effect::reread     ? "read the trace again"
           : *effect == screen::Effect::rescored ? "from memory"
                                                 : "no change";
}

void measure(screen::Session& session, const std::string& what,
             const std::function<Result<screen::Effect>()>& change) {
    Result<screen::Effect> effect = screen::Effect::nothing;
    const double there = timed_ms([&] { effect = change(); });
    double back = 0;
    if (effect && *effect != screen::Effect::nothing) back = timed_ms([&] { effect = session.undo(); });
    fmt::print("{:28}{:10.1f}{:10.1f}  {}\n", what, there, back, result_text(effect));
}

void measure_all(screen::Session& session) {
    fmt::print("{:28}{:>10}{:>10}\n", "", "ms", "undo, ms");
    measure(session, "fold loops", [&] { return session.set_fold_loops(true); });
    measure(session, "baseline process",
            [&] { return session.set_baseline({.kind = score::Baseline::Kind::process}); });
    measure(session, "baseline p5", [&] {
        return session.set_baseline({.kind = score::Baseline::Kind::percentile, .fraction = 0.05});
    });
    for (std::uint32_t f = 0; f < session.info().functions.size(); ++f) {
        const trace::FunctionInfo& function = session.info().functions[f];
        for (std::size_t p = 0; p < function.parameters.size(); ++p)
            measure(session, fmt::format("key {}:{}, or not", function.name, function.parameters[p].name),
                    [&] {
                        return session.set_key(f, static_cast<std::uint16_t>(p), !function.parameters[p].key);
                    });
        measure(session, "split by context " + function.name,
                [&] { return session.set_key(f, sequences::kCallerKey, true); });
        measure(session, "ignore " + function.name, [&] { return session.set_ignored(f, true); });
        Result<screen::FunctionPage> page = screen::FunctionPage{};
        const double ms = timed_ms([&] { page = session.page(f, 60); });
        fmt::print("{:28}{:10.1f}\n", "page of " + function.name, ms);
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 2 || words[1][0] == '-') {
        fmt::print(stderr, "usage: rescore TRACE\n");
        return 2;
    }
    const auto reader = trace::TraceReader::open(words[1]);
    if (!reader) {
        fmt::print(stderr, "rescore: {}\n", reader.error().message);
        return 1;
    }
    Result<std::unique_ptr<screen::Session>> session = nullptr;
    const double ms = timed_ms([&] { session = screen::Session::open(*reader, {}, nullptr); });
    if (!session) {
        fmt::print(stderr, "rescore: {}\n", session.error().message);
        return 1;
    }
    fmt::print("{} events, read in {:.2f} s\n", reader->events(), ms / 1000);
    measure_all(**session);
    return 0;
}
