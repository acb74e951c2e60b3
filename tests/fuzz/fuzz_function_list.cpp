// Any bytes as a list of functions: what is read can be written and read again, and a name matches itself.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tools/base/glob.h"
#include "wrappers/find/function_list.h"

namespace {

using Parser = rdam::Result<rdam::FunctionList>(std::string_view, std::string_view);

bool is_sound(const rdam::FunctionList& list, Parser& parse) {
    if (list.entries.empty()) return false;
    for (const auto& entry : list.entries) {
        if (entry.name.empty() || entry.text.empty()) return false;
        if (!rdam::glob_match(entry.name, entry.name)) return false;
        const auto again = parse(entry.text, "again");
        if (!again || again->entries.size() != 1) return false;
        const auto& read = again->entries[0];
        if (read.name != entry.name || read.scope != entry.scope || read.sampled != entry.sampled)
            return false;
    }
    return true;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto file = rdam::parse_function_list(bytes, "fuzz");
    const auto names = rdam::parse_function_names(bytes, "fuzz");
    const auto half = bytes.substr(0, size / 2);
    (void)rdam::glob_match(half, bytes.substr(size / 2));
    // A byte order mark is dropped where a line begins, and is a part of the name elsewhere.
    const bool marked = bytes.find("\xef\xbb\xbf") != std::string_view::npos;
    const bool sound = (!file || marked || is_sound(*file, rdam::parse_function_list)) &&
                       (!names || is_sound(*names, rdam::parse_function_names));
    if (sound) return 0;
    std::fprintf(stderr, "a list does not read back\n");
    std::abort();
}
