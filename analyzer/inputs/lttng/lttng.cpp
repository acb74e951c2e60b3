#include "analyzer/inputs/lttng/lttng.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "analyzer/inputs/lttng/event_text.h"
#include "analyzer/inputs/probes/probes.h"
#include "tools/base/child_process.h"
#include "tools/base/files.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::lttng {
namespace {

/// CTF's metadata is text, alone or in packets with this number at their beginning, in either byte order.
bool is_metadata(const std::string& path) {
    const auto beginning = read_beginning(path, 64);
    return beginning && (beginning->starts_with("/* CTF 1") || beginning->starts_with("\x57\x1d\xd1\x75") ||
                         beginning->starts_with("\x75\xd1\x1d\x57"));
}

/// Whether packets of metadata are whole: babeltrace2 (2.0.4) goes on forever where one is cut.
bool is_whole(const std::string& path) {
    constexpr std::size_t kMostBytes = std::size_t{64} << 20U, kHeader = 37, kContent = 24, kPacket = 28;
    constexpr std::string_view kMagic = "\x57\x1d\xd1\x75", kTurned = "\x75\xd1\x1d\x57";
    const auto text = read_whole_file(path, kMostBytes);
    if (!text) return false;
    std::string_view left = *text;
    if (!left.starts_with(kMagic) && !left.starts_with(kTurned)) return true;
    while (!left.empty()) {
        const bool turned = left.starts_with(kTurned);
        if (left.size() < kHeader || (!turned && !left.starts_with(kMagic))) return false;
        const auto bytes_at = [&](std::size_t at) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, left.data() + at, sizeof bits);
            return (turned ? __builtin_bswap32(bits) : bits) / 8;
        };
        const std::size_t packet = bytes_at(kPacket);
        if (packet < kHeader || packet > left.size() || bytes_at(kContent) > packet) return false;
        left.remove_prefix(packet);
    }
    return true;
}

/// The metadata that a directory has, as far down as traces lie; "": there is none that `wanted` accepts.
std::string find_metadata(const std::string& path, bool (*wanted)(const std::string& path)) {
    namespace fs = std::filesystem;
    constexpr int kDeepest = 8, kMostEntries = 10'000;
    std::error_code error;
    fs::recursive_directory_iterator each{path, fs::directory_options::skip_permission_denied, error};
    for (int entries = 0; !error && each != fs::recursive_directory_iterator{} && entries < kMostEntries;
         ++entries) {
        if (each.depth() >= kDeepest) each.disable_recursion_pending();
        std::string file = each->path().string();
        if (each->path().filename() == "metadata" && wanted(file)) return file;
        each.increment(error);
    }
    return {};
}

/// What babeltrace2 prints of a directory, in a file without a name.
Result<Descriptor> printed(const std::string& path, std::vector<std::string>& remarks) {
    const std::string cut = find_metadata(path, [](const std::string& file) { return !is_whole(file); });
    if (!cut.empty()) return fail("{} is cut, or too large: copy the trace again, or record it anew", cut);
    auto made = open_temporary_file("lttng");
    if (!made) return tl::unexpected{made.error()};
    Descriptor text{*made};
    std::optional<Error> full;
    const std::string place = std::filesystem::absolute(path).string();
    const auto done = run_child({"babeltrace2", "--clock-seconds", "--no-delta", "--debug-info", place},
                                {"LC_ALL=C"}, [&](std::string_view piece) {
                                    if (full) return;
                                    if (auto kept = write_all(text.get(), piece); !kept) full = kept.error();
                                });
    if (!done || done->exit_code == 127)
        return fail(
            "{} is a CTF trace, which babeltrace2 reads, but that cannot be run: install the package "
            "babeltrace2",
            path);
    if (full)
        return fail("{}: its text has no room in $TMPDIR: {}; set it to a place with room", path,
                    full->message);
    if (done->exit_code != 0) {
        // The first cause is the last line that babeltrace2 says.
        std::string_view line, last;
        for (TextLines lines{done->err}; lines.next(line);)
            if (!line.empty() && line.front() == ' ') last = line;
        const std::size_t begin = last.find_first_not_of(' ');
        return fail("{}: babeltrace2 cannot read it{}{}; copy it again, or record it anew", path,
                    begin == std::string_view::npos ? "" : ": ",
                    begin == std::string_view::npos ? "" : last.substr(begin));
    }
    if (done->err.find("discarded") != std::string::npos)
        remarks.emplace_back(
            "LTTng has discarded events: calls that were open then may be wrong. Larger buffers keep them "
            "(`lttng enable-channel --subbuf-size`).");
    return text;
}

probes::Dialect dialect() {
    return {
        .parser =
            [] {
                return [translator = std::make_shared<Translator>()](std::string_view line) {
                    return translator->translate(line);
                };
            },
        .recorder = "LTTng",
        .no_pairs =
            "no events of it begin and end a call; record pairs such as func_entry and func_exit "
            "(liblttng-ust-cyg-profile.so), x_begin and x_end, or system calls (`lttng enable-event --kernel "
            "--syscall --all`), with the contexts vpid, vtid and procname"};
}

}  // namespace

bool recognizes_directory(const std::string& path) {
    return !find_metadata(path, is_metadata).empty();
}

bool recognizes(std::string_view beginning) {
    TextLines lines{beginning};
    std::string_view line;
    constexpr std::size_t kLines = 100;
    while (lines.number() < kLines && lines.next(line))
        if (text_line(line)) return true;
    return false;
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error))
        return probes::read_dialect(path, path, dialect(), progress);
    probes::Dialect own = dialect();
    const auto text = printed(path, own.remarks);
    if (!text) return tl::unexpected{text.error()};
    return probes::read_dialect(fmt::format("/proc/self/fd/{}", text->get()), path, own, progress);
}

}  // namespace rdam::inputs::lttng
