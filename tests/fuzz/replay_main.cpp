// Stands in for libFuzzer where there is none: runs a fuzz target once on every file of the given
// directories.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> result;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
        if (entry.is_regular_file()) result.push_back(entry.path());
    std::sort(result.begin(), result.end());
    return result;
}

bool replay(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
    if (!file) return false;
    // Named before it is run: a crash then says which input it was.
    std::fprintf(stderr, "%s\n", path.c_str());
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    return true;
}

int replay_all(int count, char** directories) {
    std::size_t replayed = 0;
    for (int i = 0; i < count; ++i)
        for (const auto& path : files_in(directories[i])) {
            if (!replay(path)) {
                std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
                return 1;
            }
            ++replayed;
        }
    std::printf("%zu inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return replay_all(argc - 1, argv + 1);
    } catch (const std::filesystem::filesystem_error& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}
