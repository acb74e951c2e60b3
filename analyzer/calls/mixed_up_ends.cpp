#include "analyzer/calls/mixed_up_ends.h"

namespace rdam::calls {

bool ends_are_mixed_up(const trace::TraceInfo& info, std::uint32_t function) {
    if (info.process.copied_stacks.empty()) return false;
    const trace::FunctionInfo& about = info.functions[function];
    const bool libc = about.module.starts_with("libc.so") || about.module.starts_with("libc-2") ||
                      about.module.starts_with("libpthread");
    return !(libc && about.waits);
}

std::vector<bool> with_known_ends(const trace::TraceInfo& info) {
    std::vector<bool> known;
    if (info.process.copied_stacks.empty()) return known;
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        known.push_back(!ends_are_mixed_up(info, function));
    return known;
}

}  // namespace rdam::calls
