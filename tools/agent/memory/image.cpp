#include "tools/agent/memory/image.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace rdam::agent {
namespace {

std::span<const std::uint8_t> map_file(const std::string& path) {
    std::span<const std::uint8_t> file;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return file;
    struct stat status {};
    if (fstat(fd, &status) == 0 && status.st_size > static_cast<off_t>(sizeof(Elf64_Ehdr))) {
        const auto size = static_cast<std::size_t>(status.st_size);
        void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory != MAP_FAILED) file = {static_cast<const std::uint8_t*>(memory), size};
    }
    close(fd);
    return file;
}

std::string place_of(const ProcessObject& object) {
    return object.open_at.empty() ? object.path : object.open_at;
}

bool is_another(const std::string& loaded, const std::string& found) {
    return !loaded.empty() && loaded != found;
}

/// What linkers put there: the headers, and behind them the notes.
std::vector<std::uint8_t> beginning_of(const std::string& path) {
    constexpr std::size_t kPage = 4096;
    std::vector<std::uint8_t> bytes(kPage);
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    const ssize_t size = pread(fd, bytes.data(), bytes.size(), 0);
    close(fd);
    bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return bytes;
}

}  // namespace

ImageHeaders ImageHeaders::read(std::span<const std::uint8_t> bytes) {
    ImageHeaders headers;
    Elf64_Ehdr header;
    if (bytes.size() < sizeof header) return headers;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))
        return headers;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        if (at > bytes.size() || bytes.size() - at < sizeof(Elf64_Phdr)) return {};
        Elf64_Phdr program;
        std::memcpy(&program, bytes.data() + at, sizeof program);
        const Part part{program.p_vaddr, program.p_offset, program.p_filesz};
        if (program.p_type == PT_NOTE) headers.notes.push_back(part);
        if (program.p_type == PT_GNU_EH_FRAME) headers.table = program.p_vaddr;
        if (program.p_type == PT_LOAD) headers.segments.push_back(part);
    }
    return headers;
}

std::string ImageHeaders::build_id(std::span<const std::uint8_t> bytes) const {
    constexpr std::uint32_t kSizeOfName = 4;  // "GNU"
    const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
    for (const Part& part : notes) {
        if (part.offset > bytes.size()) continue;
        auto left =
            bytes.subspan(part.offset, std::min<std::uint64_t>(part.size, bytes.size() - part.offset));
        Elf64_Nhdr note;
        while (left.size() >= sizeof note) {
            std::memcpy(&note, left.data(), sizeof note);
            const std::uint64_t name_end = sizeof note + padded(note.n_namesz);
            const std::uint64_t end = name_end + padded(note.n_descsz);
            if (name_end + note.n_descsz > left.size()) break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == kSizeOfName &&
                std::memcmp(left.data() + sizeof note, "GNU", kSizeOfName) == 0) {
                std::string id;
                for (const std::uint8_t byte : left.subspan(name_end, note.n_descsz))
                    id += fmt::format("{:02x}", byte);
                return id;
            }
            left = left.subspan(std::min<std::uint64_t>(end, left.size()));
        }
    }
    return {};
}

bool is_replaced(const ProcessObject& object) {
    if (object.build_id.empty()) return false;
    const auto beginning = beginning_of(place_of(object));
    if (beginning.empty()) return false;
    if (ImageHeaders::read(beginning).build_id(beginning) == object.build_id) return false;
    const auto file = map_file(place_of(object));
    const bool other = !file.empty() && is_another(object.build_id, ImageHeaders::read(file).build_id(file));
    if (!file.empty()) munmap(const_cast<std::uint8_t*>(file.data()), file.size());
    return other;
}

Image::Image(const ProcessObject& object)
    : base_(object.base), end_(object.end), build_id_(object.build_id), file_(map_file(place_of(object))) {}

Image::Image(Image&& other) noexcept
    : base_(other.base_),
      end_(other.end_),
      build_id_(std::move(other.build_id_)),
      file_(std::exchange(other.file_, {})),
      headers_(std::move(other.headers_)) {}

Image& Image::operator=(Image&& other) noexcept {
    base_ = other.base_;
    end_ = other.end_;
    build_id_ = std::move(other.build_id_);
    std::swap(file_, other.file_);
    headers_ = std::move(other.headers_);
    return *this;
}

Image::~Image() {
    if (!file_.empty()) munmap(const_cast<std::uint8_t*>(file_.data()), file_.size());
}

const Image::Loaded& Image::read_headers() const {
    Loaded loaded;
    loaded.file = ImageHeaders::read(file_);
    if (is_another(build_id_, loaded.file.build_id(file_))) loaded.file = {};
    loaded.first = loaded.file.segments.empty() ? base_ : base_ + loaded.file.segments.front().address;
    return headers_.emplace(std::move(loaded));
}

bool Image::read(std::uint64_t address, void* to, std::size_t size) const {
    for (const ImageHeaders::Part& segment : headers().file.segments) {
        const std::uint64_t begin = base_ + segment.address;
        if (address < begin || size > segment.size || address - begin > segment.size - size) continue;
        const std::uint64_t offset = segment.offset + (address - begin);
        if (offset > file_.size() || size > file_.size() - offset) return false;
        std::memcpy(to, file_.data() + offset, size);
        return true;
    }
    return false;
}

bool Image::describe_table(unw_dyn_info_t& info) const {
    struct Header {
        std::uint8_t version, frame_encoding, count_encoding, table_encoding;
        std::int32_t frame;
        std::uint32_t count;
    } header{};
    if (headers().file.table == 0) return false;
    const std::uint64_t table = base_ + headers().file.table;
    // pcrel sdata4, udata4, datarel sdata4: what every linker writes, and the only form that can be searched.
    if (!read(table, &header, sizeof header) || header.version != 1 || header.frame_encoding != 0x1b ||
        header.count_encoding != 0x03 || header.table_encoding != 0x3b)
        return false;
    info = {};
    info.start_ip = headers().first;
    info.end_ip = end_;
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.u.rti.segbase = table;
    info.u.rti.table_data = table + sizeof header;
    info.u.rti.table_len = header.count * 8ull / sizeof(unw_word_t);
    return true;
}

}  // namespace rdam::agent
