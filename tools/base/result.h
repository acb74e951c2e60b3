// The one error type of everything outside the profiled process.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rdam {

/// One line for a person: the thing, what is wrong with it, and the remedy. No newline, no "error:" in front;
/// the code that prints it (one place: tools/rdam/main.cpp) adds the program's name and makes it safe for a
/// terminal.
struct Error {
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
    return tl::unexpected<Error>{Error{fmt::format(format, std::forward<Args>(args)...)}};
}

}  // namespace rdam
