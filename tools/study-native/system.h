// What rdam-study-run asks of Linux in more than one place.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rdam::study {

/// What is wrong, as the study is told it. It unwinds: what a run has changed on the machine is as it was.
class Failure : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws a Failure whose reason is the one that errno has.
[[noreturn]] void fail_by_errno(const std::string& what, const std::string& remedy = "");

std::int64_t now_ns();

/// The bytes for which a text has a character each (U+0000 to U+00FF).
std::string bytes_of(const std::string& text);

/// Empty where it cannot be read.
std::string content_of(const std::filesystem::path& path);

/// A process that ends with this one, and what can be read of it.
struct Child {
    pid_t pid;
    int pipe;
};

/// Starts a child that does `work`, which is given the pipe to write to. What fails there is written to the
/// pipe.
Child start_child(const std::string& problem, const std::function<void(int)>& work);

/// What a child writes until it writes a byte of 0, ends or executes a program. Closes the pipe.
std::string said_by(int pipe);

/// A child tells that it is at its work.
void tell_ready(int pipe);

/// In ascending order.
std::vector<int> processors_of_this_process();

/// Binds this process. Throws a Failure that begins with `who`.
void set_processors(const std::vector<int>& processors, const std::string& who = "");

}  // namespace rdam::study
