#include <algorithm>

#include "wrappers/perf/report_text.h"

namespace rdam {
namespace {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at, from.size()) == from) {
            result += to;
            at += from.size();
        } else {
            result += text[at++];
        }
    }
    return result;
}

/// Characters that no demangled or linkage name holds: what perf replaced was none of the name.
bool never_in_names(char c) {
    return std::string_view(";|\t!%^\\\"'`?").find(c) != std::string_view::npos || c < ' ';
}

}  // namespace

std::string restored_symbol(std::string_view symbol, char separator) {
    if (separator == '\0' || separator == '.' || never_in_names(separator)) return std::string(symbol);
    switch (separator) {
        case ',':
            // Demanglers put a blank behind the comma, and nothing else puts one behind a dot.
            return replaced(replaced(symbol, ". ", ", "), "operator.", "operator,");
        case ':':
            return replaced(symbol, "..", "::");
        case '@':
            return replaced(symbol, "..", "@@");
        default: {
            std::string glob(symbol);
            std::replace(glob.begin(), glob.end(), '.', '?');
            return glob;
        }
    }
}

}  // namespace rdam
