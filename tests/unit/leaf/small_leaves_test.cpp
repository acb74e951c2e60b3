// Which functions of compiled code are marked.
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "wrappers/find/function_list.h"
#include "wrappers/hot/code_shape.h"
#include "wrappers/object/object_file.h"

using namespace rdam;

namespace {

const std::string kOptimised = FIXTURE_DIR "/libleaves_O2.so";
const std::string kUnoptimised = FIXTURE_DIR "/libleaves_O0.so";

HotReport report_of(const std::string& object, const std::string& name, double percent = 5) {
    HotReport report;
    report.hot.functions.push_back({object.substr(object.rfind('/') + 1), name, percent, {}});
    report.objects = {object};
    return report;
}

std::string mark_of(HotReport report) {
    mark_small_leaves(report, Catalogue::builtin());
    return report.hot.functions.front().leaf;
}

std::string mark_of(const std::string& object, const std::string& name, double percent = 5) {
    return mark_of(report_of(object, name, percent));
}

bool is_marked(const std::string& name) {
    INFO(name);
    const bool marked = !mark_of(kOptimised, name).empty();
    CHECK(marked == !mark_of(kUnoptimised, name).empty());
    return marked;
}

/// Offsets of the instructions of a function that are in loops.
std::vector<std::uint64_t> offsets_in_loop(const std::string& function) {
    const auto file = ObjectFile::open(kOptimised);
    REQUIRE(file.has_value());
    const auto found = file->named(function);
    REQUIRE(found.size() == 1);
    const auto extent = file->extent(file->symbols()[found[0]].address);
    REQUIRE(extent.has_value());
    const CodeShape shape = shape_of_code(file->code(extent->begin, extent->size()));
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t offset = 0; offset < shape.in_loop.size(); ++offset)
        if (shape.in_loop[offset]) offsets.push_back(offset);
    return offsets;
}

/// With so many samples at the entry of a function, and so many at each of the first two instructions of its
/// loop.
HotReport with_samples(const std::string& function, std::size_t entry, std::size_t loop) {
    const auto in_loop = offsets_in_loop(function);
    REQUIRE(in_loop.size() >= 2);
    auto report = report_of(kOptimised, function);
    for (std::size_t i = 0; i < entry; ++i)
        report.places.add("/somewhere/libleaves_O2.so", function, 0);
    for (std::size_t i = 0; i < loop; ++i)
        for (const std::uint64_t offset : {in_loop[0], in_loop[1]})
            report.places.add("/somewhere/libleaves_O2.so", function, offset);
    return report;
}

std::string mark_by_samples(std::size_t entry, std::size_t loop) {
    return mark_of(with_samples("large_with_loop", entry, loop));
}

}  // namespace

TEST_CASE("straight code is a leaf, and so are short loops if nothing else is known") {
    CHECK(is_marked("straight"));
    CHECK(is_marked("branches"));
    CHECK(is_marked("short_loop"));
    CHECK(is_marked("walks_list"));
    CHECK(is_marked("plain_store"));
    CHECK(is_marked("copies"));
    CHECK(is_marked("as_large_as_may_be"));
    CHECK_FALSE(is_marked("too_large"));
    CHECK_FALSE(is_marked("large_with_loop"));
}

TEST_CASE("samples outside of its loops tell how long a function takes") {
    // The 200 bytes of padding are an instruction each: 20 ns, of 36 and of 50.
    CHECK(mark_by_samples(200, 80).find("small leaf with a short loop (") == 0);
    CHECK(mark_by_samples(200, 150).empty());
    CHECK(mark_by_samples(0, 100).empty());
    // Too few to tell, and too large to be marked for its size.
    CHECK(mark_by_samples(1, 0).empty());
    CHECK_FALSE(mark_of(with_samples("short_loop", 4, 100)).empty());
    CHECK(mark_of(with_samples("short_loop", 1, 100)).empty());
    CHECK(mark_of(with_samples("short_loop", 2, 1000)).empty());
    CHECK(mark_of(with_samples("short_loop", 0, 50)).empty());
    CHECK_FALSE(mark_of(with_samples("short_loop", 0, 49)).empty());
    CHECK(mark_of(with_samples("never_returns", 200, 1)).empty());
}

TEST_CASE("what calls is no leaf, but for what never comes back") {
    for (const auto* name : {"calls", "calls_pointer"}) {
        INFO(name);
        for (const auto& object : {kOptimised, kUnoptimised}) {
            CHECK(mark_of(object, name).find("small and called often (") == 0);
            CHECK(mark_of(object, name, 0.01).empty());
        }
    }
    // Where code goes on is not known, or is not the function's own.
    CHECK(mark_of(kOptimised, "calls_last", 50).empty());
    CHECK(mark_of(kOptimised, "jumps_through_pointer", 50).empty());
    CHECK(mark_of(kOptimised, "calls_in_a_loop", 50).empty());
    CHECK(mark_of(kOptimised, "too_large_and_calls", 50).empty());
    CHECK_FALSE(mark_of(kOptimised, "checks").empty());
    CHECK_FALSE(mark_of(kOptimised, "with_cold_part").empty());
}

TEST_CASE("what waits, locks or asks the kernel is never marked") {
    for (const auto* name :
         {"spin_lock", "polls", "polls_bit", "pauses", "enters_kernel", "pthread_spin_unlock", "may_be_lock"})
        CHECK_FALSE(is_marked(name));
}

TEST_CASE("what is done once a call for others to see is marked where it is called often") {
    for (const auto* name : {"counts_atomically", "fences", "pauses_once"}) {
        INFO(name);
        for (const auto& object : {kOptimised, kUnoptimised}) {
            CHECK(mark_of(object, name).find("small and called often (") == 0);
            CHECK(mark_of(object, name, 0.001).empty());
        }
    }
}

TEST_CASE("samples outside of its loops tell how often a function is called that calls others") {
    const auto by_samples = [](std::size_t entry, std::size_t loop, double percent) {
        auto report = with_samples("calls_in_a_loop", entry, loop);
        report.hot.functions.front().percent = percent;
        return mark_of(report);
    };
    CHECK(by_samples(50, 50, 5).find("small and called often (") == 0);
    CHECK(by_samples(50, 50, 0.1).empty());
    CHECK(by_samples(50, 50'000, 5).empty());
    CHECK(by_samples(9, 9, 5).empty());
}

TEST_CASE("functions of libc, and what is chosen when the program starts") {
    const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
    CHECK(mark_of(libc, "strlen") == "small leaf (its code is chosen when the program starts)");
    CHECK(mark_of(libc, "memcpy") == mark_of(libc, "strlen"));
    CHECK_FALSE(mark_of(libc, "__errno_location").empty());
    for (const auto* name : {"write", "getpid", "pthread_mutex_lock", "pthread_mutex_unlock", "sem_post",
                             "malloc", "pthread_spin_lock", "pthread_spin_unlock", "sched_yield", "qsort"})
        CHECK(mark_of(libc, name).empty());
}

TEST_CASE("what is no code, in no file or one of several is not marked") {
    CHECK_FALSE(is_marked("no_instruction"));
    CHECK_FALSE(is_marked("first_twin"));
    CHECK_FALSE(is_marked("no_such_function"));
    // Two functions, of which one loops and calls.
    CHECK_FALSE(is_marked("twin"));
    CHECK(mark_of("/no/such/file.so", "straight").empty());
    CHECK(mark_of("/etc/passwd", "straight").empty());
    auto elsewhere = report_of(kOptimised, "straight");
    elsewhere.hot.functions.front().module = "other.so";
    CHECK(mark_of(elsewhere).empty());
    auto anywhere = report_of(kOptimised, "straight");
    anywhere.hot.functions.front().module.clear();
    CHECK_FALSE(mark_of(anywhere).empty());
}

TEST_CASE("the list says why, and reads back as marked") {
    auto report = report_of(kOptimised, "short_loop");
    report.hot.functions.push_back({"libleaves_O2.so", "calls_in_a_loop", 4.0, {}});
    report.waits = {"write"};
    mark_small_leaves(report, Catalogue::builtin());
    const std::string text = hot_list_text(report);
    INFO(text);
    CHECK(text.find("~libleaves_O2.so:short_loop  # 5.0 %, small leaf with a short loop (") == 0);
    CHECK(text.find("\nlibleaves_O2.so:calls_in_a_loop  # 4.0 %\nwrite  # wait\n") != std::string::npos);
    const auto list = parse_function_list(text, "hot.txt");
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 3);
    CHECK(list->entries[0].sampled);
    CHECK(list->entries[0].name == "short_loop");
    CHECK_FALSE(list->entries[1].sampled);
    CHECK_FALSE(list->entries[2].sampled);
}
