#include "analyzer/settings/rules.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

std::string error_of(std::string_view text) {
    const auto parsed = rules::parse_rules(text, "rdam.toml");
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().message.find('\n') == std::string::npos);
    return parsed.error().message;
}

}  // namespace

TEST_CASE("a rules file is read") {
    const auto parsed = rules::parse_rules(R"(# of the shop
keys = [
  "compress:length",  # its work
  'app:f(int, char):n',
]
no-keys = ["write:fd"]
ignore = ["helper", "std::f"]
split-by-context = ["lock"]
given-back-by = ["take=give"]
woken-by = ["pop=push"]
fold-loops = true
deep-keys = false
baseline = "p5"
threshold = 0.1
)",
                                           "rdam.toml");
    REQUIRE(parsed.has_value());
    CHECK(parsed->named.keys == std::vector<std::string>{"compress:length", "app:f(int, char):n"});
    CHECK(parsed->named.no_keys == std::vector<std::string>{"write:fd"});
    CHECK(parsed->named.ignore == std::vector<std::string>{"helper", "std::f"});
    CHECK(parsed->named.split_by_context == std::vector<std::string>{"lock"});
    CHECK(parsed->named.given_back_by == std::vector<std::string>{"take=give"});
    CHECK(parsed->named.woken_by == std::vector<std::string>{"pop=push"});
    CHECK(parsed->fold_loops == true);
    CHECK(parsed->deep_keys == false);
    CHECK(parsed->baseline == "p5");
    CHECK(parsed->threshold == 0.1);
}

TEST_CASE("an empty rules file says nothing") {
    for (const char* text : {"", "\n", "# nothing yet", "\xef\xbb\xbf", "keys = []"}) {
        const auto parsed = rules::parse_rules(text, "rdam.toml");
        REQUIRE(parsed.has_value());
        CHECK(*parsed == rules::Rules{});
    }
    CHECK(rules::parse_rules("threshold = 1", "rdam.toml")->threshold == 1.0);
}

TEST_CASE("what is wrong in a rules file is said with its line and the remedy") {
    CHECK(error_of("\nkeys = [").find("rdam.toml:2: ") == 0);
    CHECK(error_of("\n\nkyes = []") == "rdam.toml:3: kyes: no such rule; similar: keys");
    CHECK(error_of("no_keys = []") == "rdam.toml:1: no_keys: no such rule; similar: no-keys");
    CHECK(error_of("split_by_contexts = []") ==
          "rdam.toml:1: split_by_contexts: no such rule; similar: split-by-context");
    CHECK(error_of("[functions]\na = 1") ==
          "rdam.toml:1: functions: no such rule; there are keys, no-keys, split-by-context, ignore, "
          "given-back-by, "
          "woken-by, deep-keys, fold-loops, baseline, threshold");
    CHECK(error_of("keys = \"write:count\"") ==
          "rdam.toml:1: keys is not a list; write keys = [\"write:count\"]");
    CHECK(error_of("ignore = [\n\"f\",\n3]") ==
          "rdam.toml:3: ignore holds something other than names; write ignore = [\"write\"]");
    CHECK(error_of("ignore = [\"\"]") ==
          "rdam.toml:1: ignore holds something other than names; write ignore = [\"write\"]");
    CHECK(error_of("keys = [\n  \"write\",\n]") ==
          "rdam.toml:2: keys: write: not a parameter; write function:parameter, for example write:count");
    CHECK(error_of("[[keys]]\na = 1").find("rdam.toml:1: keys holds something other than names") == 0);
    CHECK(error_of("fold-loops = 1") ==
          "rdam.toml:1: fold-loops is neither true nor false; write fold-loops = true");
    CHECK(error_of("baseline = \"p99\"").find("rdam.toml:1: baseline is not thread, process, minimum") == 0);
    CHECK(error_of("baseline = 1").find("rdam.toml:1: baseline is not thread, process, minimum") == 0);
    for (const char* text : {"threshold = 1.5", "threshold = nan", "threshold = \"0.2\"", "threshold = -0.1"})
        CHECK(error_of(text) == "rdam.toml:1: threshold is not a score from 0 to 1; write threshold = 0.2");
    CHECK(error_of("ignore = []\nignore = []").find("rdam.toml:2: ") == 0);
}

TEST_CASE("a rules file that cannot be read is named") {
    const auto read = rules::read_rules("/nowhere/rdam.toml");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message ==
          "/nowhere/rdam.toml: cannot be opened: No such file or directory; give a rules file that you may "
          "read, or "
          "use --no-rules");
}

TEST_CASE("what is no file, or far too large, is said") {
    CHECK(rules::read_rules("/").error().message.find(
              "/: cannot be read: Is a directory; give a rules file") == 0);
    CHECK(rules::read_rules("/dev/zero").error().message.find("/dev/zero: larger than 1 MiB") == 0);
}

}  // namespace rdam::test
