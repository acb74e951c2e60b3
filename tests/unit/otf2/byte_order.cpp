#include "tests/unit/otf2/byte_order.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr char kLittle = 0x42, kBig = 0x23;

/// The fields of a definition: c a compressed number, b a byte, s a text.
const std::map<int, std::string_view> kDefinitions{
    {5, "cccc"}, {10, "cs"}, {11, "ccbc"}, {12, "cccc"}, {13, "ccbcc"}, {14, "ccbcc"}, {15, "cccbccccbbc"}};

class Swapper {
  public:
    explicit Swapper(std::string& bytes) : bytes_(bytes) {}

    void header(bool chunked) {
        REQUIRE(bytes_.at(1) == kLittle);
        bytes_[1] = kBig;
        at_ = 2;
        if (chunked) fixed(8), fixed(8);
    }
    void fixed(std::size_t size) {
        std::reverse(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + size));
        at_ += size;
    }
    void compressed() {
        const auto size = static_cast<std::uint8_t>(byte());
        if (size != 0xff) fixed(size);
    }
    char byte() { return bytes_.at(at_++); }
    void text() { at_ = bytes_.find('\0', at_) + 1; }

    void definitions() {
        for (int type = byte(); type != 0 && type != 2; type = byte()) {
            const std::size_t end = at_ + 1 + static_cast<std::uint8_t>(bytes_.at(at_));
            ++at_;
            for (const char field : kDefinitions.at(type)) {
                if (field == 'c') compressed();
                if (field == 'b') byte();
                if (field == 's') text();
            }
            REQUIRE(at_ == end);
        }
    }
    void events() {
        for (int type = byte(); type != 0 && type != 2; type = byte()) {
            if (type == 5)
                fixed(8);
            else
                compressed();
        }
    }
    void anchor() {
        at_ += 5 + 5;
        fixed(8), fixed(8);
        at_ += 2;
        fixed(8), fixed(8);
        text(), text(), text();
        fixed(4);  // properties: none
        fixed(8), fixed(4), fixed(4);
    }

  private:
    std::string& bytes_;
    std::size_t at_ = 0;
};

}  // namespace

void swap_byte_order(const std::string& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file{entry.path(), std::ios::binary};
        std::string bytes{std::istreambuf_iterator<char>{file}, {}};
        const std::string kind = entry.path().extension();
        Swapper swapper{bytes};
        swapper.header(kind != ".otf2");
        if (kind == ".otf2") swapper.anchor();
        if (kind == ".def") swapper.definitions();
        if (kind == ".evt") swapper.events();
        std::ofstream{entry.path(), std::ios::binary | std::ios::trunc} << bytes;
    }
}

}  // namespace rdam::test
