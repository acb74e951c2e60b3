#include "tools/rdam/command/time_value.h"

#include <charconv>
#include <cmath>

namespace rdam {

Result<double> parse_time(std::string_view text) {
    struct Unit {
        std::string_view name;
        double nanoseconds;
    };
    constexpr Unit kUnits[] = {{"", 1e9},   {"s", 1e9},    {"ms", 1e6}, {"us", 1e3},
                               {"µs", 1e3}, {"min", 6e10}, {"ns", 1}};
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [unit_begin, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error == std::errc{} && std::isfinite(value) && !std::signbit(value)) {
        const std::string_view given{unit_begin, static_cast<std::size_t>(end - unit_begin)};
        for (const Unit& unit : kUnits) {
            if (given == unit.name) return value * unit.nanoseconds;
        }
    }
    return fail("'{}' is not a time; write 1.5s, 200ms, 30us, 2min, or plain seconds", text);
}

}  // namespace rdam
