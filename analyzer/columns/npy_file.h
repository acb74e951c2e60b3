// A column on disk: numpy's .npy format (version 1.0), one dimension, little-endian, elements from byte 128
// on, so that it can be mapped into memory as it is. Written as it grows: memory holds the last elements
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tools/base/result.h"
#include "tools/base/unmovable.h"

namespace rdam::columns {

/// The folder that the files of one export are in, and what went wrong there first.
class Folder {
  public:
    /// `path` must not exist, or be an empty folder.
    static Result<Folder> create(const std::string& path);

    const std::filesystem::path& path() const { return path_; }
    Result<void> make_room(std::string_view name) const;  ///< a folder in it
    /// Once something could not be written, nothing more is: the files are useless.
    const std::optional<Error>& error() const { return error_; }
    void failed(const std::string& file, int error_number);
    /// Whether one more file may keep its descriptor: a process has few of them.
    bool keep_descriptor();
    /// Takes away everything that was written.
    void discard() const;

  private:
    std::filesystem::path path_;
    bool made_ = false;
    unsigned kept_ = 0;
    std::optional<Error> error_;
};

/// How numpy calls an element.
struct ElementType {
    std::string_view name;
    std::uint8_t size = 0;
};

template <class T>
constexpr ElementType element_type() {
    if constexpr (std::is_same_v<T, bool>) return {"|b1", 1};
    if constexpr (std::is_same_v<T, std::uint8_t>) return {"|u1", 1};
    if constexpr (std::is_same_v<T, std::int32_t>) return {"<i4", 4};
    if constexpr (std::is_same_v<T, std::uint32_t>) return {"<u4", 4};
    if constexpr (std::is_same_v<T, std::int64_t>) return {"<i8", 8};
    if constexpr (std::is_same_v<T, std::uint64_t>) return {"<u8", 8};
    if constexpr (std::is_same_v<T, double>) return {"<f8", 8};
}

class NpyFile : private Unmovable {
  public:
    /// `name`: within `folder`, which must outlive it. Holds at most `window` elements in memory, and always
    /// the last half of that.
    NpyFile(Folder& folder, std::string name, ElementType type, std::size_t window);
    ~NpyFile();

    const std::string& name() const { return name_; }
    ElementType type() const { return type_; }
    std::uint64_t size() const { return written_ + buffer_.size() / type_.size; }

    /// `element`: as many bytes as an element has.
    void append(const void* element) {
        if (buffer_.size() == most_) write_half();
        const auto* bytes = static_cast<const std::byte*>(element);
        buffer_.insert(buffer_.end(), bytes, bytes + type_.size);
    }
    /// `index` is below size(). Quick for the last elements, a system call for those before.
    void set(std::uint64_t index, const void* element) {
        if (index >= written_) {
            std::memcpy(buffer_.data() + (index - written_) * type_.size, element, type_.size);
        } else {
            write(element, type_.size, index);
        }
    }
    /// The file is whole after that. To be called once, at the end.
    void finish();

  private:
    void write_half();
    void write(const void* data, std::size_t bytes, std::uint64_t index);
    void write_at(const void* data, std::size_t bytes, std::uint64_t offset);
    int open_file();
    void write_header();

    Folder& folder_;
    std::string name_;
    ElementType type_;
    std::size_t most_;  // bytes
    int fd_ = -1;
    bool made_ = false;
    std::uint64_t written_ = 0;  // elements
    std::vector<std::byte> buffer_;
};

/// An NpyFile with a type.
template <class T>
class Column : public NpyFile {
  public:
    Column(Folder& folder, std::string name, std::size_t window)
        : NpyFile(folder, std::move(name), element_type<T>(), window) {}
    void append(T value) { NpyFile::append(&value); }
    void set(std::uint64_t index, T value) { NpyFile::set(index, &value); }
};

}  // namespace rdam::columns
