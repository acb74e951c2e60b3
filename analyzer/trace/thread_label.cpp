#include "analyzer/trace/thread_label.h"

#include <fmt/format.h>

#include "wrappers/text/text_lines.h"

namespace rdam::trace {

std::string thread_label(const ThreadInfo& thread, std::uint32_t index) {
    return fmt::format("{} {} #{}", thread.tid, thread.name, index);
}

std::optional<LabeledThread> thread_in_label(std::string_view label) {
    const std::size_t space = label.find(' ');
    const std::size_t index = label.rfind(" #");
    if (space == std::string_view::npos || index == std::string_view::npos) return std::nullopt;
    const auto tid = number_in<std::uint32_t>(label.substr(0, space));
    if (!tid) return std::nullopt;
    const std::string_view name = index > space ? label.substr(space + 1, index - space - 1) : "";
    return LabeledThread{.tid = *tid, .name = std::string{name}};
}

}  // namespace rdam::trace
