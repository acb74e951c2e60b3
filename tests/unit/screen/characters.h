// What is measured in columns depends on the locale.
#pragma once

#include <clocale>

#include "tests/unit/catch.h"

namespace rdam::test {

inline void use_utf8() {
    REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr);
}

}  // namespace rdam::test
