// Outputs as they are printed, in the files of golden/. When a change of them is meant:
//     RDAM_REBASE=1 build/tests/unit/analysis/analysis_test '[golden]'
// writes them anew, to be read in `git diff`.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/unit/catch.h"

namespace rdam::test {

inline void check_golden(const std::string& name, const std::string& found) {
    const std::string path = std::string{RDAM_GOLDEN} + "/" + name;
    if (std::getenv("RDAM_REBASE") != nullptr) {
        std::ofstream{path, std::ios::binary} << found;
        return;
    }
    std::ifstream file{path, std::ios::binary};
    REQUIRE(file);
    std::stringstream expected;
    expected << file.rdbuf();
    CHECK(found == expected.str());
}

}  // namespace rdam::test
