#include "wrappers/plan/plan_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "wrappers/object/debug_file.h"
#include "wrappers/plan/stored_plan.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;
constexpr std::size_t kMostFiles = 200;
constexpr std::string_view kSuffix = ".plan";

bool is_own(const struct stat& state) {
    return state.st_uid == ::geteuid() && (state.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Texts one after the other, each with its length: no two lists of texts look the same.
class Key {
  public:
    void add(std::string_view text) { bytes_ += std::to_string(text.size()) + ":" + std::string{text}; }
    void add(std::uint64_t number) { add(std::to_string(number)); }
    void add(const FileIdentity& file) {
        for (const std::uint64_t number : {file.device, file.inode, file.size, file.changed_ns})
            add(number);
    }
    std::string name() const {
        const XXH128_hash_t hash = XXH3_128bits(bytes_.data(), bytes_.size());
        return fmt::format("{:016x}{:016x}{}", hash.high64, hash.low64, kSuffix);
    }

  private:
    std::string bytes_;
};

/// All that a plan depends on but the content of files and the answers of resolvers. The program that plans
/// is part of it: with it come the catalogue and the version.
std::string name_for(const PlanRequest& request) {
    Key key;
    key.add(FileIdentity::of("/proc/self/exe"));
    key.add(plan::kVersion);
    key.add(std::uint64_t{request.has_executable});
    key.add(std::uint64_t{request.record_arguments});
    key.add(std::uint64_t{request.resolve_ifunc != nullptr});
    key.add(request.own_objects.size());
    for (const std::string& path : request.own_objects)
        key.add(path);
    key.add(request.objects.size());
    for (const LoadedObject& object : request.objects) {
        key.add(object.path);
        key.add(object.build_id);
    }
    for (const ListEntry& entry : request.list.entries) {
        for (const std::string& text : {entry.text, entry.scope, entry.name, entry.origin})
            key.add(text);
        key.add(std::uint64_t{entry.added_wait});
    }
    return key.name();
}

std::vector<FileState> files_of(const PlanRequest& request) {
    std::vector<FileState> files;
    for (const LoadedObject& object : request.objects) {
        files.push_back({object.path, FileIdentity::of(object.path)});
        const auto image = ElfImage::open(object.path);
        if (!image) continue;
        for (std::string& path : debug_file_candidates(*image, kDebugRoot)) {
            const FileIdentity identity = FileIdentity::of(path);
            files.push_back({std::move(path), identity});
        }
    }
    return files;
}

ObjectPlace place_of(const PlanRequest& request, std::uint64_t address) {
    ObjectPlace place{ObjectPlace::kNowhere, 0};
    if (address == 0) return place;
    for (std::size_t i = 0; i < request.objects.size(); ++i) {
        const std::uint64_t base = request.objects[i].base;
        if (base > address) continue;
        if (place.object == ObjectPlace::kNowhere || address - base < place.offset)
            place = {i, address - base};
    }
    return place;
}

bool same_choices(const StoredPlan& stored, const PlanRequest& request) {
    return std::ranges::all_of(stored.choices, [&](const IfuncChoice& choice) {
        if (choice.resolver.object == ObjectPlace::kNowhere || !request.resolve_ifunc) return false;
        const std::uint64_t resolver = request.objects[choice.resolver.object].base + choice.resolver.offset;
        return place_of(request, request.resolve_ifunc(resolver)) == choice.chosen;
    });
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace

std::optional<PlanCache> PlanCache::from_environment() {
    if (std::getenv("RDAM_CACHE") != nullptr) {
        const std::string folder = variable("RDAM_CACHE");
        if (folder.empty() || folder == "0") return {};
        return PlanCache{folder};
    }
    if (const std::string caches = variable("XDG_CACHE_HOME"); caches.starts_with('/'))
        return PlanCache{caches + "/rdam"};
    if (const std::string home = variable("HOME"); home.starts_with('/'))
        return PlanCache{home + "/.cache/rdam"};
    return {};
}

Plan PlanCache::make(const PlanRequest& request, const Catalogue& catalogue) const {
    const std::string path = folder_ + "/" + name_for(request);
    if (auto plan = find(request, path)) return std::move(*plan);
    StoredPlan made;
    PlanRequest watched = request;
    if (request.resolve_ifunc)
        watched.resolve_ifunc = [&](std::uint64_t resolver) {
            const std::uint64_t chosen = request.resolve_ifunc(resolver);
            made.choices.push_back({place_of(request, resolver), place_of(request, chosen)});
            return chosen;
        };
    // Looked at first: what changes while the plan is being made is noticed the next time.
    made.files = files_of(request);
    made.plan = make_plan(watched, catalogue);
    store(serialize(made), path);
    return std::move(made.plan);
}

bool PlanCache::is_private() const {
    struct stat state {};
    return ::stat(folder_.c_str(), &state) == 0 && S_ISDIR(state.st_mode) && is_own(state);
}

std::optional<Plan> PlanCache::find(const PlanRequest& request, const std::string& path) const {
    struct stat state {};
    if (!is_private() || ::stat(path.c_str(), &state) != 0 || !S_ISREG(state.st_mode) || !is_own(state))
        return {};
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    auto stored = parse_stored_plan(bytes, request.objects.size());
    if (!stored) return {};
    const bool same_files = std::ranges::all_of(
        stored->files, [](const FileState& each) { return FileIdentity::of(each.path) == each.identity; });
    if (!same_files || !same_choices(*stored, request)) return {};
    // The ones used last are kept.
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return std::move(stored->plan);
}

/// Under another name first: a reader sees the whole of it or nothing.
void PlanCache::store(const std::string& bytes, const std::string& path) const {
    std::error_code error;
    fs::create_directories(fs::path{folder_}.parent_path(), error);
    ::mkdir(folder_.c_str(), S_IRWXU);
    if (!is_private()) return;
    const std::string temporary = fmt::format("{}.{}", path, ::getpid());
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return;
    const bool written = ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::close(fd);
    if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
    trim();
}

void PlanCache::trim() const {
    struct Stored {
        fs::path path;
        std::uintmax_t size = 0;
        fs::file_time_type used;
    };
    std::error_code error;
    std::vector<Stored> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
        if (entry.path().filename().string().find(kSuffix) == std::string::npos) continue;
        const std::uintmax_t size = entry.file_size(error);
        if (!error) all.push_back({entry.path(), size, entry.last_write_time(error)});
    }
    std::ranges::sort(all, std::ranges::greater{}, &Stored::used);
    std::uintmax_t bytes = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        bytes += all[i].size;
        if (i >= kMostFiles || bytes > kMostBytes) fs::remove(all[i].path, error);
    }
}

}  // namespace rdam
