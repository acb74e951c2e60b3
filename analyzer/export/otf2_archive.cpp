#include "analyzer/export/otf2_archive.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <new>
#include <vector>

#include "analyzer/export/format.h"

namespace rdam::exports::otf2 {
namespace {

/// An archive of ours is traces.otf2, traces.def, and traces/ with a .def and an .evt for each location.
constexpr const char* kArchiveName = "traces";

/// Of a writer: what it holds before it goes to its file.
constexpr std::size_t kMaxChunks = 4;

using Chunks = std::vector<std::unique_ptr<std::byte[]>>;

void* allocate(void* /*user*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void** own,
               std::uint64_t size) {
    try {
        if (*own == nullptr) *own = new Chunks;
        auto& chunks = *static_cast<Chunks*>(*own);
        if (chunks.size() == kMaxChunks) return nullptr;
        chunks.push_back(std::make_unique<std::byte[]>(size));
        return chunks.back().get();
    } catch (const std::bad_alloc&) {
        return nullptr;  // into the file with what there is, then
    }
}

void free_all(void* /*user*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void** own, bool final) {
    auto* chunks = static_cast<Chunks*>(*own);
    if (chunks == nullptr) return;
    chunks->clear();
    if (!final) return;
    delete chunks;
    *own = nullptr;
}

OTF2_FlushType always(void* /*user*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                      bool /*final*/) {
    return OTF2_FLUSH;
}

// Without a post-flush callback, no record says when a buffer was written.
constexpr OTF2_FlushCallbacks kFlush{always, nullptr};
constexpr OTF2_MemoryCallbacks kMemory{allocate, free_all};

}  // namespace

Result<std::unique_ptr<Archive>> Archive::create(const std::string& folder, const std::string& name,
                                                 std::size_t locations) {
    std::unique_ptr<Archive> made{new Archive{name}};
    // The library asks for ten times the number of locations.
    const std::uint64_t definitions = std::clamp<std::uint64_t>(
        locations * 10, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, std::uint64_t{16} << 20U);
    made->archive_ =
        made->get(OTF2_Archive_Open, folder.c_str(), kArchiveName, OTF2_FILEMODE_WRITE,
                  OTF2_CHUNK_SIZE_EVENTS_DEFAULT, definitions, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    made->call(OTF2_Archive_SetFlushCallbacks, made->archive_, &kFlush, nullptr);
    made->call(OTF2_Archive_SetMemoryCallbacks, made->archive_, &kMemory, nullptr);
    made->call(OTF2_Archive_SetSerialCollectiveCallbacks, made->archive_);
    if (auto state = made->state(); !state) return tl::unexpected{state.error()};
    return made;
}

Archive::~Archive() {
    // After an error it is leaked.
    if (archive_ != nullptr) call(OTF2_Archive_Close, archive_);
}

Result<void> Archive::state() const {
    if (good()) return {};
    return fail("{}: OTF2 cannot write it: {}; write to a place that has room", name_,
                OTF2_Error_GetDescription(rdam::otf2::LibraryErrors::first()));
}

Result<void> Archive::close() {
    call(OTF2_Archive_Close, std::exchange(archive_, nullptr));
    return state();
}

}  // namespace rdam::exports::otf2

namespace rdam::exports {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// `name` relative to the folder. A link to a file is none of the archive's.
bool is_part_of_archive(const fs::path& name, fs::file_type type) {
    const fs::path anchor{otf2::kArchiveName};
    if (name == anchor) return type == fs::file_type::directory;
    if (type != fs::file_type::regular) return false;
    const std::string extension = name.extension();
    if (name.stem() == anchor && name.parent_path().empty())
        return extension == ".otf2" || extension == ".def";
    return name.parent_path() == anchor && is_number(name.stem()) &&
           (extension == ".def" || extension == ".evt");
}

}  // namespace

Result<void> check_only_otf2(const std::string& folder) {
    std::error_code error;
    const fs::path anchor = fs::path{folder} / fmt::format("{}.otf2", otf2::kArchiveName);
    if (fs::symlink_status(anchor, error).type() != fs::file_type::regular)
        return fail("{}: is not an OTF2 archive, and is not replaced; give another path", folder);
    error.clear();
    for (fs::recursive_directory_iterator entry{folder, error}, end; !error && entry != end;
         entry.increment(error)) {
        const fs::path name = entry->path().lexically_relative(folder);
        std::error_code unknown;
        if (!is_part_of_archive(name, entry->symlink_status(unknown).type()))
            return fail(
                "{}: {} does not belong to the archive there, and would be lost: move it away, or give "
                "another path",
                folder, name.string());
    }
    if (error) return fail("{}: cannot be read: {}; give another path", folder, error.message());
    return {};
}

}  // namespace rdam::exports
