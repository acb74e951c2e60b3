#include "tools/rdam/analyze/several_traces.h"

#include <algorithm>

#include "analyzer/report/selection.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/analyze/two_traces.h"
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

}  // namespace rdam
