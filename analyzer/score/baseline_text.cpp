#include "analyzer/score/baseline_text.h"

#include <regex>

namespace rdam::score {

std::optional<Baseline> parse_baseline(const std::string& text) {
    using Kind = Baseline::Kind;
    static const std::regex percentile("p([0-9]{1,2}([.][0-9]{1,6})?)");
    if (text == "thread") return Baseline{};
    if (text == "process") return Baseline{Kind::process};
    std::smatch match;
    if (!std::regex_match(text, match, percentile)) return std::nullopt;
    const double percent = std::stod(match[1]);
    if (percent > 50) return std::nullopt;
    return Baseline{Kind::percentile, percent / 100};
}

}  // namespace rdam::score
