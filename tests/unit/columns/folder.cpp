#include "tests/unit/columns/folder.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/unit/catch.h"

namespace rdam::test {

std::vector<std::byte> read_npy(const std::filesystem::path& path, columns::ElementType type) {
    INFO(path);
    std::ifstream file(path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>{file}, {}};
    constexpr std::size_t kPreamble = 10;
    REQUIRE(all.size() >= kPreamble);
    CHECK(all.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t begin = kPreamble + static_cast<unsigned char>(all[8]) +
                              (std::size_t{static_cast<unsigned char>(all[9])} << 8U);
    CHECK(begin % 64 == 0);
    REQUIRE(all.size() >= begin);
    std::string header = all.substr(kPreamble, begin - kPreamble);
    CHECK(header.back() == '\n');
    header.erase(header.find_last_not_of(" \n") + 1);
    const std::size_t elements = (all.size() - begin) / type.size;
    CHECK(header ==
          fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type.name, elements));
    std::vector<std::byte> bytes(all.size() - begin);
    if (!bytes.empty()) std::memcpy(bytes.data(), all.data() + begin, bytes.size());
    return bytes;
}

}  // namespace rdam::test
