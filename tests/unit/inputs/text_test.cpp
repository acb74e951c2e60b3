#include "analyzer/inputs/build/text.h"

#include <zlib.h>
#include <zstd.h>

#include <fstream>

#include "analyzer/inputs/open.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/temporary_folder.h"

using namespace rdam;
using namespace rdam::inputs;
using rdam::test::contains;

namespace {

class Files {
  public:
    std::string plain(const std::string& content) {
        std::ofstream{path_, std::ios::binary} << content;
        return path_;
    }
    std::string gzip(const std::string& content) {
        gzFile file = gzopen(path_.c_str(), "wb");
        REQUIRE(gzwrite(file, content.data(), static_cast<unsigned>(content.size())) ==
                static_cast<int>(content.size()));
        gzclose(file);
        return path_;
    }
    std::string zstd(const std::string& content) {
        std::string packed(ZSTD_compressBound(content.size()), '\0');
        packed.resize(ZSTD_compress(packed.data(), packed.size(), content.data(), content.size(), 1));
        return plain(packed);
    }
    std::string read() {
        std::ifstream file{path_, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

  private:
    test::TemporaryFolder folder_;
    std::string path_ = folder_.file("text");
};

std::vector<std::string> lines_of(LineReader& reader) {
    std::vector<std::string> lines;
    while (const auto line = reader.next())
        lines.emplace_back(*line);
    return lines;
}

std::string many_lines() {
    std::string text;
    for (int i = 0; i < 200'000; ++i)
        text += fmt::format("line {}\n", i);
    return text;
}

void check_many(const std::string& path) {
    auto reader = LineReader::open(path);
    REQUIRE(reader);
    const auto lines = lines_of(*reader);
    CHECK_FALSE(reader->error());
    REQUIRE(lines.size() == 200'000);
    CHECK(lines.front() == "line 0");
    CHECK(lines.back() == "line 199999");
    CHECK(reader->number() == 200'000);
    CHECK(reader->consumed() == reader->size());
}

}  // namespace

TEST_CASE("lines are read from plain and from compressed files") {
    Files files;
    check_many(files.plain(many_lines()));
    check_many(files.gzip(many_lines()));
    check_many(files.zstd(many_lines()));
    // Files put together, as `cat` does.
    const std::string once = (files.zstd("a\n"), files.read());
    auto twice = LineReader::open(files.plain(once + once));
    CHECK(lines_of(*twice) == std::vector<std::string>{"a", "a"});
    const std::string gzip = (files.gzip("b\n"), files.read());
    auto gzips = LineReader::open(files.plain(gzip + gzip));
    CHECK(lines_of(*gzips) == std::vector<std::string>{"b", "b"});
}

TEST_CASE("line ends of other systems, empty lines and a last line without an end count") {
    Files files;
    auto reader = LineReader::open(files.plain("a\r\n\nb"));
    REQUIRE(reader);
    CHECK(lines_of(*reader) == std::vector<std::string>{"a", "", "b"});
    auto empty = LineReader::open(files.plain(""));
    REQUIRE(empty);
    CHECK(lines_of(*empty).empty());
    CHECK_FALSE(empty->error());
}

TEST_CASE("cut and damaged compressed files are errors, not ends") {
    Files files;
    const auto check = [&](const std::string& packed) {
        for (const std::size_t size : {packed.size() / 2, packed.size() - 1}) {
            auto reader = LineReader::open(files.plain(packed.substr(0, size)));
            REQUIRE(reader);
            lines_of(*reader);
            REQUIRE(reader->error());
            CHECK(contains(reader->error()->message, "damaged or cut"));
        }
    };
    check((files.gzip(many_lines()), files.read()));
    check((files.zstd(many_lines()), files.read()));
    // Only gzip's has a checksum.
    std::string spoiled = (files.gzip(many_lines()), files.read());
    for (std::size_t i = spoiled.size() / 2; i < spoiled.size() / 2 + 20; ++i)
        spoiled[i] = static_cast<char>(~spoiled[i]);
    auto reader = LineReader::open(files.plain(spoiled));
    REQUIRE(reader);
    lines_of(*reader);
    CHECK(reader->error());
}

TEST_CASE("a compressed file that is cut at its beginning is called damaged, not compressed") {
    Files files;
    for (const std::string& packed :
         {(files.gzip(many_lines()), files.read()), (files.zstd(many_lines()), files.read())})
        for (const std::size_t size : {std::size_t{6}, std::size_t{20}}) {
            const auto reader = open_any(files.plain(packed.substr(0, size)));
            REQUIRE(!reader);
            CHECK(contains(reader.error().message, "is damaged or cut"));
        }
}

TEST_CASE("a line without an end is not read into memory as a whole") {
    Files files;
    auto reader = LineReader::open(files.gzip("first\n" + std::string(2 * LineReader::kMaxLine, 'x')));
    REQUIRE(reader);
    CHECK(lines_of(*reader).size() == 1);
    REQUIRE(reader->error());
    CHECK(contains(reader->error()->message, "line 2: is longer than 16 MiB"));
}
