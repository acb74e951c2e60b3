#include "tools/study-native/interrupts.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <sstream>

#include "tools/study-native/system.h"

namespace rdam::study {
namespace {

/// Of a line behind its counts: the chip, the kind of line and the name that the driver has given, as in
/// "PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0". The kernel's own sources have a description there.
std::string name_of(const std::string& label, std::istringstream& rest) {
    if (label.find_first_not_of("0123456789") != std::string::npos) return label;
    std::string chip, line, name, word;
    rest >> chip >> line;
    while (rest >> word)
        name += (name.empty() ? "" : " ") + word;
    return name.empty() ? "irq " + label : name;
}

/// /proc/interrupts and /proc/softirqs: a head with a word for each processor, then a line for each source.
Counts counts_in(const char* path, const std::vector<int>& processors) {
    std::istringstream lines{content_of(path)};
    std::string line, word;
    std::getline(lines, line);
    std::istringstream head{line};
    std::vector<bool> is_counted;
    while (head >> word) {
        int processor = 0;
        is_counted.push_back(std::sscanf(word.c_str(), "CPU%d", &processor) == 1 &&
                             std::ranges::binary_search(processors, processor));
    }
    Counts counts;
    while (std::getline(lines, line)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::size_t begin = line.find_first_not_of(' ');
        std::istringstream rest{line.substr(colon + 1)};
        std::int64_t sum = 0, count = 0;
        std::size_t column = 0;
        for (; column < is_counted.size() && rest >> count; ++column)
            if (is_counted[column]) sum += count;
        // Errors (ERR, MIS) are counted for the whole machine.
        if (column == is_counted.size()) counts[name_of(line.substr(begin, colon - begin), rest)] += sum;
    }
    return counts;
}

nlohmann::json increase(const Counts& before, const Counts& after) {
    if (after.empty()) return nullptr;
    nlohmann::json found = nlohmann::json::object();
    for (const auto& [name, count] : after) {
        const auto was = before.find(name);
        const std::int64_t more = count - (was == before.end() ? 0 : was->second);
        if (more > 0) found[name] = more;
    }
    return found;
}

}  // namespace

Interruptions interruptions_now(const std::vector<int>& processors) {
    return {.interrupts = counts_in("/proc/interrupts", processors),
            .softirqs = counts_in("/proc/softirqs", processors)};
}

void read_interruptions(const Interruptions& before, const Interruptions& after, nlohmann::json& answer) {
    answer["interrupts"] = increase(before.interrupts, after.interrupts);
    answer["softirqs"] = increase(before.softirqs, after.softirqs);
}

}  // namespace rdam::study
