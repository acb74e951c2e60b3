#include <algorithm>
#include <map>
#include <set>

#include "analyzer/sequences/sequence_builder.h"
#include "analyzer/sequences/sequence_names.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::test {
namespace {

using sequences::GroupId;

/// Builds sequences from a word: a letter opens that function, `)` closes the innermost, `!` abandons it,
/// digits behind a letter are its keys. "a(" reads well but the bracket is optional.
class Speller {
  public:
    explicit Speller(sequences::SequenceOptions options = {}, std::size_t max_runs = sequences::kMaxRuns)
        : builder_(store, options, max_runs) {}

    /// The group of the last call closed.
    GroupId operator()(const std::string& text) {
        GroupId last = UINT32_MAX;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == ')') {
                last = builder_.close();
            } else if (text[i] == '!') {
                builder_.abandon(1);
            } else if (text[i] >= 'a' && text[i] <= 'z') {
                std::vector<std::uint64_t> keys;
                while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') {
                    keys.push_back(static_cast<std::uint64_t>(text[++i] - '0'));
                }
                const char function = i >= keys.size() ? text[i - keys.size()] : text[i];
                builder_.open(static_cast<std::uint32_t>(function - 'a'), keys);
            }
        }
        return last;
    }

    std::uint64_t too_long() const { return builder_.too_long(); }

    sequences::SequenceStore store{26};

  private:
    sequences::SequenceBuilder builder_;
};

std::string repeated(const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i)
        out += text;
    return out;
}

}  // namespace

TEST_CASE("the same function with the same children is the same sequence", "[sequences]") {
    Speller spell;
    const GroupId ab = spell("a(b()c())");
    CHECK(spell("a(b()c())") == ab);
    CHECK(spell("a(c()b())") != ab);
    CHECK(spell("a(b()c()c())") != ab);
    CHECK(spell("a(b(c()))") != ab);
    CHECK(spell("d(b()c())") != ab);
    CHECK(spell("a()") != ab);
    CHECK(spell("a()") == spell("a()"));
}

TEST_CASE("how often a child is repeated is part of the sequence, unless loops are folded", "[sequences]") {
    Speller spell;
    CHECK(spell("a(b()b()b())") != spell("a(b()b()b()b())"));
    Speller fold{{.fold_loops = true}};
    CHECK(fold("a(b()b()b())") == fold("a(b())"));
    CHECK(fold("a(b()b()c()b())") == fold("a(b()c()c()b())"));
    CHECK(fold("a(b()c())") != fold("a(b()c()b())"));
    CHECK(fold("a(b()b()d!b()b()c())") == fold("a(b()d!b()c())"));
}

TEST_CASE("the children of an open call are counted even where loops are folded", "[sequences]") {
    for (const bool fold_loops : {false, true}) {
        sequences::SequenceStore store{26};
        sequences::SequenceBuilder builder{store, {.fold_loops = fold_loops}};
        builder.open(0, {});
        for (const std::uint32_t function : {1U, 1U, 1U, 2U, 1U}) {
            builder.open(function, {});
            builder.close();
        }
        std::vector<std::uint32_t> counts;
        for (const sequences::Run& run : builder.children())
            counts.push_back(run.count);
        CHECK(counts == std::vector<std::uint32_t>{3, 1, 1});
    }
}

TEST_CASE("a call's keys tell it apart, its children's do not", "[sequences]") {
    Speller spell;
    CHECK(spell("a1()") != spell("a2()"));
    CHECK(spell("a1()") == spell("a1()"));
    CHECK(spell("a12()") != spell("a21()"));
    CHECK(spell("a(b1())") == spell("a(b2())"));
    CHECK(spell("a(b1()b2())") == spell("a(b3()b3())"));
}

TEST_CASE("with deep keys the children's keys count as well", "[sequences]") {
    Speller spell{{.deep_keys = true}};
    CHECK(spell("a(b1())") != spell("a(b2())"));
    CHECK(spell("a(b1())") == spell("a(b1())"));
    CHECK(spell("a1(b1())") != spell("a2(b1())"));
}

TEST_CASE("what an abandoned call contained stands beside it", "[sequences]") {
    Speller spell;
    const GroupId jumped = spell("a(b(c()!)");
    CHECK(spell("a(b(c()!)") == jumped);
    CHECK(spell("a(b()c())") != jumped);
    CHECK(spell("a(b!c())") == jumped);
    CHECK(spell("a(b(!c())") == jumped);
}

TEST_CASE("calls abandoned one after the other become the list that they become at once", "[sequences]") {
    // Each of another function, so that no neighbours are equal; with all of them moved each time this would take minutes.
    constexpr std::uint32_t kCalls = 200'000;
    sequences::SequenceStore at_once_store{kCalls + 2}, one_by_one_store{kCalls + 2};
    const auto shape = [](sequences::SequenceStore& store, bool at_once) {
        sequences::SequenceBuilder builder{store, {}};
        builder.open(kCalls);
        for (std::uint32_t function = 0; function < kCalls; ++function)
            builder.open(function);
        builder.open(kCalls + 1);
        builder.close();
        if (at_once) builder.abandon(kCalls);
        for (std::uint32_t i = 0; i < kCalls && !at_once; ++i)
            builder.abandon(1);
        CHECK(builder.children().size() == kCalls + 1);
        return builder.close_shape().shape;
    };
    const sequences::ShapeId at_once = shape(at_once_store, true),
                             one_by_one = shape(one_by_one_store, false);
    const auto expected = at_once_store.runs(at_once_store.shape(at_once));
    CHECK(std::ranges::equal(
        one_by_one_store.runs(one_by_one_store.shape(one_by_one)), expected,
        [&](const auto& a, const auto& b) {
            return one_by_one_store.shape(a.child).function == at_once_store.shape(b.child).function &&
                   one_by_one_store.shape(a.child).kind == at_once_store.shape(b.child).kind;
        }));
}

TEST_CASE("several calls abandoned at once become a flat list", "[sequences]") {
    sequences::SequenceStore store{3};
    sequences::SequenceBuilder builder{store, {}};
    const auto run = [&] {
        builder.open(0, {});
        for (int i = 0; i < 50000; ++i)
            builder.open(1, {});
        builder.abandon(50000);
        return builder.close();
    };
    CHECK(run() == run());
    CHECK(store.shapes() == 2);
}

TEST_CASE("a million equal children take the room of one", "[sequences]") {
    sequences::SequenceStore store{2};
    sequences::SequenceBuilder builder{store, {}};
    builder.open(0, {});
    for (int i = 0; i < 1000000; ++i) {
        builder.open(1, {});
        builder.close();
    }
    const sequences::Shape& shape = store.shape(store.group(builder.close()).shape);
    REQUIRE(shape.runs == 1);
    CHECK(store.runs(shape)[0].count == 1000000);
}

TEST_CASE("a call with too many different children equals nothing", "[sequences]") {
    Speller spell{{}, 4};
    const std::string fits = "a(" + repeated("b()c()", 2) + ")";
    const std::string longer = "a(" + repeated("b()c()", 3) + ")";
    CHECK(spell(fits) == spell(fits));
    CHECK(spell(longer) != spell(longer));
    CHECK(spell.too_long() == 2);
}

TEST_CASE("equal hashes do not make equal sequences", "[sequences]") {
    sequences::SequenceStore store{2};
    const sequences::ShapeId leaf = store.leaf(1);
    const sequences::Run once{leaf, 1}, twice{leaf, 2};
    constexpr std::uint64_t kSameHash = 42;
    const sequences::ShapeId a = store.intern(0, {}, {&once, 1}, kSameHash);
    const sequences::ShapeId b = store.intern(0, {}, {&twice, 1}, kSameHash);
    CHECK(a != b);
    CHECK(store.intern(0, {}, {&once, 1}, kSameHash) == a);
    CHECK(store.intern(0, {}, {&twice, 1}, kSameHash) == b);
}

TEST_CASE("names show keys, children and repetitions", "[sequences]") {
    Recording recording{4, 2};
    recording.info.functions[1].parameters[0].kind = 2;  // a pointer
    const auto names = resolved(recording, {.given = {.keys = {"b:k", "a:n"}}});
    Speller spell;
    const auto name = [&](const std::string& text) {
        return sequences::sequence_name(spell.store, spell(text), recording.info, names.keys);
    };
    CHECK(name("a5(b9()b8()c(d(a1())))") == "a(n=5)[b ×2, c[d[…]]]");
    CHECK(name("b9()") == "b(k=0x9)");
    CHECK(name("c(b1()d!)") == "c[b, d(left)]");
    CHECK(name("a5(" + repeated("b9()c()", 20) + ")") == "a(n=5)[b, c, b, c, b, c, b, c, … 32 more]");
}

TEST_CASE("ids do not depend on the order in which sequences were met", "[sequences]") {
    const Recording recording{4, 0};
    Speller one, other;
    const GroupId first = one("a(b()c())");
    other("c()");
    other("b(c())");
    const GroupId second = other("a(b()c())");
    REQUIRE(first != second);
    const auto keys = resolved(recording).keys;
    CHECK(sequences::lasting_ids(one.store, recording.info, keys)[first] ==
          sequences::lasting_ids(other.store, recording.info, keys)[second]);
    const auto ids = sequences::lasting_ids(other.store, recording.info, keys);
    CHECK(std::set<std::uint64_t>(ids.begin(), ids.end()).size() == ids.size());
}

TEST_CASE("sequences that differ in who calls whom have ids of their own", "[sequences]") {
    const Recording recording{4, 0};
    Speller spell;
    for (const char* text : {"a(b())", "b(a())", "a(a())", "b(b())", "a(b(c()))", "c(b(a()))", "b(c(a()))",
                             "a(b()b())", "a(b()a())", "b(a()b())", "d(a()b())", "d(b()a())"})
        spell(text);
    const auto ids = sequences::lasting_ids(spell.store, recording.info, resolved(recording).keys);
    CHECK(std::set<std::uint64_t>(ids.begin(), ids.end()).size() == ids.size());
}

namespace {

/// A program that was loaded at `base`: a() is called from two places in it, then once from nowhere known.
struct Loaded {
    explicit Loaded(std::uint64_t base, bool deep = false) {
        recording.info.objects.push_back(
            {.path = "/opt/bin/app", .build_id = {}, .base = base, .end = base + 0x2000});
        auto& thread = recording.thread(0, 1000);
        std::uint64_t at = 10;
        for (const std::uint64_t caller : {base + 0x1139, base + 0x1139, base + 0x2000, std::uint64_t{0},
                                           base + 0x2000, std::uint64_t{0}}) {
            thread.enter(at, 1, {}, 0).enter(at + 1, 0, {7, 8}, caller).leave(at + 2, 0).leave(at + 3, 1);
            at += 10;
        }
        report = analyze(recording, {.sequences = {.deep_keys = deep},
                                     .given = {.keys = {"a:k"}, .split_by_context = {"a"}}});
    }

    std::map<std::string, std::uint64_t> ids(const std::string& function) const {
        std::map<std::string, std::uint64_t> out;
        for (const score::SequenceRow& sequence : row(report, function).sequences)
            out.emplace(sequence.name, sequence.id);
        return out;
    }

    Recording recording{2, 2};
    score::Report report;
};

}  // namespace

TEST_CASE("calls told apart by their place show it as object and offset", "[sequences]") {
    const Loaded loaded{0x400000};
    const auto ids = loaded.ids("a");
    REQUIRE(ids.size() == 3);
    CHECK(ids.contains("a(k=7, from app+0x1139)"));
    CHECK(ids.contains("a(k=7, from app+0x2000)"));  // the call is the last instruction of the object
    CHECK(ids.contains("a(k=7, from unknown)"));
    for (const score::SequenceRow& sequence : row(loaded.report, "a").sequences) {
        const bool known = sequence.name.find("app") != std::string::npos;
        CHECK((sequence.caller != 0) == known);
        CHECK(sequence.occurrences == 2);
    }
}

TEST_CASE("ids of sequences are the same wherever the program was loaded", "[sequences]") {
    for (const bool deep : {false, true}) {
        const Loaded here{0x400000, deep}, there{0x7f0000400000, deep};
        CHECK(here.ids("a").size() == 3);
        CHECK(here.ids("a") == there.ids("a"));
        CHECK(here.ids("b").size() == (deep ? 3 : 1));
        CHECK(here.ids("b") == there.ids("b"));
        std::set<std::uint64_t> distinct;
        for (const auto& [name, id] : here.ids("a"))
            distinct.insert(id);
        CHECK(distinct.size() == 3);
    }
}

TEST_CASE("later changes of keys win, and a place is the last key", "[sequences]") {
    const Recording recording{2, 2};
    const auto count = [&](std::initializer_list<sequences::KeyChanges> changes) {
        const auto keys = sequences::make_keys(recording.info, changes);
        REQUIRE(keys.has_value());
        return (*keys)[0];
    };
    const std::vector<std::string> k{"a:k"}, all{"a:*"}, a{"a"};
    CHECK(count({{.add = k}}).size() == 1);
    CHECK(count({{.add = k}, {.remove = k}}).empty());
    CHECK(count({{.remove = k}, {.add = k}}).size() == 1);
    CHECK(count({{.add = all, .remove = k}}).size() == 1);
    const auto keys = count({{.split_by_context = a}, {.add = all}});
    REQUIRE(keys.size() == 3);
    CHECK_FALSE(keys[1].is_caller());
    CHECK(keys[2].is_caller());
    const auto wrong = sequences::make_keys(recording.info, {{.split_by_context = k}});
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().message.find("a:k: the trace has no such function") == 0);
}

TEST_CASE("calls of syscall() that are about a futex are told apart by it, and by what they do",
          "[sequences]") {
    Recording recording{1, 4};
    trace::FunctionInfo& function = recording.info.functions[0];
    function.name = function.linkage_name = "syscall";
    function.waits = true;
    function.parameters.clear();
    for (std::uint16_t word = 0; word < 4; ++word)
        function.parameters.push_back({.name = word == 0 ? "number" : "arg" + std::to_string(word),
                                       .word = word,
                                       .key = word < 3,
                                       .type = {}});
    const std::uint64_t futex = 202, one_another = 0x100000001;
    ThreadRecording& thread = recording.thread(0, 1000);
    // What is seen once is not listed.
    for (const std::uint64_t at : {10, 500})
        thread
            .call(at, 0, 5, {futex, 0x5000, 0 | 128, 7})       // FUTEX_WAIT_PRIVATE
            .call(at + 10, 0, 5, {futex, 0x5000, 9 | 256, 8})  // FUTEX_WAIT_BITSET, by the clock
            .call(at + 20, 0, 5, {futex, 0x6000, 1 | 128, 1})  // FUTEX_WAKE_PRIVATE
            .call(at + 30, 0, 5, {futex, 0x6000, 10, 1})  // FUTEX_WAKE_BITSET: which of them, is not known
            .call(at + 40, 0, 5, {futex, 0x6000, 1, INT32_MAX})  // likewise, of all
            .call(at + 45, 0, 5, {futex, 0x6000, 1, 2})          // two of them, likewise
            .call(at + 50, 0, 5, {futex, 0x6000, 4, 1})          // FUTEX_CMP_REQUEUE
            .call(at + 60, 0, 5, {186, 0x5000, 0, 7})            // gettid, and what was in the registers
            .call(at + 70, 0, 5, {186, 0x7000, 1, one_another});
    std::vector<std::string> names;
    const score::Report report = analyze(recording);
    for (const auto& row : report.functions[0].sequences)
        names.push_back(row.name);
    std::ranges::sort(names);
    CHECK(names == std::vector<std::string>{"syscall(number=186)",
                                            "syscall(number=202, arg1=20480, arg2=wait)",
                                            "syscall(number=202, arg1=24576, arg2=moves)",
                                            "syscall(number=202, arg1=24576, arg2=other)",
                                            "syscall(number=202, arg1=24576, arg2=wake all)",
                                            "syscall(number=202, arg1=24576, arg2=wake one)"});
}

TEST_CASE("values are shown as their type says", "[sequences]") {
    const auto shown = [](ValueKind kind, std::uint8_t size, std::uint64_t value) {
        trace::ParameterInfo parameter;
        parameter.kind = static_cast<std::uint8_t>(kind);
        parameter.size = size;
        return sequences::format_value(parameter, value);
    };
    CHECK(shown(ValueKind::signed_integer, 4, 0xffffffff) == "-1");
    CHECK(shown(ValueKind::signed_integer, 8, UINT64_MAX) == "-1");
    CHECK(shown(ValueKind::unsigned_integer, 4, 0xffffffff) == "4294967295");
    CHECK(shown(ValueKind::unsigned_integer, 4, 0x100000007) == "7");
    CHECK(shown(ValueKind::pointer, 8, 0x7f00) == "0x7f00");
    CHECK(shown(ValueKind::boolean, 1, 1) == "true");
    CHECK(shown(ValueKind::floating, 8, 0x4004000000000000) == "2.5");
    CHECK(shown(ValueKind::floating, 4, 0x40200000) == "2.5");
    CHECK(shown(ValueKind::enumeration, 4, 3) == "3");
}

TEST_CASE("texts are shown as they are, as far as the trace has them", "[sequences]") {
    trace::TraceInfo info;
    info.texts = {"/etc/passwd", std::string("\x1b[31m") + std::string(500, 'y') + "end"};
    trace::ParameterInfo parameter;
    parameter.is_text = true;
    CHECK(sequences::shown_value(info, parameter, 1) == "\"/etc/passwd\"");
    const std::string cut = sequences::shown_value(info, parameter, 2);
    CHECK(cut.size() < 80);
    CHECK(cut.find('\x1b') == std::string::npos);
    CHECK(cut.ends_with("end\""));
    info.texts = {R"(two "quoted" \ words)", std::string(100, '"')};
    CHECK(sequences::shown_value(info, parameter, 1) == R"("two \"quoted\" \\ words")");
    CHECK(sequences::shown_value(info, parameter, 2).find(R"(\"\"…\"\")") != std::string::npos);
    CHECK(sequences::shown_value(info, parameter, 0) == "-");
    CHECK(sequences::shown_value(info, parameter, 3) == "text 3");
    parameter.is_text = false;
    CHECK(sequences::shown_value(info, parameter, 1) == "1");
}

}  // namespace rdam::test
