// A file for speedscope.app: three profiles of weighted stacks, lost time, time and calls. Its format:
// https://www.speedscope.app/file-format-schema.json
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/export/stacks.h"
#include "tools/base/printable.h"

namespace rdam::exports {
namespace {

using SpeedscopeJson = nlohmann::ordered_json;

std::string json_text(const SpeedscopeJson& json) {
    return json.dump(-1, ' ', false, SpeedscopeJson::error_handler_t::replace);
}

struct WeightedProfile {
    PathWeight weight;
    const char* name;
    const char* unit;
};
constexpr std::array kProfiles = {WeightedProfile{PathWeight::lost, "lost time", "nanoseconds"},
                                  WeightedProfile{PathWeight::time, "time", "nanoseconds"},
                                  WeightedProfile{PathWeight::calls, "calls", "none"}};

/// `file.c:12`.
void add_place(const std::string& source, SpeedscopeJson& frame) {
    if (source.empty()) return;
    const std::size_t colon = source.rfind(':');
    frame["file"] = printable(source.substr(0, colon));
    if (colon == std::string::npos) return;
    const std::string line = source.substr(colon + 1);
    constexpr std::size_t kMaxDigits = 9;
    if (!line.empty() && line.size() <= kMaxDigits &&
        line.find_first_not_of("0123456789") == std::string::npos)
        frame["line"] = std::stoul(line);
}

/// Each function one frame, and those that are no function: a path's is its function's number, or one more
/// than the last.
class Frames {
  public:
    explicit Frames(const trace::TraceInfo& info) : info_(info), numbers_(info.functions.size() + 1, kNone) {}

    std::size_t of(const score::PathNode& node) {
        std::size_t& number = numbers_[std::min<std::size_t>(node.function, info_.functions.size())];
        if (number != kNone) return number;
        number = frames_.size();
        frames_.push_back({{"name", printable(frame_name(info_, node))}});
        if (node.function < info_.functions.size())
            add_place(info_.functions[node.function].source, frames_.back());
        return number;
    }
    std::size_t merged() {
        if (merged_ == kNone) {
            merged_ = frames_.size();
            frames_.push_back({{"name", kMergedName}});
        }
        return merged_;
    }
    const SpeedscopeJson& json() const { return frames_; }

  private:
    static constexpr std::size_t kNone = SIZE_MAX;

    const trace::TraceInfo& info_;
    std::vector<std::size_t> numbers_;
    std::size_t merged_ = kNone;
    SpeedscopeJson frames_ = SpeedscopeJson::array();
};

/// How many of its stacks are paths, and how many stand for several.
Written write_profile(const score::PathTree& tree, const WeightedProfile& profile, Frames& frames,
                      Buffer& out) {
    const std::vector<Stack> stacks = weighted_stacks(tree, profile.weight);
    std::uint64_t end = 0;
    for (const Stack& stack : stacks)
        end += stack.weight;
    out.append("{\"type\":\"sampled\",\"name\":" + json_text(profile.name) +
               ",\"unit\":" + json_text(profile.unit) +
               ",\"startValue\":0,\"endValue\":" + std::to_string(end) + ",\"samples\":[");
    std::vector<std::uint32_t> path;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        frames_of(tree, stacks[i].node, path);
        SpeedscopeJson sample = SpeedscopeJson::array();
        for (const std::uint32_t node : path)
            sample.push_back(frames.of(tree.nodes[node]));
        if (stacks[i].merged) sample.push_back(frames.merged());
        out.append((i > 0 ? "," : "") + json_text(sample));
    }
    out.append("],\"weights\":[");
    Written written;
    for (std::size_t i = 0; i < stacks.size(); ++i) {
        out.append((i > 0 ? "," : "") + std::to_string(stacks[i].weight));
        ++(stacks[i].merged ? written.merged : written.calls);
    }
    out.append("]}");
    return written;
}

}  // namespace

Result<Written> write_speedscope(const score::Report& report, const trace::TraceInfo& info,
                                 const Options& options, Sink& sink) {
    Buffer out{sink};
    Frames frames{info};
    std::string name;
    for (const std::string& word : report.process.command)
        name += (name.empty() ? "" : " ") + word;
    out.append(
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"rdam","name":)" +
        json_text(printable(name)) + ",\"profiles\":[");
    std::size_t active = 0;
    Written written;
    for (std::size_t i = 0; i < kProfiles.size(); ++i) {
        if (i > 0) out.append(",");
        const Written profile = write_profile(report.paths, kProfiles[i], frames, out);
        if (kProfiles[i].weight != options.weight) continue;
        active = i;
        written = profile;
    }
    out.append("],\"activeProfileIndex\":" + std::to_string(active) +
               ",\"shared\":{\"frames\":" + json_text(frames.json()) + "}}\n");
    return out.finish(written);
}

}  // namespace rdam::exports
