// The distribution of single calls.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

/// Times `calls` calls of the function one by one, and as many pairs of `rdtscp`, the first with a fence
/// behind it, in turns: what is around the call, the machine's interruptions included, is the same for both.
/// {"call_ns": …, "floor_ns": …}, each with min, p50, p99, p99.9, p99.99, max and mean; null when there is no
/// such function.
nlohmann::ordered_json measure_each(std::string_view function, std::uint64_t calls);
