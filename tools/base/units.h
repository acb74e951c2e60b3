// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "tools/base/plural.h"

namespace rdam::output {

/// With so many digits (at most 3) behind the point, a half away from zero. The page of `rdam report` says
/// the same figures by scripts and without them: its fixed() takes the same steps. (fmt rounds a half to
/// even, toFixed up.)
double rounded(double value, int digits);

/// The figure that all outputs start from. A thousandth of a nanosecond is far below what a clock can tell;
/// more digits only hide the number.
double rounded_nanoseconds(double value);

/// Three significant digits and a unit: `41.3 ns`, `1.20 µs`, `12.3 ms`, `312 s`. Not finite or negative:
/// `?`.
std::string human_time(double nanoseconds);

using rdam::grouped;

/// `999`, `12.3 k`, `1.23 M`, `45.6 G`.
std::string human_count(double count);

/// `1.3 %`, `0.05 %`, `12 %`.
std::string percent(double share);

/// `0.743`.
std::string score_text(double score);

/// Precedes a score whose minimum is an outlier.
inline constexpr const char* kAloneMark = "!";
/// In front of a lower bound.
inline constexpr const char* kBoundMark = "≥";
/// In front of a score that constant work would have as well.
inline constexpr const char* kFloorMark = "°";
/// `0.715–0.762`.
std::string interval_text(double low, double high);

using rdam::counted;

}  // namespace rdam::output
