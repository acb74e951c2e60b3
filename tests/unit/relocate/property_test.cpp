// Every function of real libraries: moved so that it means the same, or refused with a reason.
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/relocate/correspondence.h"
#include "tests/unit/relocate/elf_functions.h"
#include "wrappers/entry/relocate.h"

namespace {

using rdam::test::ElfFunction;
using rdam::test::ElfFunctions;

struct Tally {
    std::size_t moved = 0;
    std::size_t moved_short = 0;
    std::size_t jump_before = 0;
    std::size_t refused = 0;
    std::size_t longest_code = 0;
    std::map<std::string, std::size_t> reasons;
    std::map<std::string, std::string> example;
};

/// Offsets and sizes replaced, so that equal reasons count as one.
std::string without_numbers(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (!digit)
            result += c;
        else if (result.empty() || result.back() != 'N')
            result += 'N';
    }
    return result;
}

void take_in(const ElfFunction& function, std::span<const std::uint64_t> entries, Tally& tally) {
    const auto moved = rdam::move_prologue(function.body, function.address, function.padding, entries,
                                           function.padding_before);
    if (!moved) {
        REQUIRE_FALSE(moved.error().message.empty());
        ++tally.refused;
        const std::string reason = without_numbers(moved.error().message);
        ++tally.reasons[reason];
        tally.example[reason] = function.name;
        return;
    }
    const std::string problem = rdam::test::difference(function.body, function.address, *moved);
    if (!problem.empty()) FAIL(function.name << " at " << function.address << ": " << problem);
    ++tally.moved;
    tally.moved_short += moved->original.size() < rdam::plan::kPatchSize ? 1 : 0;
    tally.jump_before += moved->jump_before > 0 ? 1 : 0;
    tally.longest_code = std::max(tally.longest_code, moved->code.size());
}

Tally take_all(const ElfFunctions& elf) {
    Tally tally;
    for (const ElfFunction& function : elf.functions) {
        const auto first = std::lower_bound(elf.addresses.begin(), elf.addresses.end(), function.address);
        const auto last =
            std::lower_bound(first, elf.addresses.end(), function.address + function.body.size());
        take_in(function, std::span(first, last), tally);
    }
    return tally;
}

void print(const std::string& path, const Tally& tally) {
    fmt::print(
        "{}: {} functions moved ({} of them shorter than the patch, {} with the jump before them), {} "
        "refused, "
        "longest code {} bytes\n",
        path, tally.moved, tally.moved_short, tally.jump_before, tally.refused, tally.longest_code);
    for (const auto& [reason, count] : tally.reasons)
        fmt::print("  {:6}  {}  (such as {})\n", count, reason, tally.example.at(reason));
}

/// The path of the loaded object whose file name begins so.
std::string loaded_object(const std::string& begins) {
    struct Search {
        std::string begins;
        std::string path;
    } search{begins, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& wanted = *static_cast<Search*>(data);
            if (std::filesystem::path(info->dlpi_name).filename().string().starts_with(wanted.begins))
                wanted.path = info->dlpi_name;
            return 0;
        },
        &search);
    return search.path;
}

void check_object(const std::string& path) {
    const ElfFunctions elf = rdam::test::read_functions(path);
    REQUIRE(elf.functions.size() > 100);
    const Tally tally = take_all(elf);
    print(path, tally);
    CHECK(tally.moved + tally.refused == elf.functions.size());
    CHECK(tally.refused * 20 < elf.functions.size());
}

}  // namespace

TEST_CASE("every function of libc is moved correctly or refused with a reason") {
    check_object(loaded_object("libc.so"));
}

TEST_CASE("functions of libc that are entered behind a short patch are moved correctly all the same") {
    const ElfFunctions elf = rdam::test::read_functions(loaded_object("libc.so"));
    Tally tally;
    for (const ElfFunction& function : elf.functions) {
        const std::uint64_t entry = function.address + rdam::kShortPatchSize;
        if (!function.padding_before.empty() && function.body.size() > rdam::kShortPatchSize)
            take_in(function, {&entry, 1}, tally);
    }
    print("libc, entered at +2", tally);
    CHECK(tally.jump_before == tally.moved);
    CHECK(tally.jump_before > 100);
}

TEST_CASE("every function of libstdc++ is moved correctly or refused with a reason") {
    check_object(loaded_object("libstdc++.so"));
}

TEST_CASE("every function of this program is moved correctly or refused with a reason") {
    check_object("/proc/self/exe");
}

TEST_CASE("every function of libcrypto is moved correctly or refused with a reason") {
    const std::string path = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3";
    if (!std::filesystem::exists(path)) {
        WARN("skipped: " << path << " is not installed");
        return;
    }
    check_object(path);
}
