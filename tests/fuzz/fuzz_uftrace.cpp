// Reads any bytes as the files of one of uftrace's data directories: "\n@" and a name begin a file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/inputs/uftrace/uftrace.h"
#include "tests/fuzz/read_input.h"

namespace {

constexpr std::string_view kMark = "\n@";

std::map<std::string, std::string> folder_of(std::string_view bytes) {
    std::map<std::string, std::string> files;
    while (!bytes.empty()) {
        const auto next = std::min(bytes.find(kMark), bytes.size());
        const std::string_view file = bytes.substr(0, next);
        const auto end_of_name = std::min(file.find('\n'), file.size());
        files[std::string{file.substr(0, end_of_name)}] = file.substr(std::min(end_of_name + 1, file.size()));
        bytes.remove_prefix(std::min(next + kMark.size(), bytes.size()));
    }
    return files;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace rdam;
    const auto folder =
        inputs::uftrace::folder_in_memory(folder_of({reinterpret_cast<const char*>(data), size}));
    const auto reader = inputs::read_uftrace(*folder, "fuzz", [](std::uint64_t, std::uint64_t) {});
    if (reader)
        fuzz::read_all(*reader);
    else
        fuzz::require(!reader.error().message.empty());
    return 0;
}
