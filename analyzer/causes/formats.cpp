#include "analyzer/causes/formats.h"

#include <array>

#include "analyzer/causes/readers.h"
#include "tools/base/files.h"
#include "wrappers/perf/perf_data.h"

namespace rdam::causes {
namespace {

/// Reports of whole programs have some tens of megabytes; XML needs several times its size in memory.
constexpr std::size_t kLargestFile = 256U << 20U;

// What names itself comes first; perf's tables are known by their titles only.
constexpr std::array<Format, 7> kFormats = {{
    {"DRD or Helgrind --xml=yes", is_valgrind_xml, parse_valgrind_xml},
    {"callgrind.out", is_callgrind, parse_callgrind},
    {"Coz's profile.coz", is_coz, parse_coz},
    {"perf c2c report --stdio", is_perf_c2c, parse_perf_c2c},
    {"DRD or Helgrind messages", is_valgrind_text, parse_valgrind_text},
    {"perf lock report or contention", is_perf_lock, parse_perf_lock},
    {"perf report --stdio", is_perf_events, parse_perf_events_text},
}};

std::string names_of_formats() {
    std::string names;
    for (const Format& format : kFormats)
        names.append(names.empty() ? "" : ", ").append(format.name);
    return names;
}

}  // namespace

std::span<const Format> formats() {
    return kFormats;
}

CauseReports parse_causes(std::string_view text, std::string_view origin) {
    if (is_perf_data(text))
        return fail("{}: is a recording of perf, not a report; print it with perf report --stdio -i {}",
                    origin, origin);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fail("{}: is empty; give --causes the output of a tool: {}", origin, names_of_formats());
    for (const Format& format : kFormats)
        if (format.is_it(text)) {
            auto reports = format.parse(text, origin);
            if (reports)
                for (CauseReport& report : *reports)
                    report.file = origin;
            return reports;
        }
    return fail("{}: has an unknown format; --causes reads {}", origin, names_of_formats());
}

CauseReports read_causes(const std::string& path) {
    const auto text = read_whole_file(path, kLargestFile);
    if (!text) return tl::unexpected{text.error()};
    return parse_causes(*text, display_path(path));
}

}  // namespace rdam::causes
