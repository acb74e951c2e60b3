#include "analyzer/settings/baseline_text.h"

#include <fmt/format.h>

#include <regex>

namespace rdam::score {

std::optional<Baseline> parse_baseline(const std::string& text) {
    using Kind = Baseline::Kind;
    static const std::regex percentile("p([0-9]{1,2}([.][0-9]{1,6})?)");
    if (text == "thread") return Baseline{};
    if (text == "process") return Baseline{.kind = Kind::process};
    if (text == "minimum") return Baseline{.kind = Kind::minimum};
    std::smatch match;
    if (!std::regex_match(text, match, percentile)) return std::nullopt;
    const double percent = std::stod(match[1]);
    if (percent > 50) return std::nullopt;
    return Baseline{.kind = Kind::percentile, .fraction = percent / 100};
}

std::string to_text(const Baseline& baseline) {
    using Kind = Baseline::Kind;
    if (baseline.kind == Kind::thread) return "thread";
    if (baseline.kind == Kind::process) return "process";
    if (baseline.kind == Kind::minimum) return "minimum";
    std::string digits = fmt::format("{:.6f}", baseline.fraction * 100);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return "p" + digits;
}

}  // namespace rdam::score
