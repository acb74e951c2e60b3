// The values that an option takes, and the messages about others.
#pragma once

#include <CLI/Error.hpp>
#include <CLI/StringTools.hpp>
#include <CLI/TypeTools.hpp>
#include <CLI/Validators.hpp>
#include <string>
#include <vector>

namespace rdam {

/// A whole number from `least` to `most`.
CLI::Validator whole_number(int least, int most);
/// A number from `least` to `most`, decimals included.
CLI::Validator number(double least, double most);
/// One of these words, which completions offer.
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace rdam
