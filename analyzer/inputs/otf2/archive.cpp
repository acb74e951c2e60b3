#include "analyzer/inputs/otf2/archive.h"

#include <filesystem>
#include <system_error>
#include <vector>

#if RDAM_OTF2
#include "analyzer/inputs/build/apart.h"
#include "analyzer/inputs/otf2/archive.cpp"
#endif

namespace rdam::inputs::otf2 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".otf2";

/// At most two.
std::vector<std::string> anchors_in(const std::string& directory) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator entry{directory, error}, end; !error && entry != end && found.size() < 2;
         entry.increment(error))
        if (entry->path().extension() == kExtension) found.push_back(entry->path());
    return found;
}

Result<std::string> anchor_of(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (path.ends_with(kExtension)) return path;
        return fail("{} is an OTF2 anchor file under another name: rename it to what it was, NAME{}", path,
                    kExtension);
    }
    std::vector<std::string> found = anchors_in(path);
    if (found.size() == 1) return found.front();
    return fail("{} does not have one OTF2 archive, but more: give the {} file of one", path, kExtension);
}

tl::unexpected<Error> irregular(const fs::path& file) {
    return fail("{} is not a regular file: copy the whole archive again, with the files themselves",
                file.string());
}

/// The library waits for ever for what a pipe has to say.
Result<void> check_files(const fs::path& anchor) {
    std::error_code error;
    for (const char* extension : {kExtension.data(), ".def", ".marker"}) {
        const fs::path file = fs::path{anchor}.replace_extension(extension);
        if (fs::exists(file, error) && !fs::is_regular_file(file, error)) return irregular(file);
    }
    const fs::path folder = fs::path{anchor}.replace_extension();
    for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
        std::error_code unknown;
        const auto status = entry->status(unknown);
        if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
            return irregular(entry->path());
    }
    return {};
}

}  // namespace

bool recognizes(std::string_view beginning) {
    // The first two bytes tell the byte order.
    constexpr std::string_view kMagic{"OTF2\0", 5};
    return beginning.size() > 2 + kMagic.size() && beginning.substr(2, kMagic.size()) == kMagic;
}

bool recognizes_directory(const std::string& path) {
    return !anchors_in(path).empty();
}

#if RDAM_OTF2
Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    const auto anchor = anchor_of(path);
    if (!anchor) return tl::unexpected{anchor.error()};
    if (const auto checked = check_files(*anchor); !checked) return tl::unexpected{checked.error()};
    const auto build = [&](Survey survey) {
        const auto fill = [&](TraceBuilder& builder, const Progress& told) {
            return assemble(*anchor, survey, builder, told);
        };
        return build_apart(path, Order::of_time, fill, progress);
    };
    auto built = build(Survey::sample);
    if (built && !*built) built = build(Survey::whole);
    if (!built) return tl::unexpected{built.error()};
    return std::move(**built);
}
#else
Result<trace::TraceReader> read(const std::string& path, const Progress& /*progress*/) {
    const auto anchor = anchor_of(path);
    if (!anchor) return tl::unexpected{anchor.error()};
    return fail("{}: this rdam cannot read OTF2 archives: build it with OTF2 (libotf2-trace-dev)", path);
}
#endif

}  // namespace rdam::inputs::otf2
