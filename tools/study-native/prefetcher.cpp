#include "tools/study-native/prefetcher.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tools/study-native/system.h"

namespace rdam::study {

Prefetcher::Prefetcher(const std::filesystem::path& devices, const std::vector<int>& processors,
                       std::int64_t register_number, std::uint64_t mask)
    : number_(register_number), mask_(mask) {
    for (const int processor : processors)
        registers_.push_back({.path = devices / std::to_string(processor) / "msr"});
}

Prefetcher::~Prefetcher() {
    static_cast<void>(restore());
    for (const Register& each : registers_)
        if (each.file >= 0) close(each.file);
}

std::optional<std::uint64_t> Prefetcher::read_from(const Register& from) const {
    std::uint64_t value = 0;
    if (pread(from.file, &value, sizeof value, number_) != ssize_t{sizeof value}) return std::nullopt;
    return value;
}

bool Prefetcher::write_to(const Register& to, std::uint64_t value) const {
    return pwrite(to.file, &value, sizeof value, number_) == ssize_t{sizeof value};
}

std::optional<std::string> Prefetcher::set(bool is_on) {
    const auto problem = [](const Register& at, const std::string& what) {
        return at.path.string() + ": " + what + "; leave --prefetcher out";
    };
    // All before the first is written: both hardware threads of a core have the same register.
    for (Register& each : registers_) {
        each.file = open(each.path.c_str(), O_RDWR | O_CLOEXEC);
        if (each.file < 0) return problem(each, "cannot be opened: " + errno_text(errno));
        const auto value = read_from(each);
        if (!value)
            return problem(each, "the register of the prefetchers cannot be read: " + errno_text(errno));
        each.former = *value;
    }
    is_changed_ = true;
    for (const Register& each : registers_) {
        const std::uint64_t wanted = is_on ? each.former & ~mask_ : each.former | mask_;
        if (!write_to(each, wanted))
            return problem(each, "the register of the prefetchers cannot be written: " + errno_text(errno));
        if (read_from(each) != wanted)
            return problem(each, "the prefetchers stay as they were, whatever is written to their register");
    }
    return std::nullopt;
}

std::optional<std::string> Prefetcher::restore() {
    std::optional<std::string> why;
    for (const Register& each : registers_)
        if (is_changed_ && !write_to(each, each.former))
            why = each.path.string() + ": the prefetchers cannot be set as they were: " + errno_text(errno);
    is_changed_ = false;
    return why;
}

}  // namespace rdam::study
