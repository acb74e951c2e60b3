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

}  // namespace

Image::Image(const ProcessObject& object)
    : base_(object.base),
      end_(object.end),
      file_(map_file(object.open_at.empty() ? object.path : object.open_at)) {
    if (!file_.empty()) read_headers();
    replaced_ = !file_.empty() && !object.build_id.empty() && build_id() != object.build_id;
    if (!replaced_) return;
    segments_.clear();
    table_ = 0;
}

Image::Image(Image&& other) noexcept
    : base_(other.base_),
      end_(other.end_),
      file_(std::exchange(other.file_, {})),
      segments_(std::move(other.segments_)),
      table_(other.table_),
      replaced_(other.replaced_) {}

Image& Image::operator=(Image&& other) noexcept {
    base_ = other.base_;
    end_ = other.end_;
    std::swap(file_, other.file_);
    segments_ = std::move(other.segments_);
    table_ = other.table_;
    notes_ = std::move(other.notes_);
    replaced_ = other.replaced_;
    return *this;
}

Image::~Image() {
    if (!file_.empty()) munmap(const_cast<std::uint8_t*>(file_.data()), file_.size());
}

bool Image::read(std::uint64_t address, void* to, std::size_t size) const {
    for (const Segment& segment : segments_)
        if (address >= segment.address && size <= segment.size &&
            address - segment.address <= segment.size - size) {
            std::memcpy(to, file_.data() + segment.offset + (address - segment.address), size);
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
    // pcrel sdata4, udata4, datarel sdata4: what every linker writes, and the only form that can be searched.
    if (table_ == 0 || !read(table_, &header, sizeof header) || header.version != 1 ||
        header.frame_encoding != 0x1b || header.count_encoding != 0x03 || header.table_encoding != 0x3b)
        return false;
    info = {};
    info.start_ip = first_address();
    info.end_ip = end_;
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.u.rti.segbase = table_;
    info.u.rti.table_data = table_ + sizeof header;
    info.u.rti.table_len = header.count * 8ull / sizeof(unw_word_t);
    return true;
}

/// Hex; empty: there is none.
std::string Image::build_id() const {
    constexpr std::uint32_t kSizeOfName = 4;  // "GNU"
    const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
    for (const auto& [offset, size] : notes_) {
        if (offset > file_.size()) continue;
        auto left = file_.subspan(offset, std::min<std::uint64_t>(size, file_.size() - offset));
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

void Image::read_headers() {
    Elf64_Ehdr header;
    std::memcpy(&header, file_.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr)) return;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        if (at > file_.size() || file_.size() - at < sizeof(Elf64_Phdr)) return;
        Elf64_Phdr program;
        std::memcpy(&program, file_.data() + at, sizeof program);
        if (program.p_type == PT_NOTE) notes_.push_back({program.p_offset, program.p_filesz});
        if (program.p_type == PT_GNU_EH_FRAME) table_ = base_ + program.p_vaddr;
        if (program.p_type != PT_LOAD || program.p_offset > file_.size()) continue;
        const std::uint64_t size = std::min<std::uint64_t>(program.p_filesz, file_.size() - program.p_offset);
        segments_.push_back({base_ + program.p_vaddr, program.p_offset, size});
    }
}

}  // namespace rdam::agent
