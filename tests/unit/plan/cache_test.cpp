// Plans that are kept: what makes one usable again, and what does not.
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/object/fixtures.h"
#include "tests/unit/temporary_folder.h"
#include "wrappers/entry/moved_frames.h"
#include "wrappers/plan/cached_plan.h"

namespace {

namespace fs = std::filesystem;
using rdam::Catalogue;
using rdam::Plan;
using rdam::PlanRequest;
using rdam::PlanStore;
using rdam::test::kFixtures;

constexpr const char* kMark = "from the store";
constexpr std::uint64_t kCatalogue = 7;

Plan by_builtin(const PlanRequest& request) {
    return make_plan(request, Catalogue::builtin());
}

std::uint64_t base_of_libc() {
    std::uint64_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* found) {
            if (std::strstr(info->dlpi_name, "libc.so.6") != nullptr)
                *static_cast<std::uint64_t*>(found) = info->dlpi_addr;
            return 0;
        },
        &base);
    return base;
}

/// A folder with a library, a store, and a request for the library's functions.
class Folder {
  public:
    Folder() {
        library = path / "libsymbols.linked.so";
        fs::copy_file(kFixtures / "libsymbols.linked.so", library);
        fs::copy_file(kFixtures / "libsymbols.linked.debug", path / "libsymbols.linked.debug");
        request.list = *rdam::parse_function_list("twin\nno_such_function\n", "test");
        request.objects = {{library.string(), "", 0x10000},
                           {"/lib/x86_64-linux-gnu/libc.so.6", "", 0x7000000}};
        request.has_executable = false;
        request.resolve_ifunc = [](std::uint64_t) { return std::uint64_t{0}; };
    }

    PlanStore store() const { return PlanStore{(path / "store").string()}; }
    Plan plan(const PlanRequest& asked) const {
        return make_cached_plan(asked, kCatalogue, store(), by_builtin);
    }
    /// Puts a plan into the store that no planner would make.
    void keep_marked(const PlanRequest& asked) const {
        plan(asked);
        const std::string key = plan_key(asked, kCatalogue);
        const auto bytes = store().load(key);
        REQUIRE(bytes.has_value());
        auto record = rdam::decode(*bytes);
        REQUIRE(record.has_value());
        REQUIRE_FALSE(record->plan.answers.empty());
        record->plan.answers.front().reason = kMark;
        store().save(key, rdam::encode(*record));
        REQUIRE(is_known(asked));
    }
    bool is_known(const PlanRequest& asked) const { return plan(asked).answers.front().reason == kMark; }
    fs::path kept_file() const {
        for (const auto& entry : fs::directory_iterator{path / "store"})
            return entry.path();
        return {};
    }

    rdam::test::TemporaryFolder temporary;
    fs::path path = temporary.path();
    fs::path library;
    PlanRequest request;
};

void append_byte(const fs::path& file) {
    std::ofstream{file, std::ios::app | std::ios::binary} << 'x';
}

std::string text_of(const fs::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

void write_text(const fs::path& file, const std::string& text) {
    std::ofstream{file, std::ios::binary} << text;
}

}  // namespace

TEST_CASE("a kept plan is the plan") {
    const Folder folder;
    const Plan made = make_plan(folder.request, Catalogue::builtin());
    REQUIRE(made.functions.size() == 2);
    const auto bytes_of = [](const Plan& plan) { return rdam::encode({"", {}, {}, plan}); };
    CHECK(bytes_of(folder.plan(folder.request)) == bytes_of(made));
    CHECK(bytes_of(folder.plan(folder.request)) == bytes_of(made));
    CHECK_FALSE(folder.kept_file().empty());
}

TEST_CASE("a kept plan is used wherever the objects are loaded") {
    Folder folder;
    folder.keep_marked(folder.request);
    folder.request.objects[0].base = 0x555500000000;
    folder.request.objects[1].base = 0x7f0000000000;
    CHECK(folder.is_known(folder.request));
}

TEST_CASE("a list that has moved is the same list") {
    Folder folder;
    folder.keep_marked(folder.request);
    folder.request.list = *rdam::parse_function_list("# moved\ntwin\nno_such_function\n", "elsewhere");
    const Plan plan = folder.plan(folder.request);
    CHECK(plan.answers.front().reason == kMark);
    CHECK(plan.answers.front().entry.origin == "elsewhere:2");
    CHECK(plan.answers.back().entry.origin == "elsewhere:3");
}

TEST_CASE("any other request is planned anew") {
    Folder folder;
    folder.keep_marked(folder.request);
    const std::vector<std::pair<std::string, std::function<void(PlanRequest&)>>> changes{
        {"list", [](auto& r) { r.list = *rdam::parse_function_list("twin\nno_such\n", "test"); }},
        {"mark", [](auto& r) { r.list.entries[1].added_wait = true; }},
        {"sampling", [](auto& r) { r.list.entries[0].sampled = true; }},
        {"order of the list", [](auto& r) { std::swap(r.list.entries[0], r.list.entries[1]); }},
        {"arguments", [](auto& r) { r.record_arguments = false; }},
        {"executable", [](auto& r) { r.has_executable = true; }},
        {"own objects", [](auto& r) { r.own_objects.push_back("/own.so"); }},
        {"build-id", [](auto& r) { r.objects[0].build_id = "abcdef"; }},
        {"fewer objects", [](auto& r) { r.objects.pop_back(); }},
        {"order of objects", [](auto& r) { std::swap(r.objects[0], r.objects[1]); }},
        {"path", [](auto& r) { r.objects[1].path = "/usr/lib/x86_64-linux-gnu/libc.so.6"; }},
    };
    for (const auto& [what, change] : changes) {
        INFO(what);
        PlanRequest other = folder.request;
        change(other);
        CHECK_FALSE(folder.is_known(other));
    }
    CHECK(folder.is_known(folder.request));
    CHECK(
        make_cached_plan(folder.request, kCatalogue + 1, folder.store(), by_builtin).answers.front().reason !=
        kMark);
}

TEST_CASE("a changed file is planned for anew") {
    const Folder folder;
    const fs::path debug = folder.path / "libsymbols.linked.debug";
    const auto changes = std::vector<std::function<void()>>{
        [&] { append_byte(folder.library); },
        [&] { append_byte(debug); },
        [&] { fs::rename(debug, folder.path / "away"); },
        [&] { fs::rename(folder.path / "away", debug); },
    };
    for (std::size_t index = 0; index < changes.size(); ++index) {
        INFO(index);
        folder.keep_marked(folder.request);
        changes[index]();
        CHECK_FALSE(folder.is_known(folder.request));
    }
}

TEST_CASE("a debug file that was not there is looked for") {
    const Folder folder;
    fs::remove(folder.path / "libsymbols.linked.debug");
    folder.keep_marked(folder.request);
    fs::create_directory(folder.path / ".debug");
    CHECK(folder.is_known(folder.request));
    fs::copy_file(kFixtures / "libsymbols.linked.debug", folder.path / ".debug/libsymbols.linked.debug");
    CHECK_FALSE(folder.is_known(folder.request));
}

TEST_CASE("an IFUNC's choice is asked for anew") {
    Folder folder;
    folder.request.list = *rdam::parse_function_list("memcpy\n", "test");
    folder.request.objects[1].base = base_of_libc();
    std::uint64_t asked = 0;
    std::uint64_t shift = 0;
    folder.request.resolve_ifunc = [&](std::uint64_t resolver) {
        ++asked;
        const std::uint64_t moved = folder.request.objects[1].base - base_of_libc();
        return reinterpret_cast<std::uint64_t (*)()>(resolver - moved)() + moved + shift;
    };
    folder.keep_marked(folder.request);
    const std::uint64_t before = asked;
    REQUIRE(before > 0);
    CHECK(folder.is_known(folder.request));
    CHECK(asked > before);
    folder.request.objects[1].base += 0x100000;
    CHECK(folder.is_known(folder.request));
    shift = 1;
    CHECK_FALSE(folder.is_known(folder.request));
    folder.request.resolve_ifunc = [](std::uint64_t) { return std::uint64_t{0}; };
    CHECK_FALSE(folder.is_known(folder.request));
}

TEST_CASE("a damaged plan is none, nor one of an older form: both are made anew") {
    const Folder folder;
    folder.keep_marked(folder.request);
    const std::string good = text_of(folder.kept_file());
    const std::vector<std::uint8_t> bytes(good.begin(), good.end());
    REQUIRE(rdam::decode(bytes).has_value());
    for (std::size_t size = 0; size < bytes.size(); size += 7)
        CHECK_FALSE(rdam::decode(std::span{bytes}.first(size)).has_value());
    for (std::size_t at = 0; at < bytes.size(); at += 5) {
        auto damaged = bytes;
        damaged[at] ^= 0x10;
        CHECK_FALSE(rdam::decode(damaged).has_value());
    }
    std::string older = good;
    --older[7];  // the form's number, at the end of its mark
    for (const std::string& useless : {good.substr(0, good.size() / 2), older}) {
        write_text(folder.kept_file(), useless);
        CHECK_FALSE(folder.is_known(folder.request));
        CHECK(rdam::decode(*folder.store().load(plan_key(folder.request, kCatalogue))).has_value());
        folder.keep_marked(folder.request);
    }
}

TEST_CASE("a plan that no planner makes is none, whatever its checksum") {
    const Folder folder;
    const Plan good = make_plan(folder.request, Catalogue::builtin());
    REQUIRE(is_sound(good, folder.request.objects.size()));
    const auto is_refused = [&](auto change) {
        Plan plan = good;
        change(plan.functions.front());
        return !rdam::decode(rdam::encode({"", {}, {}, plan})).has_value();
    };
    CHECK_FALSE(is_refused([](auto&) {}));
    CHECK(
        is_refused([](auto& f) { f.prologue.code.resize(rdam::kMaxMovedCode + rdam::kMaxDescription + 1); }));
    CHECK(is_refused(
        [](auto& f) { f.prologue.description = static_cast<std::uint32_t>(f.prologue.code.size()); }));
    CHECK(is_refused([](auto& f) { f.prologue.original.resize(rdam::plan::kMaxMoved + 1); }));
    CHECK(is_refused([](auto& f) { f.prologue.jump_before = 4; }));
    CHECK(is_refused([](auto& f) {
        f.prologue.fixups.push_back({static_cast<std::uint32_t>(f.prologue.code.size()) - 3});
    }));
    CHECK(is_refused([](auto& f) { f.stack_bytes = rdam::plan::kMaxStackBytes + 8; }));
    CHECK(is_refused([](auto& f) { f.recording.integer_registers = 7; }));
    CHECK(is_refused([](auto& f) { f.recording.owner = 2; }));
    CHECK(is_refused([](auto& f) { f.frame = static_cast<rdam::plan::Frame>(2); }));
    Plan elsewhere = good;
    elsewhere.functions.front().object = 2;
    CHECK_FALSE(is_sound(elsewhere, 2));
}

TEST_CASE("only files that nobody else can write are read") {
    const Folder folder;
    folder.keep_marked(folder.request);
    const fs::path file = folder.kept_file();
    const fs::path store = folder.path / "store";
    const std::string key = plan_key(folder.request, kCatalogue);
    CHECK(folder.store().load(key).has_value());
    for (const unsigned mode : {0622U, 0660U, 0606U}) {
        chmod(file.c_str(), mode);
        CHECK_FALSE(folder.store().load(key).has_value());
    }
    chmod(file.c_str(), 0600);
    chmod(store.c_str(), 0770);
    CHECK_FALSE(folder.store().load(key).has_value());
    chmod(store.c_str(), 0755);
    CHECK(folder.store().load(key).has_value());
    fs::rename(file, folder.path / "real");
    fs::create_symlink(folder.path / "real", file);
    CHECK_FALSE(folder.store().load(key).has_value());
}

TEST_CASE("the store is bounded, and touches nothing but plans") {
    const Folder folder;
    const PlanStore store = folder.store();
    const std::vector<std::uint8_t> bytes(100);
    store.save("first", bytes);
    write_text(folder.path / "store/notes.plan", "mine");
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours{24};
    fs::last_write_time(
        folder.kept_file().filename() == "notes.plan" ? folder.path / "store/notes.plan" : folder.kept_file(),
        long_ago);
    for (std::size_t i = 0; i < PlanStore::kMaxFiles; ++i)
        store.save("key" + std::to_string(i), bytes);
    const auto files = std::distance(fs::directory_iterator{folder.path / "store"}, {});
    CHECK(files == PlanStore::kMaxFiles + 1);
    CHECK(fs::exists(folder.path / "store/notes.plan"));
    const std::vector<std::uint8_t> large(PlanStore::kLargestFile);
    for (int i = 0; i < 6; ++i)
        store.save("large" + std::to_string(i), large);
    std::uint64_t total = 0;
    for (const auto& entry : fs::directory_iterator{folder.path / "store"})
        total += entry.file_size();
    CHECK(total <= PlanStore::kMaxBytes + 4);
    CHECK(store.load("large5").has_value());
    store.save("too large", std::vector<std::uint8_t>(PlanStore::kLargestFile + 1));
    CHECK_FALSE(store.load("too large").has_value());
}

TEST_CASE("without a folder nothing is kept") {
    const Folder folder;
    const PlanStore none{""};
    none.save("key", std::vector<std::uint8_t>(1));
    CHECK_FALSE(none.load("key").has_value());
    CHECK(make_cached_plan(folder.request, kCatalogue, none, by_builtin).functions.size() == 2);
    CHECK_FALSE(fs::exists(folder.path / "store"));
}
