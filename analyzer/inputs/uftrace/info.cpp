#include "analyzer/inputs/uftrace/info.h"

#include <array>
#include <cstring>

#include "tools/base/text_lines.h"

namespace rdam::inputs::uftrace {
namespace {

constexpr std::string_view kMagic{"Ftrace!\0", 8};
constexpr std::uint64_t kMaxInfo = std::uint64_t{64} << 20U;
constexpr std::uint32_t kOldest = 3;
constexpr std::uint32_t kNewest = 4;
constexpr std::uint8_t kLittleEndian = 1;
constexpr std::uint8_t kBigEndian = 2;
constexpr std::uint8_t kWide = 2;

/// As it stands in the file.
struct Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint16_t header_size;
    std::uint8_t endian;
    std::uint8_t elf_class;
    std::uint64_t features;
    std::uint64_t infos;
    std::uint16_t max_stack;
    std::uint16_t unused1;
    std::uint32_t unused2;
};
static_assert(sizeof(Header) == 40);

/// What begins the lines of each bit of Header::infos, in this order in the file.
constexpr std::array<std::string_view, 14> kKeys{
    "exename:", "build_id:",    "exit_status:",  "cmdline:",        "cpuinfo:",
    "meminfo:", "osinfo:",      "taskinfo:",     "usageinfo:",      "loadinfo:",
    "argspec:", "record_date:", "pattern_type:", "uftrace_version:"};

constexpr std::uint64_t kKernel = 1U << 2U;
constexpr std::uint64_t kPerfEvents = 1U << 8U;
constexpr std::uint64_t kDebugInfo = 1U << 10U;
constexpr std::uint64_t kEstimateReturn = 1U << 11U;

/// `v0.13 ( x86_64 dwarf … )` → "0.13".
std::string version_in(std::string_view text) {
    const auto words = words_of(text, 2);
    if (words.empty()) return {};
    return std::string{words[0].starts_with('v') ? words[0].substr(1) : words[0]};
}

Pattern pattern_in(std::string_view text) {
    if (text == "glob") return Pattern::glob;
    return text == "simple" ? Pattern::simple : Pattern::regex;
}

/// The values of `key:name=value` lines.
void take_named(Info& info, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = text.substr(equals + 1);
    if (name == "hostname") info.host = value;
    if (name == "kernel") info.kernel_version = value;
    if (name == "desc") info.processor = value;
    if (name == "nr_cpus") {
        const auto words = words_of(value);
        if (!words.empty()) info.processors = number_in<std::uint32_t>(words[0]).value_or(0);
    }
}

/// Whether the last lines that the header tells are there.
bool is_whole(std::uint64_t infos, std::string_view lines) {
    if (!lines.empty() && lines.back() != '\n') return false;
    for (std::size_t bit = kKeys.size(); bit-- > 0;)
        if ((infos >> bit & 1U) != 0)
            return lines.starts_with(kKeys[bit]) ||
                   lines.find(fmt::format("\n{}", kKeys[bit])) != std::string_view::npos;
    return true;
}

void take_line(Info& info, std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (key == "exename") info.executable = value;
    if (key == "cmdline") info.command = value;
    if (key == "cpuinfo" || key == "osinfo") take_named(info, value);
    if (key == "argspec" && !value.starts_with("lines=")) info.arguments = value;
    if (key == "retspec") info.results = value;
    if (key == "argauto") info.auto_arguments = value;
    if (key == "retauto") info.auto_results = value;
    if (key == "auto-args") info.auto_args = value == "1";
    if (key == "pattern_type") info.pattern = pattern_in(value);
    if (key == "uftrace_version") info.version = version_in(value);
}

}  // namespace

bool begins_as_info(std::string_view bytes) {
    return bytes.starts_with(kMagic);
}

Result<Info> read_info(const Folder& folder) {
    const std::string path = folder.path_of("info");
    const auto text = folder.text("info", kMaxInfo);
    if (!text) return tl::unexpected{text.error()};
    if (!begins_as_info(*text) && !kMagic.starts_with(*text))
        return fail("{} does not begin with \"Ftrace!\": give a directory that `uftrace record` has written",
                    path);
    if (text->size() < sizeof(Header))
        return fail("{} ends within its header of {} bytes: copy the directory again, or record again", path,
                    sizeof(Header));
    Header header{};
    std::memcpy(&header, text->data(), sizeof header);
    if (header.endian == kBigEndian)
        return fail("{} was written by a big-endian machine: analyze it with rdam there", path);
    if (header.endian != kLittleEndian)
        return fail("{} has the byte order {}, where 1 or 2 is expected: it is damaged, record again", path,
                    header.endian);
    if (header.version < kOldest || header.version > kNewest)
        return fail("{} is of version {}, but only {} and {} can be read: record again with uftrace 0.13",
                    path, header.version, kOldest, kNewest);
    if (header.header_size < sizeof header || header.header_size > text->size())
        return fail("{} says that its header has {} bytes: it is damaged, record again", path,
                    header.header_size);

    Info info;
    info.wide = header.elf_class == kWide;
    info.kernel = (header.features & kKernel) != 0;
    info.switches = (header.features & kPerfEvents) != 0;
    info.has_debug_info = (header.features & kDebugInfo) != 0;
    info.estimated_returns = (header.features & kEstimateReturn) != 0;
    const std::string_view rest = std::string_view{*text}.substr(header.header_size);
    if (!is_whole(header.infos, rest))
        return fail("{} is cut at byte {}: copy the directory again, or record again", path, text->size());
    TextLines lines{rest};
    std::string_view line;
    while (lines.next(line))
        take_line(info, line);
    return info;
}

}  // namespace rdam::inputs::uftrace
