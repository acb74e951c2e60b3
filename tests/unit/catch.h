#pragma once

// Catch2 for every unit test, in version 2 (Debian 12) or 3 (Debian 13). Tests use what both have, by the
// names of version 2.

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

namespace Catch {

using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::Matches;
using Matchers::StartsWith;

inline Matchers::StringContainsMatcher Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}

}  // namespace Catch

using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
