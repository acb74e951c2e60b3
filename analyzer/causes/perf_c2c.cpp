#include <algorithm>
#include <optional>

#include "analyzer/causes/readers.h"
#include "analyzer/causes/row_sums.h"
#include "tools/base/text_lines.h"
#include "wrappers/perf/report_text.h"

namespace rdam::causes {
namespace {

constexpr std::string_view kPareto = "Shared Cache Line Distribution Pareto";
constexpr std::string_view kTable = "Shared Data Cache Line Table";

/// Loads of a cache line that another cache had: modified and remote, modified and local; from a peer, where
/// the table has that (on Arm the one kind that is known).
struct Loads {
    double remote = 0;
    double local = 0;
    double peer = 0;
};

/// `  0     2021     1234  …  0x7f…`: number of the cache line, its remote and local loads, those from peers.
std::optional<Loads> cache_line(const std::vector<std::string_view>& words, bool peers) {
    if (words.size() < 5 || !number_in<std::uint64_t>(words[0])) return std::nullopt;
    const auto remote = number_in<std::uint32_t>(words[1]);
    const auto local = number_in<std::uint32_t>(words[2]);
    const auto peer = peers ? number_in<std::uint32_t>(words[3]) : 0;
    if (!remote || !local || !peer) return std::nullopt;
    return Loads{static_cast<double>(*remote), static_cast<double>(*local), static_cast<double>(*peer)};
}

/// "65.88%". A cache line without loads of a kind has "0.00%" or "-nan%".
std::optional<double> share_in(std::string_view word) {
    if (!word.ends_with('%')) return std::nullopt;
    word.remove_suffix(1);
    if (word == "-nan" || word == "nan") return 0;
    const auto percent = amount_in(word);
    if (!percent || *percent > 100) return std::nullopt;
    return *percent / 100;
}

/// The columns after the level mark are as wide as their widest cell, and so do not line up with the titles:
/// two blanks separate them.
std::vector<std::string_view> cells_of(std::string_view text) {
    std::vector<std::string_view> cells;
    for (auto at = text.find_first_not_of(' '); at != std::string_view::npos;
         at = text.find_first_not_of(' ', at)) {
        const auto end = std::min(text.find("  ", at), text.size());
        auto cell = text.substr(at, end - at);
        while (cell.ends_with(' '))
            cell.remove_suffix(1);
        cells.push_back(cell);
        at = end;
    }
    return cells;
}

/// `[.] function  object  file.c:144  0{0-1}`
std::optional<RowSums::Place> place_of(std::string_view line) {
    constexpr std::string_view kLevels = "k.guH";
    for (auto at = line.find(" ["); at != std::string_view::npos; at = line.find(" [", at + 1)) {
        if (line.size() < at + 6 || line[at + 3] != ']' || line[at + 4] != ' ') continue;
        if (kLevels.find(line[at + 2]) == std::string_view::npos) continue;
        const auto cells = cells_of(line.substr(at + 5));
        if (cells.empty()) return std::nullopt;
        RowSums::Place place{.function = std::string{cells[0]}, .module = {}, .file = {}};
        if (cells.size() > 1) place.module = cells[1];
        const auto source = cells.size() > 2 ? place_in(cells[2]) : std::nullopt;
        if (source) {
            place.file = source->file;
            place.line = source->line;
        }
        return place;
    }
    return std::nullopt;
}

class C2cReader {
  public:
    explicit C2cReader(std::string_view origin) : origin_(origin) {}

    CauseReports read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        bool pareto = false;
        while (lines.next(line)) {
            pareto = pareto || line.find(kPareto) != std::string_view::npos;
            if (pareto && line.find("Num ") != std::string_view::npos &&
                line.find(" Peer ") != std::string_view::npos)
                peers_ = true;
            if (pareto && !line.starts_with('#') && !add(line))
                return fail(
                    "{}:{}: is not a row of perf c2c's Pareto table; print it with perf c2c report --stdio, "
                    "without -F",
                    origin_, lines.number());
        }
        if (!pareto)
            return fail(
                "{}: has no Pareto table, so it names no function; print it with perf c2c report --stdio, "
                "without "
                "--stats",
                origin_);
        return report();
    }

  private:
    bool add(std::string_view line) {
        const auto words = words_of(line, 5);
        if (words.size() < 3) return true;
        if (const auto loads = cache_line(words, peers_)) {
            current_ = *loads;
            modified_ += loads->remote + loads->local;
            peer_ += loads->peer;
            return true;
        }
        if (!words[0].ends_with('%')) return true;  // titles, a call chain, a line of dashes
        const auto remote = share_in(words[0]);
        const auto local = share_in(words[1]);
        const auto peer = peers_ ? share_in(words[2]) : 0;
        const auto place = place_of(line);
        if (!remote || !local || !peer || !place) return false;
        sums_.add_own(*place, *remote * current_.remote + *local * current_.local + *peer * current_.peer);
        return true;
    }

    std::vector<CauseReport> report() const {
        CauseReport report{.tool = "perf c2c",
                           .label = modified_ > 0 || peer_ <= 0 ? "HITM" : "peer loads",
                           .unit = "loads",
                           .file = {},
                           .rows = {}};
        report.total = modified_ + peer_;
        report.rows = sums_.rows(report.total);
        return {std::move(report)};
    }

    std::string_view origin_;
    Loads current_;
    double modified_ = 0;
    double peer_ = 0;
    bool peers_ = false;  ///< the table has a column of loads from peers
    RowSums sums_;
};

}  // namespace

bool is_perf_c2c(std::string_view text) {
    return text.find(kPareto) != std::string_view::npos || text.find(kTable) != std::string_view::npos;
}

CauseReports parse_perf_c2c(std::string_view text, std::string_view origin) {
    return C2cReader{origin}.read(without_colours(text));
}

}  // namespace rdam::causes
