#include "wrappers/plan/plan_sources.h"

#include <cpuid.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>

#include "wrappers/object/debug_file.h"

namespace rdam {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * kSecond + time.tv_nsec;
}

/// Libraries too: half of what decides about a plan is theirs.
std::vector<std::string> files_of_planner() {
    std::vector<std::string> files{"/proc/self/exe"};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/')
                static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
            return 0;
        },
        &files);
    return files;
}

/// Fields that begin with their length: no two lists of fields are one key.
class KeyText {
  public:
    KeyText& operator<<(std::string_view field) {
        text_ += fmt::format("{}:{}\n", field.size(), field);
        return *this;
    }
    KeyText& operator<<(std::uint64_t number) { return *this << std::to_string(number); }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

void add_processor(KeyText& key) {
    constexpr unsigned kBasic = 1;
    constexpr unsigned kExtended = 7;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    // ebx of the basic leaf says on which processor this was asked.
    if (__get_cpuid(kBasic, &eax, &ebx, &ecx, &edx) != 0) key << eax << ecx << edx;
    if (__get_cpuid_count(kExtended, 0, &eax, &ebx, &ecx, &edx) != 0) key << ebx << ecx << edx;
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    return {true,
            status.st_dev,
            status.st_ino,
            static_cast<std::uint64_t>(status.st_size),
            nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim)};
}

std::vector<PlanSource> sources_of(const PlanRequest& request) {
    std::vector<std::string> paths = files_of_planner();
    for (const LoadedObject& object : request.objects) {
        if (!object.path.starts_with('/')) continue;
        paths.push_back(object.path);
        const auto more = debug_places(object.path);
        paths.insert(paths.end(), more.begin(), more.end());
    }
    paths.insert(paths.end(), request.own_objects.begin(), request.own_objects.end());
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    std::vector<PlanSource> sources;
    for (std::string& path : paths) {
        const FileIdentity identity = identity_of(path);
        sources.push_back({std::move(path), identity});
    }
    return sources;
}

bool are_unchanged(const std::vector<PlanSource>& sources) {
    return std::all_of(sources.begin(), sources.end(),
                       [](const PlanSource& source) { return identity_of(source.path) == source.identity; });
}

CodePlace place_of(const std::vector<LoadedObject>& objects, std::uint64_t run_time_address) {
    CodePlace place;
    for (std::size_t index = 0; index < objects.size(); ++index) {
        const std::uint64_t base = objects[index].base;
        if (base > run_time_address) continue;
        if (place == CodePlace{} || run_time_address - base < place.offset)
            place = {index, run_time_address - base};
    }
    return place;
}

bool are_confirmed(const std::vector<IfuncChoice>& choices, const PlanRequest& request) {
    return std::all_of(choices.begin(), choices.end(), [&](const IfuncChoice& choice) {
        if (choice.resolver.object >= request.objects.size() || !request.resolve_ifunc) return false;
        const std::uint64_t chosen =
            request.resolve_ifunc(request.objects[choice.resolver.object].base + choice.resolver.offset);
        return choice.chosen == (chosen == 0 ? CodePlace{} : place_of(request.objects, chosen));
    });
}

std::string plan_key(const PlanRequest& request, std::uint64_t catalogue) {
    KeyText key;
    key << RDAM_VERSION << plan::kVersion << catalogue;
    add_processor(key);
    key << std::uint64_t{request.has_executable} << std::uint64_t{request.record_arguments}
        << std::uint64_t{request.resolve_ifunc != nullptr};
    key << request.own_objects.size();
    for (const std::string& own : request.own_objects)
        key << own;
    key << request.objects.size();
    for (const LoadedObject& object : request.objects)
        key << object.path << object.build_id;
    for (const ListEntry& entry : request.list.entries)
        key << entry.text << entry.scope << entry.name << std::uint64_t{entry.added_wait}
            << std::uint64_t{entry.sampled} << entry.unless_found;
    return key.take();
}

}  // namespace rdam
