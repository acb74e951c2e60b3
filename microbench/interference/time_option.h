// Times on the command line.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>

namespace rdam::microbench {

/// An option whose value is a time; `store` gets it in nanoseconds.
CLI::Option* add_time(CLI::App& app, const std::string& name, std::function<void(double)> store,
                      const std::string& help);

}  // namespace rdam::microbench
