#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "analyzer/settings/rules.h"
#include "tests/unit/catch.h"
#include "tests/unit/temporary_folder.h"

namespace rdam::test {
namespace {

rules::Rules read(const std::string& text) {
    auto parsed = rules::parse_rules(text, "rdam.toml");
    INFO(text);
    if (!parsed) FAIL(parsed.error().message);
    return std::move(*parsed);
}

std::string rewritten(const std::string& text, const rules::Rules& wanted) {
    auto changed = rules::rewrite_rules(text, wanted, "rdam.toml");
    INFO(text);
    if (!changed) FAIL(changed.error().message);
    return std::move(*changed);
}

std::string with_key(const std::string& text, const std::string& key) {
    rules::Rules wanted = read(text);
    wanted.named.keys.push_back(key);
    return rewritten(text, wanted);
}

std::string without_key(const std::string& text, const std::string& key) {
    rules::Rules wanted = read(text);
    std::erase(wanted.named.keys, key);
    return rewritten(text, wanted);
}

constexpr const char* kByHand = R"(# The shop, version 3
threshold = 0.20   # as ever

# What the work depends on
keys = [
    "a:n",  # measured in May
    # not sure about this one
    "b:n",
    'c:"x"'
]  # end of keys
ignore = ["log", "trace"] # too short
)";

using Folder = rdam::test::TemporaryFolder;

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("what a file says already stays to the byte") {
    for (const std::string text :
         {kByHand, "", "keys=[\"a:b\"]", "baseline = 'process'\r\n", "\xef\xbb\xbfignore = [ ]"})
        CHECK(rewritten(text, read(text)) == text);
}

TEST_CASE("a rule that comes stands last in its list") {
    CHECK(with_key(kByHand, "d:n") == R"(# The shop, version 3
threshold = 0.20   # as ever

# What the work depends on
keys = [
    "a:n",  # measured in May
    # not sure about this one
    "b:n",
    'c:"x"',
    "d:n",
]  # end of keys
ignore = ["log", "trace"] # too short
)");
    CHECK(with_key("keys = [\"a:n\"]", "b:n") == "keys = [\"a:n\", \"b:n\"]");
    CHECK(with_key("keys = [\"a:n\",]", "b:n") == "keys = [\"a:n\", \"b:n\",]");
    CHECK(with_key("keys = []", "b:n") == "keys = [\"b:n\"]");
    CHECK(with_key("keys = [\n]", "b:n") == "keys = [\n  \"b:n\",\n]");
    CHECK(with_key("keys = [ # none\n]", "b:n") == "keys = [ # none\n  \"b:n\",\n]");
    CHECK(with_key("keys = [\n\"a:n\" # why\n, # ha\n]", "b:n") ==
          "keys = [\n\"a:n\" # why\n, # ha\n\"b:n\",\n]");
    CHECK(with_key("keys = [\n  \"a:n\", \"b:n\"\n]", "c:n") ==
          "keys = [\n  \"a:n\", \"b:n\",\n  \"c:n\",\n]");
    CHECK(with_key("", "b:n") == "keys = [\n  \"b:n\",\n]\n");
    CHECK(with_key("threshold = 0.1", "b:n") == "threshold = 0.1\nkeys = [\n  \"b:n\",\n]\n");
    CHECK(with_key("", "operator\"\"_s:a\\b") == "keys = [\n  \"operator\\\"\\\"_s:a\\\\b\",\n]\n");
}

TEST_CASE("a rule that goes takes its line and the comment behind it along") {
    CHECK(without_key(kByHand, "a:n") == R"(# The shop, version 3
threshold = 0.20   # as ever

# What the work depends on
keys = [
    # not sure about this one
    "b:n",
    'c:"x"'
]  # end of keys
ignore = ["log", "trace"] # too short
)");
    CHECK(without_key(kByHand, "c:\"x\"").find("    \"b:n\",\n]  # end of keys\n") != std::string::npos);
    CHECK(without_key("keys = [\"a:n\", \"b:n\"] # x", "a:n") == "keys = [\"b:n\"] # x");
    CHECK(without_key("keys = [\"a:n\", \"b:n\"] # x", "b:n") == "keys = [\"a:n\"] # x");
    CHECK(without_key("keys = [\"a:n\"]", "a:n") == "keys = []");
    CHECK(without_key("keys = [\"a:n\", \"b:n\", \"a:n\"]", "a:n") == "keys = [\"b:n\"]");
    CHECK(without_key("keys = [\n\"a:n\" # why\n, # ha\n\"b:n\"]", "a:n") ==
          "keys = [\n# why\n # ha\n\"b:n\"]");
    CHECK(without_key("keys = [\n\"a:n\", # why\n\"b:n\"]", "b:n") == "keys = [\n\"a:n\", # why\n]");
}

TEST_CASE("values are changed, added and taken away") {
    rules::Rules wanted = read(kByHand);
    wanted.threshold = 0.5;
    wanted.baseline = "process";
    wanted.fold_loops = true;
    const std::string changed = rewritten(kByHand, wanted);
    CHECK(changed.find("threshold = 0.5   # as ever\n") != std::string::npos);
    CHECK(changed.ends_with("# too short\nfold-loops = true\nbaseline = \"process\"\n"));
    wanted.threshold.reset();
    wanted.fold_loops = false;
    const std::string again = rewritten(changed, wanted);
    CHECK(again.find("threshold") == std::string::npos);
    CHECK(again.ends_with("# too short\nfold-loops = false\nbaseline = \"process\"\n"));
}

TEST_CASE("random changes are made and undone, and comments stay") {
    const std::vector<std::string> names{"a:n", "b:n", "c:\"x\"", "d::e:f", "\xc3\xa9:n", "g:i % 4"};
    for (unsigned seed = 1; seed <= 2000; ++seed) {
        std::mt19937 random{seed};
        std::string text =
            seed % 2 == 0 ? kByHand
                          : "keys = ['a:n', \"b:n\", # one\n\"\xc3\xa9:n\"] # two\n# not sure about this one";
        for (int step = 0; step < 6; ++step) {
            rules::Rules wanted = read(text);
            for (auto* list : {&wanted.named.keys, &wanted.named.no_keys}) {
                const std::string& name = names[random() % names.size()];
                if (std::erase(*list, name) == 0) list->insert(list->begin(), name);
            }
            if (random() % 3 == 0) wanted.threshold = wanted.threshold ? std::nullopt : std::optional{0.25};
            INFO("seed " << seed << " step " << step);
            text = rewritten(text, wanted);
            rules::Rules now = read(text);
            for (auto list : {&score::NamedRules::keys, &score::NamedRules::no_keys}) {
                std::ranges::sort(now.named.*list);
                std::ranges::sort(wanted.named.*list);
            }
            CHECK(now == wanted);
            CHECK(text.find("# not sure about this one") != std::string::npos);
        }
    }
}

TEST_CASE("a broken file is not changed, and a name that is no UTF-8 not written") {
    CHECK_FALSE(rules::rewrite_rules("kyes = []", {}, "rdam.toml").has_value());
    rules::Rules wanted;
    wanted.named.ignore.emplace_back("\xff");
    const auto changed = rules::rewrite_rules("", wanted, "rdam.toml");
    REQUIRE_FALSE(changed.has_value());
    CHECK(changed.error().message ==
          "\\xff: cannot stand in a rules file, which holds UTF-8; use the name that the linker knows");
}

TEST_CASE("rules are written to a file and read back") {
    const Folder folder;
    const std::string path = folder.file("rdam.toml");
    rules::Rules wanted;
    wanted.named.keys = {"a:n"};
    wanted.threshold = 0.1;
    REQUIRE(rules::write_rules(path, wanted).has_value());
    CHECK(content(path).starts_with("# Rules for rdam analyze"));
    CHECK(rules::read_rules(path).value() == wanted);

    ::chmod(path.c_str(), 0640);
    std::filesystem::create_symlink("rdam.toml", folder.file("link.toml"));
    wanted.named.ignore = {"b"};
    REQUIRE(rules::write_rules(folder.file("link.toml"), wanted).has_value());
    CHECK(std::filesystem::is_symlink(folder.file("link.toml")));
    CHECK(rules::read_rules(path).value() == wanted);
    struct stat status = {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0640);
    const auto files = std::distance(std::filesystem::directory_iterator{folder.path()}, {});
    CHECK(files == 2);  // nothing is left over

    const auto nowhere = rules::write_rules(folder.file("no/rdam.toml"), wanted);
    REQUIRE_FALSE(nowhere.has_value());
    CHECK(nowhere.error().message.find("cannot be written: No such file or directory") != std::string::npos);
}

}  // namespace rdam::test
