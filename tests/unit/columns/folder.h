// A folder for one test, and the columns in it.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/columns/npy_file.h"
#include "tests/unit/temporary_folder.h"

namespace rdam::test {

/// Gone when the test is. `path` is a folder in it that is not there yet.
class TemporaryPlace {
  public:
    std::filesystem::path path() const { return folder_.path() / "columns"; }

  private:
    TemporaryFolder folder_;
};

/// A file's elements as bytes, after checking that its header is what numpy's description of the format asks
/// for.
std::vector<std::byte> read_npy(const std::filesystem::path& path, columns::ElementType type);

template <class T>
std::vector<T> read_column(const std::filesystem::path& path) {
    const std::vector<std::byte> bytes = read_npy(path, columns::element_type<T>());
    std::vector<T> out(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < out.size(); ++i) {
        T element{};
        std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
        out[i] = element;
    }
    return out;
}

}  // namespace rdam::test
