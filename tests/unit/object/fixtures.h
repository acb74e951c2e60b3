// The objects that meson.build compiles for tests.
#pragma once

#include <filesystem>
#include <string>

namespace rdam::test {

inline const std::filesystem::path kFixtures = FIXTURE_DIR;

inline std::string fixture(const std::string& name) {
    return (kFixtures / name).string();
}

}  // namespace rdam::test
