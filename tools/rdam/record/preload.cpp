#include "tools/rdam/record/preload.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tools/rdam/record/program.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeparators = " :";

bool splits(const std::string& path) {
    return path.find_first_of(kSeparators) != std::string::npos;
}

/// A new folder that every user of the run may enter; empty: there is none.
std::string make_folder() {
    constexpr mode_t kMode = 0755;
    std::error_code error;
    for (const std::string& place :
         {fs::temp_directory_path(error).string(), std::string{"/tmp"}, std::string{"/dev/shm"}}) {
        std::string folder = place + "/rdam-preload-XXXXXX";
        if (place.empty() || splits(place) || mkdtemp(folder.data()) == nullptr) continue;
        if (chmod(folder.c_str(), kMode) == 0) return folder;
        rmdir(folder.c_str());
    }
    return {};
}

}  // namespace

Result<std::string> find_library() {
    std::error_code error;
    const auto own = own_path();
    if (!own) return tl::unexpected(own.error());
    for (const char* place : {"../../libprobe/librdam.so", "../" RDAM_LIBDIR "/librdam.so"}) {
        const fs::path candidate = (fs::path{*own}.parent_path() / place).lexically_normal();
        if (fs::exists(candidate, error)) return candidate.string();
    }
    return fail("librdam.so is not where {} expects it: reinstall rdam", *own);
}

PreloadLink::~PreloadLink() {
    if (folder_.empty()) return;
    unlink((folder_ + "/lib").c_str());
    rmdir(folder_.c_str());
}

Result<std::string> PreloadLink::path_of(const std::string& library) {
    if (!splits(library)) return library;
    folder_ = make_folder();
    const fs::path path(library);
    // The folder, not the file: rdam-agent is found beside it.
    const std::string link = folder_ + "/lib";
    if (folder_.empty() || symlink(path.parent_path().c_str(), link.c_str()) != 0)
        return fail(
            "{}: LD_PRELOAD, by which the recorder is loaded, splits this path at its blank or colon, and no "
            "link can be made in TMPDIR or /tmp: install rdam elsewhere",
            library);
    return link + "/" + path.filename().string();
}

std::string preloads(const std::string& library, const std::string& sanitizer) {
    std::string all = sanitizer.empty() ? library : sanitizer + ":" + library;
    const char* before = std::getenv("LD_PRELOAD");
    if (before != nullptr && *before != '\0') all += std::string{":"} + before;
    return all;
}

}  // namespace rdam
