// docs/trace-format.md and docs/trace.proto say what the program does.
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"
#include "tools/trace/schema.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;

namespace {

std::string source(const std::string& name) {
    const std::ifstream in(std::string(RDAM_SOURCE_ROOT) + "/" + name);
    REQUIRE(in);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

/// The bytes in lines such as "0040: f5 72 64  meaning".
Bytes bytes_in_dump(const std::string& text) {
    Bytes bytes;
    std::istringstream lines(text);
    const std::regex dump("^([0-9a-f]{4}): ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  .*)?$");
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (!std::regex_match(line, match, dump)) continue;
        CAPTURE(line);
        REQUIRE(std::stoul(match[1], nullptr, 16) == bytes.size());
        std::istringstream numbers(match[2]);
        for (std::string number; numbers >> number;)
            bytes.push_back(static_cast<std::uint8_t>(std::stoul(number, nullptr, 16)));
    }
    return bytes;
}

/// The trace that docs/trace-format.md shows.
Bytes example() {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceInfo info = info_of_one_function();
    info.stacks.clear();
    TraceWriter writer = writer_of(path, 1700000000000000000);
    ChunkEncoder encoder;
    encoder.enter(1000, 0, 3, 0x401000, false, 0, std::vector<std::uint64_t>{42});
    encoder.leave(1050, 0, 3, false, std::vector<std::uint64_t>{~std::uint64_t{0}});
    encoder.pause(1100, 1110, PauseReason::buffer_full);
    REQUIRE(writer.append(0, encoder));
    REQUIRE(writer.finish(info));
    return contents(path);
}

using Fields = std::map<std::string, std::string>;

/// "Message.field" to number, wherever `block` finds a message and `field` a field in it.
Fields fields_in(const std::string& text, const std::regex& block, const std::regex& field) {
    Fields found;
    for (std::sregex_iterator at(text.begin(), text.end(), block), end; at != end; ++at) {
        const std::string name = (*at)[1];
        const std::string body = (*at)[2];
        for (std::sregex_iterator each(body.begin(), body.end(), field); each != end; ++each)
            CHECK(found.emplace(name + "." + (*each)[1].str(), (*each)[2]).second);
    }
    return found;
}

/// Goes through the lists of fields, of the messages inside too, as an archive does.
class Names {
  public:
    explicit Names(Fields& found) : found_(found) {}

    void message_name(const char* name) { message_ = name; }
    void number(unsigned tag, const char* name, std::uint64_t, When = {}) { add(tag, name); }
    void fixed(unsigned tag, const char* name, std::uint64_t, When = {}) { add(tag, name); }
    void real(unsigned tag, const char* name, double, When = {}) { add(tag, name); }
    void truth(unsigned tag, const char* name, bool, When = {}) { add(tag, name); }
    template <class State>
    void state(unsigned tag, const char* name, State, State) {
        add(tag, name);
    }
    void text(unsigned tag, const char* name, const std::string&, When = {}) { add(tag, name); }
    void texts(unsigned tag, const char* name, const std::vector<std::string>&) { add(tag, name); }
    void numbers(unsigned tag, const char* name, const std::vector<std::uint32_t>&) { add(tag, name); }
    void addresses(unsigned tag, const char* name, const std::vector<std::uint64_t>&) { add(tag, name); }
    template <class Structure>
    void message(unsigned tag, const char* name, const Structure& structure) {
        add(tag, name);
        Names(found_).go_through(structure);
    }
    template <class Item>
    void messages(unsigned tag, const char* name, const std::vector<Item>&) {
        message(tag, name, Item{});
    }
    template <class Item>
    void items(unsigned tag, const char* name, const std::vector<Item>&) {
        add(tag, name);
        Names inner(found_);
        inner.go_through(Item{});
        inner.add(kIndexField, "index");
    }

    template <class Structure>
    void go_through(const Structure& structure) {
        fields(*this, structure);
    }

  private:
    void add(unsigned tag, const char* name) {
        const auto [at, added] = found_.emplace(message_ + "." + name, std::to_string(tag));
        CHECK((added || at->second == std::to_string(tag)));
    }

    Fields& found_;
    std::string message_;
};

}  // namespace

TEST_CASE("the example in trace-format.md is what the writer writes") {
    const Bytes shown = bytes_in_dump(source("docs/trace-format.md"));
    CHECK(shown == example());
    const MemoryFile memory(shown);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(replay(*reader, 0).events.size() == 3);
}

TEST_CASE("trace.proto has the fields of the program, and no others") {
    const Fields documented =
        fields_in(source("docs/trace.proto"), std::regex(R"(message (\w+) \{([^}]*)\})"),
                  std::regex(R"((\w+) = (\d+)(?: \[packed = true\])?;)"));
    Fields used;
    Names(used).go_through(TraceInfo{});
    CHECK(used.size() > 50);
    CHECK(documented == used);
}
