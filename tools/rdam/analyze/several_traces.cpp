#include "tools/rdam/analyze/several_traces.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "analyzer/report/selection.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/command/terminal.h"

namespace rdam {
namespace {

double duration_ns(const trace::TraceReader& reader) {
    const auto present = score::presence(reader, {});
    return present && *present ? (*present)->end_ns - (*present)->begin_ns : 0;
}

}  // namespace

SeveralTraces::SeveralTraces(const std::vector<std::string>& files, const score::Settings& settings)
    : settings_(settings) {
    std::map<std::string, std::string> recordings;  // and their files
    for (const std::string& file : files)
        if (look_at(file, recordings)) files_.push_back(file);
}

bool SeveralTraces::look_at(const std::string& file, std::map<std::string, std::string>& recordings) {
    const auto reader = open_trace(file);
    if (!reader) {
        give_up(file, reader.error());
        return false;
    }
    const std::string recording = recording_of(reader->info());
    if (!recording.empty()) {
        const auto [first, is_first] = recordings.emplace(recording, file);
        if (!is_first) {
            say(fmt::format("{}: is the same recording as {}; counted once", file, first->second));
            return false;
        }
    }
    settings_.look_at(reader->info());
    const std::string& run = reader->info().process.run;
    const std::uint64_t start = score::start_unix_ns(reader->info());
    const auto [place, is_new] = run_starts_.emplace(run, start);
    if (!is_new) place->second = std::min(place->second, start);
    const double length = duration_ns(*reader);
    longest_ns_ = std::max(longest_ns_, length);
    if (reader->info().clock.start_unix_ns != 0) {
        const auto begin = static_cast<double>(start);
        if (span_.begin_unix_ns == 0 || begin < span_.begin_unix_ns) span_.begin_unix_ns = begin;
        span_.end_unix_ns = std::max(span_.end_unix_ns, begin + length);
    }
    span_.end_unix_ns = std::max(span_.end_unix_ns, span_.begin_unix_ns + longest_ns_);
    return true;
}

double SeveralTraces::start_unix_ns(const trace::TraceInfo& info) const {
    return info.clock.start_unix_ns != 0 ? static_cast<double>(score::start_unix_ns(info))
                                         : span_.begin_unix_ns;
}

score::Settings SeveralTraces::settings_for(const trace::TraceInfo& info) const {
    score::Settings settings = settings_.for_trace(info);
    const auto start = run_starts_.find(info.process.run);
    if (!info.process.run.empty() && start != run_starts_.end())
        settings.selection.run_start_unix_ns = start->second;
    return settings;
}

void SeveralTraces::give_up(const std::string& file, const Error& error) {
    say(error.message);
    unreadable_.push_back({file, error.message});
}

Result<ComparedTraces> ComparedTraces::look_at(const std::vector<std::string>& traces,
                                               const score::Settings& settings,
                                               const std::optional<RulesInForce>& rules) {
    score::Settings asked = settings;
    asked.patterns = false;  // they have no names by which those of one trace could be found in the other
    score::SharedSettings shared{std::move(asked)};
    std::vector<std::string> without_step;
    std::optional<trace::TraceInfo> older;
    for (const std::string& file : traces) {
        const auto reader = open_trace(file);
        if (!reader) return tl::unexpected{reader.error()};
        if (older && traces.size() == 2) say_if_same(file, reader->info(), *older);
        older = reader->info();
        shared.look_at(reader->info());
        if (reader->info().clock.step_ticks == 0) without_step.push_back(file);
    }
    if (auto found = shared.all_found(); !found) return tl::unexpected{found.error()};
    say_unused_rules(rules, shared);
    // Short functions would differ by what only some of them can leave out.
    const bool plainly = !without_step.empty() && without_step.size() < traces.size() &&
                         settings.baseline == score::Baseline{};
    if (plainly)
        say(without_step.front() +
            ": does not give the resolution of its clock; all traces are compared with --baseline minimum");
    return ComparedTraces{std::move(shared), plainly};
}

score::Settings ComparedTraces::settings_for(const trace::TraceInfo& info) const {
    score::Settings own = shared_.for_trace(info);
    if (plainly_) own.baseline.kind = score::Baseline::Kind::minimum;
    return own;
}

std::string recording_of(const trace::TraceInfo& info) {
    if (info.clock.start_unix_ns == 0) return {};
    return fmt::format("{} {} {} {} {}", info.process.pid, info.clock.start_tsc, info.clock.start_unix_ns,
                       info.process.run, info.process.host);
}

void say_if_same(const std::string& file, const trace::TraceInfo& info, const trace::TraceInfo& other) {
    const std::string recording = recording_of(info);
    if (!recording.empty() && recording == recording_of(other)) say(file + ": is compared with itself");
}

std::vector<std::string> each_once(const std::vector<std::string>& files) {
    std::map<std::pair<dev_t, ino_t>, std::string> seen;
    std::vector<std::string> once;
    for (const std::string& file : files) {
        struct stat status = {};
        // Whoever opens it says why.
        const bool is_there = ::stat(file.c_str(), &status) == 0;
        const auto [first, is_first] = seen.emplace(std::pair{status.st_dev, status.st_ino}, file);
        if (!is_there || is_first)
            once.push_back(file);
        else
            say(first->second == file
                    ? file + ": is given more than once; counted once"
                    : fmt::format("{}: is the same file as {}; counted once", file, first->second));
    }
    return once;
}

}  // namespace rdam
