#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "analyzer/causes/readers.h"
#include "tools/base/text_lines.h"

namespace rdam::causes {
namespace {

/// More than any simulation of valgrind counts.
constexpr std::size_t kMaxEvents = 64;
/// The largest programs have some hundred thousand; costs of a million take a gigabyte at worst.
constexpr std::size_t kMaxFunctions = 1'000'000;

/// Instructions, accesses and branches as such are work; misses and mispredictions are what slows it down.
bool event_counts_work(std::string_view event) {
    constexpr std::array<std::string_view, 7> kWork = {"Ir", "Dr",       "Dw",        "Bc",
                                                       "Bi", "sysCount", "sysCpuTime"};
    return std::ranges::find(kWork, event) != kWork.end();
}

/// `(12) name` defines a name, `(12)` refers to it.
class NameTable {
  public:
    /// nullopt: a number that was never defined.
    std::optional<std::string_view> name_of(std::string_view text) {
        const auto close = text.starts_with('(') ? text.find(')') : std::string_view::npos;
        const auto id = close == std::string_view::npos ? std::nullopt
                                                        : number_in<std::uint64_t>(text.substr(1, close - 1));
        if (!id) return text;
        auto name = text.substr(close + 1);
        name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
        if (!name.empty()) return names_[*id] = name;
        const auto known = names_.find(*id);
        return known == names_.end() ? std::nullopt : std::optional{known->second};
    }

  private:
    std::unordered_map<std::uint64_t, std::string_view> names_;
};

struct Function {
    std::string_view object;
    std::string_view name;
    auto operator<=>(const Function&) const = default;
};

struct Hash {
    std::size_t operator()(const Function& f) const {
        return std::hash<std::string_view>{}(f.object) * 31 + std::hash<std::string_view>{}(f.name);
    }
};

struct Costs {
    std::vector<double> own;
    std::vector<double> of_calls;
};

class Reader {
  public:
    explicit Reader(std::string_view origin) : origin_(origin) {}

    CauseReports read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        while (lines.next(line)) {
            const auto error =
                line.empty() || line.starts_with('#') ? std::optional<const char*>{} : take(line);
            if (error) return fail("{}:{}: {}", origin_, lines.number(), *error);
        }
        if (events_.empty())
            return fail("{}: has no events: line; is it whole? Let valgrind --tool=callgrind write it again",
                        origin_);
        return reports();
    }

  private:
    static constexpr const char* kUndefined =
        "uses a number for a name that is defined nowhere before; is the beginning of the file missing? Let "
        "valgrind "
        "--tool=callgrind write it again";
    static constexpr const char* kNoCosts =
        "is not a line of callgrind's format (positions, then costs); let valgrind --tool=callgrind write it "
        "again";

    using Trouble = std::optional<const char*>;

    Trouble take(std::string_view line) {
        const auto first = line.front();
        if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*')
            return take_costs(line);
        const auto equals = line.find('=');
        const auto colon = line.find(':');
        if (colon < equals) return take_header(line.substr(0, colon), line.substr(colon + 1));
        if (equals == std::string_view::npos) return kNoCosts;
        return take_name(line.substr(0, equals), line.substr(equals + 1));
    }

    Trouble take_header(std::string_view key, std::string_view value) {
        if (key == "positions") {
            positions_ = words_of(value).size();
        } else if (key == "events") {
            const auto events = words_of(value, kMaxEvents + 1);
            if (events.empty() || events.size() > kMaxEvents)
                return "names no events, or far too many; is it a callgrind file?";
            // A file of several parts (--dump-every-bb) has this line in each.
            if (!events_.empty() && !std::ranges::equal(events_, events))
                return "has other events than the previous part; give --causes one part per run";
            events_.assign(events.begin(), events.end());
        }
        return std::nullopt;
    }

    Trouble take_name(std::string_view key, std::string_view value) {
        if (key == "calls") {
            call_follows_ = true;
            return std::nullopt;
        }
        if (key == "jump" || key == "jcnd") return std::nullopt;
        const bool object = key == "ob" || key == "cob";
        const bool function = key == "fn" || key == "cfn";
        if (!object && !function) return std::nullopt;  // files do not tell functions apart
        const auto name = (object ? objects_ : functions_).name_of(value);
        if (!name) return kUndefined;
        if (key == "ob") {
            current_.object = *name;
            called_.object = *name;
        } else if (key == "cob") {
            called_.object = *name;
        } else if (key == "fn") {
            current_.name = *name;
            called_.object = current_.object;
        } else {
            called_.name = *name;
        }
        return std::nullopt;
    }

    Trouble take_costs(std::string_view line) {
        const auto words = words_of(line, positions_ + events_.size() + 1);
        if (events_.empty() || words.size() < positions_ || words.size() > positions_ + events_.size())
            return kNoCosts;
        if (costs_.size() >= kMaxFunctions && !costs_.contains(current_))
            return "has more than a million functions; is it a callgrind file?";
        Costs& costs = costs_.try_emplace(current_).first->second;
        std::vector<double>& sums = call_follows_ ? costs.of_calls : costs.own;
        if (sums.empty()) sums.resize(events_.size());
        // What a recursive call costs is its function's own already.
        const bool recursive = call_follows_ && called_ == current_;
        for (std::size_t i = positions_; i < words.size(); ++i) {
            const auto cost = number_in<std::uint64_t>(words[i]);
            if (!cost) return kNoCosts;
            if (!recursive) sums[i - positions_] += static_cast<double>(*cost);
        }
        if (call_follows_) called_.object = current_.object;
        call_follows_ = false;
        return std::nullopt;
    }

    std::vector<CauseReport> reports() const {
        std::vector<CauseReport> reports;
        for (std::size_t event = 0; event < events_.size(); ++event) {
            CauseReport report{.tool = "callgrind",
                               .label = std::string{events_[event]},
                               .unit = "events",
                               .file = {},
                               .rows = {}};
            report.disturbs = !event_counts_work(report.label);
            for (const auto& [function, costs] : costs_)
                if (!costs.own.empty()) report.total += costs.own[event];
            fill(report, event);
            reports.push_back(std::move(report));
        }
        return reports;
    }

    void fill(CauseReport& report, std::size_t event) const {
        if (!(report.total > 0)) return;
        for (const auto& [function, costs] : costs_) {
            const double own = costs.own.empty() ? 0 : costs.own[event];
            const double all = own + (costs.of_calls.empty() ? 0 : costs.of_calls[event]);
            if (!(all > 0) || function.name.empty()) continue;
            report.rows.push_back({.function = std::string{function.name},
                                   .module = std::string{function.object},
                                   .file = {},
                                   .share = std::min(1.0, own / report.total),
                                   .with_callees = std::min(1.0, all / report.total),
                                   .absolute = own});
        }
        std::ranges::sort(report.rows, [](const CauseRow& a, const CauseRow& b) {
            return std::tie(b.share, b.with_callees, a.function, a.module) <
                   std::tie(a.share, a.with_callees, b.function, b.module);
        });
    }

    std::string_view origin_;
    std::size_t positions_ = 1;
    std::vector<std::string_view> events_;
    NameTable objects_;
    NameTable functions_;
    Function current_;
    Function called_;
    bool call_follows_ = false;
    std::unordered_map<Function, Costs, Hash> costs_;
};

}  // namespace

bool is_callgrind(std::string_view text) {
    constexpr std::size_t kHeader = 4096;
    const auto head = text.substr(0, kHeader);
    return head.starts_with("# callgrind format") ||
           head.find("\ncreator: callgrind") != std::string_view::npos;
}

CauseReports parse_callgrind(std::string_view text, std::string_view origin) {
    return Reader{origin}.read(text);
}

}  // namespace rdam::causes
