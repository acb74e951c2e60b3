#include "tools/agent/process/filter_watch.h"

#include <unistd.h>

#include <sstream>

#include "tools/agent/process/privileges.h"

namespace rdam::agent {
namespace {

constexpr std::size_t kStatusBytes = 1U << 16U;

std::optional<std::uint32_t> number_of(const std::string& status, const std::string& name) {
    const std::size_t at = status.find("\n" + name + ":");
    if (at == std::string::npos) return {};
    std::istringstream line(status.substr(at + name.size() + 2));
    std::uint32_t number = 0;
    if (!(line >> number)) return {};
    return number;
}

}  // namespace

std::optional<std::uint32_t> parse_filters(const std::string& status) {
    const auto mode = number_of(status, "Seccomp");
    if (!mode) return {};
    const auto filters = number_of(status, "Seccomp_filters");
    if (*mode == 0) return 0;
    return filters && *filters > 0 ? *filters : 1;
}

FilterWatch::FilterWatch(std::uint32_t program) : status_(open_status(program)), first_(count()) {}

FilterWatch::~FilterWatch() {
    if (status_ >= 0) close(status_);
}

bool FilterWatch::more() const {
    if (!first_) return false;
    const auto now = count();
    return now && *now > *first_;
}

std::optional<std::uint32_t> FilterWatch::count() const {
    if (status_ < 0) return {};
    std::string text(kStatusBytes, '\0');
    const ssize_t size = pread(status_, text.data(), text.size(), 0);
    if (size <= 0) return {};
    text.resize(static_cast<std::size_t>(size));
    return parse_filters(text);
}

}  // namespace rdam::agent
