#include "wrappers/object/elf_image.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "wrappers/object/elf_repair.h"

namespace rdam {

namespace {

/// libelf refuses every call until it has been told which version its user was compiled for.
bool libelf_ready() {
    static const bool kReady = elf_version(EV_CURRENT) != EV_NONE;
    return kReady;
}

std::string build_id_in_notes(Elf_Data* data) {
    if (data == nullptr || data->d_buf == nullptr) return {};
    constexpr std::size_t kLongestBuildId = 64;
    GElf_Nhdr note;
    std::size_t name_offset = 0;
    std::size_t content_offset = 0;
    for (std::size_t offset = 0;
         (offset = gelf_getnote(data, offset, &note, &name_offset, &content_offset)) > 0;) {
        const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU)) continue;
        if (std::memcmp(bytes + name_offset, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0) continue;
        if (note.n_descsz == 0 || note.n_descsz > kLongestBuildId) continue;
        return to_hex({bytes + content_offset, note.n_descsz});
    }
    return {};
}

}  // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes)
        hex += fmt::format("{:02x}", byte);
    return hex;
}

Result<ElfImage> ElfImage::open(const std::string& path) {
    if (!libelf_ready()) return fail("libelf is older than the one rdam was built with: reinstall libelf1");
    ElfImage image;
    image.name_ = path;
    image.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (image.fd_ < 0) return fail("{}: cannot be opened: {}", path, std::strerror(errno));
    struct stat status {};
    if (fstat(image.fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
        return fail("{}: is not a regular file", path);
    }
    image.elf_ = elf_begin(image.fd_, ELF_C_READ_MMAP, nullptr);
    if (auto checked = image.check(); !checked) return tl::unexpected{checked.error()};
    image.repair();
    return image;
}

Result<ElfImage> ElfImage::from_bytes(std::vector<char> bytes, std::string name) {
    if (!libelf_ready()) return fail("libelf is older than the one rdam was built with: reinstall libelf1");
    ElfImage image;
    image.name_ = std::move(name);
    image.bytes_ = std::make_unique<std::vector<char>>(std::move(bytes));
    image.elf_ = elf_memory(image.bytes_->data(), image.bytes_->size());
    if (auto checked = image.check(); !checked) return tl::unexpected{checked.error()};
    image.repair();
    return image;
}

Result<void> ElfImage::check() {
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF || gelf_getehdr(elf_, &header_) == nullptr) {
        return fail("{}: is not an ELF file", name_);
    }
    return {};
}

void ElfImage::repair() {
    std::size_t size = 0;
    const char* const file = elf_rawfile(elf_, &size);
    auto repaired = file == nullptr ? std::nullopt : repaired_elf(file, size);
    if (!repaired) return;
    auto bytes = std::make_unique<std::vector<char>>(std::move(*repaired));
    Elf* const better = elf_memory(bytes->data(), bytes->size());
    GElf_Ehdr header;
    if (better == nullptr || elf_kind(better) != ELF_K_ELF || gelf_getehdr(better, &header) == nullptr) {
        elf_end(better);
        return;
    }
    close();
    elf_ = better;
    bytes_ = std::move(bytes);
    header_ = header;
}

void ElfImage::close() noexcept {
    if (elf_ != nullptr) elf_end(elf_);
    if (fd_ >= 0) ::close(fd_);
    elf_ = nullptr;
    fd_ = -1;
}

ElfImage::~ElfImage() {
    close();
}

ElfImage::ElfImage(ElfImage&& other) noexcept
    : elf_{std::exchange(other.elf_, nullptr)},
      fd_{std::exchange(other.fd_, -1)},
      bytes_{std::move(other.bytes_)},
      name_{std::move(other.name_)},
      header_{other.header_} {}

ElfImage& ElfImage::operator=(ElfImage&& other) noexcept {
    if (this != &other) {
        close();
        elf_ = std::exchange(other.elf_, nullptr);
        fd_ = std::exchange(other.fd_, -1);
        bytes_ = std::move(other.bytes_);
        name_ = std::move(other.name_);
        header_ = other.header_;
    }
    return *this;
}

std::vector<ElfSection> read_sections(const ElfImage& image) {
    std::vector<ElfSection> sections;
    std::size_t names = 0;
    if (elf_getshdrstrndx(image.handle(), &names) != 0) return sections;
    for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(image.handle(), scn)) != nullptr;) {
        ElfSection section;
        section.handle = scn;
        if (gelf_getshdr(scn, &section.header) == nullptr) continue;
        const char* name = elf_strptr(image.handle(), names, section.header.sh_name);
        if (name != nullptr) section.name = name;
        sections.push_back(section);
    }
    return sections;
}

std::span<const std::uint8_t> section_bytes(const ElfSection& section) {
    if (section.handle == nullptr || section.header.sh_type == SHT_NOBITS) return {};
    if ((section.header.sh_flags & SHF_COMPRESSED) != 0) elf_compress(section.handle, 0, 0);
    const Elf_Data* data = elf_rawdata(section.handle, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

std::vector<GElf_Phdr> read_segments(const ElfImage& image) {
    std::vector<GElf_Phdr> segments;
    std::size_t count = 0;
    if (elf_getphdrnum(image.handle(), &count) != 0) return segments;
    for (std::size_t index = 0; index < count; ++index) {
        GElf_Phdr segment;
        if (gelf_getphdr(image.handle(), static_cast<int>(index), &segment) == nullptr) break;
        segments.push_back(segment);
    }
    return segments;
}

std::string read_build_id(const ElfImage& image) {
    for (const ElfSection& section : read_sections(image)) {
        if (section.header.sh_type != SHT_NOTE) continue;
        if (auto id = build_id_in_notes(elf_getdata(section.handle, nullptr)); !id.empty()) return id;
    }
    for (const GElf_Phdr& segment : read_segments(image)) {
        if (segment.p_type != PT_NOTE || segment.p_filesz == 0) continue;
        const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
        Elf_Data* data = elf_getdata_rawchunk(image.handle(), static_cast<std::int64_t>(segment.p_offset),
                                              segment.p_filesz, type);
        if (auto id = build_id_in_notes(data); !id.empty()) return id;
    }
    return {};
}

std::string_view string_at(std::span<const std::uint8_t> table, std::uint64_t offset) {
    if (offset >= table.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(table.data() + offset);
    const void* end = std::memchr(begin, 0, table.size() - offset);
    if (end == nullptr) return {};
    return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

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

/// Where libdebuginfod keeps what it has fetched: debuginfod_find_debuginfo(3). Nobody is asked for anything here.
fs::path place_in_cache(const std::string& build_id) {
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return value != nullptr ? std::string{value} : std::string{};
    };
    if (build_id.empty()) return {};
    const fs::path own{variable("DEBUGINFOD_CACHE_PATH")}, caches{variable("XDG_CACHE_HOME")},
        home{variable("HOME")};
    constexpr const char* kClient = "debuginfod_client";
    const fs::path cache = !own.empty()      ? own
                           : !caches.empty() ? caches / kClient
                           : !home.empty()   ? home / ".cache" / kClient
                                             : fs::path{};
    return cache.is_absolute() ? cache / build_id / "debuginfo" : fs::path{};
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
    for (const fs::path& place : {place_by_build_id(build_id, debug_root), place_in_cache(build_id)}) {
        auto image = open_if_exists(place);
        if (image && read_build_id(*image) == build_id) return image;
    }
    return std::nullopt;
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
    add(place_in_cache(build_id));
    if (const auto link = read_debug_link(*object))
        for (const fs::path& place : places_by_link(*object, *link, debug_root))
            add(place);
    const auto debug = find_debug_file(*object, debug_root);
    for (const ElfImage* image : {&*object, debug ? &*debug : nullptr}) {
        const auto shared = image == nullptr ? std::nullopt : read_shared_link(*image);
        if (!shared) continue;
        add(place_by_build_id(shared->build_id, debug_root));
        add(place_in_cache(shared->build_id));
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
