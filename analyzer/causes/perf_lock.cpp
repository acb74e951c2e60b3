#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/causes/readers.h"
#include "analyzer/causes/row_sums.h"
#include "tools/base/text_lines.h"
#include "wrappers/perf/report_text.h"

namespace rdam::causes {
namespace {

constexpr std::array<std::string_view, 6> kNumbers = {"acquired",   "contended", "avg wait",
                                                      "total wait", "max wait",  "min wait"};

/// More than any row or name has; without a bound a hostile one would take long.
constexpr std::size_t kMaxWords = 64;

/// The layout of a row: numbers, single words, and one name that may contain blanks.
struct Titles {
    std::size_t numbers = 0;
    std::size_t words = 0;            ///< "type", "address", "pid" between the numbers and the name
    bool name_first = false;          ///< `perf lock report`
    std::string_view name;            ///< "Name", "caller", "symbol", "comm"
    std::optional<std::size_t> wait;  ///< which number is the total wait
    std::optional<std::size_t> waits;
};

std::optional<Titles> titles_in(std::string_view line) {
    Titles titles;
    auto rest = line;
    while (!rest.empty()) {
        const auto begin = rest.find_first_not_of(' ');
        if (begin == std::string_view::npos) break;
        rest.remove_prefix(begin);
        const auto number =
            std::ranges::find_if(kNumbers, [&](auto title) { return rest.starts_with(title); });
        auto size = std::min(rest.find(' '), rest.size());
        if (number != kNumbers.end()) {
            size = number->size();
            if (*number == "total wait") titles.wait = titles.numbers;
            if (*number == "contended") titles.waits = titles.numbers;
            ++titles.numbers;
            if (rest.substr(size).starts_with(" (ns)")) size += 5;
        } else {
            const auto word = rest.substr(0, size);
            if (word == "Name" || word == "caller" || word == "symbol" || word == "comm") {
                titles.name = word;
                titles.name_first = titles.numbers == 0;
            } else {
                ++titles.words;
            }
        }
        rest.remove_prefix(size);
    }
    if (!titles.wait && !titles.waits) return std::nullopt;
    // "contended" and "caller" are words of prose as well.
    const bool table = !titles.name.empty() && (titles.numbers > 1 || titles.words > 0) && titles.words <= 2;
    return table ? std::optional{titles} : std::nullopt;
}

/// In nanoseconds; 0: no unit.
double unit_of(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
        {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}}};
    const auto* const unit = std::ranges::find(kUnits, word, &std::pair<std::string_view, double>::first);
    return unit == kUnits.end() ? 0 : unit->second;
}

/// The number at `at`, which is then behind it and its unit.
std::optional<double> take_number(const std::vector<std::string_view>& words, std::size_t& at) {
    const auto value = at < words.size() ? amount_in(words[at]) : std::nullopt;
    if (!value) return std::nullopt;
    ++at;
    const double unit = at < words.size() ? unit_of(words[at]) : 0;
    if (unit == 0) return value;
    ++at;
    return *value * unit;
}

std::string join(const std::vector<std::string_view>& words, std::size_t begin, std::size_t end) {
    std::string text;
    for (std::size_t i = begin; i < end; ++i)
        text.append(text.empty() ? "" : " ").append(words[i]);
    return text;
}

/// `update_blocked_averages+0x4c` without where in the function that is.
std::string function_of(std::string text) {
    const auto plus = text.rfind("+0x");
    if (plus != std::string::npos &&
        text.find_first_not_of("0123456789abcdef", plus + 3) == std::string::npos)
        text.erase(plus);
    return text;
}

struct Row {
    std::string name;
    std::vector<double> numbers;
};

std::optional<Row> row_in(const std::vector<std::string_view>& words, const Titles& titles) {
    // A lock's name may contain blanks: the numbers are at the end.
    std::size_t first = 0;
    if (titles.name_first)
        while (first < words.size()) {
            std::size_t at = first;
            std::size_t numbers = 0;
            while (take_number(words, at))
                ++numbers;
            if (at == words.size() && numbers == titles.numbers) break;
            ++first;
        }
    std::size_t at = first;
    Row row;
    for (std::size_t i = 0; i < titles.numbers; ++i) {
        const auto number = take_number(words, at);
        if (!number) return std::nullopt;
        row.numbers.push_back(*number);
    }
    if (!titles.name_first && at + titles.words > words.size()) return std::nullopt;
    row.name =
        function_of(titles.name_first ? join(words, 0, first) : join(words, at + titles.words, words.size()));
    return row;
}

class LockReader {
  public:
    explicit LockReader(std::string_view origin) : origin_(origin) {}

    CauseReports read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        bool ended = false;
        while (!ended && lines.next(line)) {
            if (!titles_) {
                titles_ = titles_in(line);
                if (titles_ && titles_->name == "comm")
                    return fail("{}:{}: is a table of threads, not of functions; print it without -t",
                                origin_, lines.number());
                continue;
            }
            ended = line.starts_with("===");  // what perf says about the quality of its data
            if (!ended && !add(line))
                return fail(
                    "{}:{}: does not have the {} numbers of its table's titles; print perf lock to a file of "
                    "its own, without "
                    "-x",
                    origin_, lines.number(), titles_->numbers);
        }
        return report();
    }

  private:
    bool add(std::string_view line) {
        const auto words = words_of(line, kMaxWords);
        if (words.empty()) return true;
        if (words[0].starts_with("0x")) {
            // With -v: the call stack of the row above, innermost first. An address without a symbol is the
            // only word.
            if (words.size() > 1) add_caller(function_of(join(words, 1, words.size())));
            return true;
        }
        const auto row = row_in(words, *titles_);
        if (!row) return false;
        amount_ = row->numbers[titles_->wait ? *titles_->wait : *titles_->waits];
        total_ += amount_;
        credited_.clear();
        if (row->name.empty()) return true;
        credited_.push_back(row->name);
        sums_.add_own({.function = row->name, .module = {}, .file = {}}, amount_);
        return true;
    }

    void add_caller(const std::string& function) {
        constexpr std::size_t kDeepest = 256;
        if (credited_.size() >= kDeepest || std::ranges::find(credited_, function) != credited_.end()) return;
        credited_.push_back(function);
        sums_.add_callees({.function = function, .module = {}, .file = {}}, amount_);
    }

    std::vector<CauseReport> report() const {
        CauseReport report{.tool = "perf lock",
                           .label = "lock waits",
                           .unit = titles_->wait ? "ns" : "waits",
                           .file = {},
                           .rows = {}};
        report.total = total_;
        report.rows = sums_.rows(total_);
        return {std::move(report)};
    }

    std::string_view origin_;
    std::optional<Titles> titles_;
    double amount_ = 0;
    double total_ = 0;
    std::vector<std::string> credited_;  // for the current row
    RowSums sums_;
};

}  // namespace

bool is_perf_lock(std::string_view text) {
    // perf prints the table at once, after at most some warnings.
    constexpr std::size_t kFirstLines = 20;
    TextLines lines{text};
    std::string_view line;
    while (lines.number() < kFirstLines && lines.next(line))
        if (!line.starts_with('#') && titles_in(line)) return true;
    return false;
}

CauseReports parse_perf_lock(std::string_view text, std::string_view origin) {
    return LockReader{origin}.read(without_colours(text));
}

}  // namespace rdam::causes
