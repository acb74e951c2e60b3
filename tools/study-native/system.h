// What rdam-study-run asks of Linux in more than one place.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rdam::study {

std::string errno_text(int number);
std::int64_t now_ns();

/// Empty where it cannot be read.
std::string content_of(const std::filesystem::path& path);

/// The process that started the caller has ended: so does the caller.
void end_with(pid_t parent);

/// In ascending order.
std::vector<int> processors_of_this_process();

/// What is wrong, if that is not possible.
std::optional<std::string> set_processors(const std::vector<int>& processors);

}  // namespace rdam::study
