#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/causes/readers.h"
#include "tools/base/text_lines.h"

namespace rdam::causes {
namespace {

struct Experiment {
    std::string_view selected;
    double speedup = 0;
    double duration = 0;
};

/// What was seen of a progress point while one line was sped up by one amount.
struct Progress {
    double duration = 0;
    double visits = 0;
};

using SpeedUps = std::map<double, Progress>;
using Points = std::map<std::string_view, SpeedUps>;

/// The value of `name=` among fields separated by tabs.
std::string_view field(std::string_view line, std::string_view name) {
    while (!line.empty()) {
        const auto end = std::min(line.find('\t'), line.size());
        const auto part = line.substr(0, end);
        if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
            return part.substr(name.size() + 1);
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return {};
}

/// Through fewer points no line is worth drawing; Coz tries 21 amounts. Its viewer leaves out lines with
/// fewer, by default less than ten.
constexpr std::size_t kMinSpeedUps = 5;

/// How much faster the progress point was reached per speed-up of the line; 0 where nothing can be said.
double slope_of(const SpeedUps& speedups) {
    const auto base = speedups.find(0);
    if (speedups.size() < kMinSpeedUps || base == speedups.end() || !(base->second.visits > 0) ||
        !(base->second.duration > 0))
        return 0;
    const double base_period = base->second.duration / base->second.visits;
    double products = 0;
    double squares = 0;
    for (const auto& [speedup, progress] : speedups) {
        if (!(speedup > 0) || !(progress.visits > 0)) continue;
        // Half as fast is as bad as it gets: beyond that a point was hardly ever seen.
        const double gained = std::max(-1.0, 1 - progress.duration / progress.visits / base_period);
        // What was seen more often is known better.
        products += progress.visits * speedup * gained;
        squares += progress.visits * speedup * speedup;
    }
    const double slope = squares > 0 ? products / squares : 0;
    return std::isfinite(slope) ? slope : 0;
}

CauseRow row_of(std::string_view selected, const Points& points) {
    CauseRow row;
    const auto place = place_in(selected);
    row.file = place ? place->file : selected;
    row.line = place ? place->line : 0;
    for (const auto& [point, speedups] : points) {
        const double slope = slope_of(speedups);
        if (std::abs(slope) > std::abs(row.absolute)) row.absolute = slope;
    }
    row.share = std::min(1.0, std::abs(row.absolute));
    row.with_callees = row.share;
    return row;
}

bool is_progress(std::string_view line) {
    return line.starts_with("throughput-point\t") || line.starts_with("progress-point\t") ||
           line.starts_with("latency-point\t");
}

class CozReader {
  public:
    explicit CozReader(std::string_view origin) : origin_(origin) {}

    CauseReports read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        while (lines.next(line)) {
            if (line.starts_with("experiment\t")) {
                if (!begin(line)) return broken(lines.number(), "an experiment");
            } else if (is_progress(line)) {
                if (!add(line)) return broken(lines.number(), "a progress point");
            }
        }
        if (lines_.empty())
            return fail(
                "{}: has no experiment with a progress point; mark progress in the program with "
                "COZ_PROGRESS, or use coz "
                "run --end-to-end, and run it longer",
                origin_);
        return report();
    }

  private:
    tl::unexpected<Error> broken(std::size_t line, const char* what) const {
        return fail("{}:{}: is not {} as Coz writes it; is the file whole? Run coz again with a new profile",
                    origin_, line, what);
    }

    bool begin(std::string_view line) {
        const auto speedup = amount_in(field(line, "speedup"));
        const auto duration = amount_in(field(line, "duration"));
        const auto selected = field(line, "selected");
        if (selected.empty() || !speedup || *speedup > 1 || !duration) return false;
        experiment_ = {.selected = selected, .speedup = *speedup, .duration = *duration};
        return true;
    }

    bool add(std::string_view line) {
        const auto name = field(line, "name");
        // A latency point gets better by being passed more often, as the others do.
        const auto visits =
            amount_in(field(line, line.starts_with("latency-point\t") ? "departures" : "delta"));
        if (experiment_.selected.empty() || name.empty() || !visits) return false;
        Progress& progress = lines_[experiment_.selected][name][experiment_.speedup];
        progress.duration += experiment_.duration;
        progress.visits += *visits;
        return true;
    }

    std::vector<CauseReport> report() const {
        CauseReport report{.tool = "coz",
                           .label = "Coz",
                           .unit = "speed-up per speed-up",
                           .file = {},
                           .adds_up = false,
                           .rows = {}};
        report.total = 1;
        for (const auto& [selected, points] : lines_) {
            CauseRow row = row_of(selected, points);
            if (row.share > 0) report.rows.push_back(std::move(row));
        }
        std::ranges::stable_sort(report.rows, std::greater{}, &CauseRow::share);
        return {std::move(report)};
    }

    std::string_view origin_;
    Experiment experiment_;
    std::map<std::string_view, Points> lines_;
};

}  // namespace

bool is_coz(std::string_view text) {
    return text.starts_with("startup\ttime=") || text.starts_with("experiment\tselected=");
}

CauseReports parse_coz(std::string_view text, std::string_view origin) {
    return CozReader{origin}.read(text);
}

}  // namespace rdam::causes
