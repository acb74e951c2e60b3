#include "wrappers/object/debug_file.h"

#include <fcntl.h>
#include <lzma.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace rdam {
namespace {

namespace fs = std::filesystem;

struct DebugLink {
    std::string name;
    std::uint32_t crc = 0;
};

std::optional<ElfSection> find_section(const ElfImage& image, std::string_view name) {
    for (const ElfSection& section : read_sections(image)) {
        if (section.name == name) return section;
    }
    return std::nullopt;
}

std::optional<DebugLink> read_debug_link(const ElfImage& object) {
    const auto section = find_section(object, ".gnu_debuglink");
    if (!section) return std::nullopt;
    const auto bytes = section_bytes(*section);
    const std::string_view name = string_at(bytes, 0);
    const std::size_t crc_offset = (name.size() + 1 + 3) / 4 * 4;
    // A name with a slash could lead anywhere: the format says file name.
    if (name.empty() || name.find('/') != std::string_view::npos) return std::nullopt;
    if (crc_offset + sizeof(std::uint32_t) > bytes.size()) return std::nullopt;
    DebugLink link{std::string{name}, 0};
    std::memcpy(&link.crc, bytes.data() + crc_offset, sizeof link.crc);
    return link;
}

/// The link to the file to which dwz moved the common parts of several debug files.
struct SharedLink {
    std::string name;  ///< absolute, or relative to the debug file's folder
    std::string build_id;
};

std::optional<SharedLink> read_shared_link(const ElfImage& image) {
    const auto section = find_section(image, ".gnu_debugaltlink");
    if (!section) return std::nullopt;
    const auto bytes = section_bytes(*section);
    const std::string_view name = string_at(bytes, 0);
    if (name.empty()) return std::nullopt;
    return SharedLink{std::string{name}, to_hex(bytes.subspan(name.size() + 1))};
}

std::optional<std::uint32_t> crc_of_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::vector<std::uint8_t> block(1 << 18);
    std::uint32_t crc = 0;
    ssize_t got = 0;
    while ((got = ::read(fd, block.data(), block.size())) > 0) {
        crc = lzma_crc32(block.data(), static_cast<std::size_t>(got), crc);
    }
    ::close(fd);
    if (got < 0) return std::nullopt;
    return crc;
}

std::optional<ElfImage> open_if_exists(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    auto image = ElfImage::open(path.string());
    if (!image) return std::nullopt;
    return std::move(*image);
}

fs::path place_by_build_id(const std::string& build_id, const std::string& debug_root) {
    constexpr std::size_t kShortest = 3;
    if (build_id.size() < kShortest) return {};
    return fs::path{debug_root} / ".build-id" / build_id.substr(0, 2) / (build_id.substr(2) + ".debug");
}

std::vector<fs::path> places_by_link(const ElfImage& object, const DebugLink& link,
                                     const std::string& debug_root) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(object.name(), error);
    const fs::path directory = error ? fs::path{object.name()}.parent_path() : real.parent_path();
    std::vector<fs::path> places{directory / link.name, directory / ".debug" / link.name,
                                 fs::path{debug_root} / directory.relative_path() / link.name};
    std::erase(places, real);
    return places;
}

std::optional<ElfImage> by_build_id(const std::string& build_id, const std::string& debug_root) {
    auto image = open_if_exists(place_by_build_id(build_id, debug_root));
    if (!image || read_build_id(*image) != build_id) return std::nullopt;
    return image;
}

std::optional<ElfImage> by_link(const ElfImage& object, const std::string& build_id,
                                const std::string& debug_root) {
    const auto link = read_debug_link(object);
    if (!link) return std::nullopt;
    for (const fs::path& candidate : places_by_link(object, *link, debug_root)) {
        auto image = open_if_exists(candidate);
        if (!image) continue;
        const std::string its_id = read_build_id(*image);
        const bool belongs = build_id.empty() || its_id.empty() ? crc_of_file(candidate.string()) == link->crc
                                                                : its_id == build_id;
        if (belongs) return image;
    }
    return std::nullopt;
}

}  // namespace

std::optional<ElfImage> find_debug_file(const ElfImage& object, const std::string& debug_root) {
    const std::string build_id = read_build_id(object);
    if (auto image = by_build_id(build_id, debug_root)) return image;
    return by_link(object, build_id, debug_root);
}

std::vector<std::string> debug_places(const std::string& path, const std::string& debug_root) {
    std::vector<std::string> places;
    const auto add = [&](const fs::path& place) {
        if (!place.empty()) places.push_back(place.string());
    };
    const auto object = ElfImage::open(path);
    if (!object) return places;
    const std::string build_id = read_build_id(*object);
    add(place_by_build_id(build_id, debug_root));
    if (const auto link = read_debug_link(*object))
        for (const fs::path& place : places_by_link(*object, *link, debug_root))
            add(place);
    const auto debug = find_debug_file(*object, debug_root);
    for (const ElfImage* image : {&*object, debug ? &*debug : nullptr}) {
        const auto shared = image == nullptr ? std::nullopt : read_shared_link(*image);
        if (!shared) continue;
        add(place_by_build_id(shared->build_id, debug_root));
        add(fs::path{image->name()}.parent_path() / shared->name);
    }
    return places;
}

std::optional<ElfImage> read_mini_debug(const ElfImage& object) {
    constexpr std::size_t kLargestOutput = std::size_t{256} << 20;
    constexpr std::uint64_t kMemoryLimit = std::uint64_t{256} << 20;
    const auto section = find_section(object, ".gnu_debugdata");
    if (!section) return std::nullopt;
    const auto input = section_bytes(*section);

    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, kMemoryLimit, 0) != LZMA_OK) return std::nullopt;
    stream.next_in = input.data();
    stream.avail_in = input.size();
    std::vector<char> output;
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK && output.size() < kLargestOutput) {
        constexpr std::size_t kStep = std::size_t{1} << 20;
        output.resize(output.size() + kStep);
        stream.next_out = reinterpret_cast<std::uint8_t*>(output.data() + output.size() - kStep);
        stream.avail_out = kStep;
        status = lzma_code(&stream, LZMA_FINISH);
        output.resize(output.size() - stream.avail_out);
    }
    lzma_end(&stream);
    if (status != LZMA_STREAM_END) return std::nullopt;
    auto image = ElfImage::from_bytes(std::move(output), object.name() + " (.gnu_debugdata)");
    if (!image) return std::nullopt;
    return std::move(*image);
}

}  // namespace rdam
