#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/chrome.h"
#include "analyzer/inputs/chrome/profiles.h"
#include "analyzer/inputs/lttng/lttng.h"
#include "analyzer/inputs/open.h"
#include "analyzer/inputs/otf2/archive.h"
#include "analyzer/inputs/paje/paje.h"
#include "analyzer/inputs/probes/probes.h"
#include "analyzer/inputs/rows/rows.h"
#include "analyzer/inputs/uftrace/uftrace.h"
#include "tools/base/files.h"
#include "tools/base/result.h"
#include "tools/trace/file_input.h"
#include "tools/trace/foreign.h"
#include "tools/trace/format.h"
#include "tools/trace/reader.h"

namespace rdam::inputs {
namespace {

/// What a format is recognized by.
struct Beginning {
    std::string path;
    bool directory = false;
    std::optional<Error> error = {};  ///< of a file that is damaged, of which nothing else can be said
    bool unpacked = false;            ///< the file is compressed, `text` is not
    std::string text = {};  ///< the first 64 KiB of a file, unpacked if it is compressed by gzip or zstd
};

/// A format of another tool's traces. Both functions take every byte as hostile: no crash, memory bounded by
/// the number of events and threads (some 40 bytes an event at most, some kilobytes a thread, which a file
/// may tell of in 60 bytes), one line of error that names the place and what was expected there.
struct Input {
    bool (*recognizes)(const Beginning& beginning);
    Result<trace::TraceReader> (*read)(const std::string& path, const Progress& progress);
    bool is_folder = false;  ///< of which the file that is recognized is but one
};

/// The first that recognizes a file reads it.
constexpr std::array kInputs{
    Input{.recognizes =
              [](const Beginning& from) {
                  return from.directory ? otf2::recognizes_directory(from.path) : otf2::recognizes(from.text);
              },
          .read = otf2::read,
          .is_folder = true},
    Input{
        .recognizes = [](const Beginning& from) { return from.directory && is_uftrace_directory(from.path); },
        .read = read_uftrace},
    Input{.recognizes =
              [](const Beginning& from) {
                  return from.directory ? lttng::recognizes_directory(from.path)
                                        : lttng::recognizes(from.text);
              },
          .read = lttng::read},
    Input{.recognizes = [](const Beginning& from) { return profiles::recognizes(from.text); },
          .read = profiles::read},
    Input{.recognizes = [](const Beginning& from) { return chrome::recognizes(from.text); },
          .read = chrome::read},
    Input{.recognizes = [](const Beginning& from) { return probes::recognizes(from.text); },
          .read = probes::read},
    Input{.recognizes = [](const Beginning& from) { return paje::recognizes(from.text); },
          .read = paje::read},
};

bool is_own(std::string_view text) {
    return text.starts_with(
        {reinterpret_cast<const char*>(trace::format::kFileMagic.data()), trace::format::kFileMagic.size()});
}

/// Nothing: a file that cannot be read, of which the reader of rdam's own traces says why.
Beginning look_at(const std::string& path) {
    Beginning beginning{.path = path};
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return beginning;
    beginning.directory = S_ISDIR(status.st_mode);
    if (!S_ISREG(status.st_mode)) return beginning;
    auto source = ByteSource::open(path);
    if (!source) return beginning;
    beginning.text.resize(trace::kForeignBytes);
    const auto got = source->read(beginning.text);
    if (!got) beginning.error = got.error();
    beginning.text.resize(got ? *got : 0);
    beginning.unpacked = source->unpacks();
    return beginning;
}

const Input* recognize(const Beginning& beginning) {
    if (is_own(beginning.text)) return nullptr;
    for (const Input& input : kInputs)
        if (input.recognizes(beginning)) return &input;
    return nullptr;
}

Result<trace::TraceReader> open_file(const std::string& path, const OpenOptions& options) {
    const Beginning beginning = look_at(path);
    if (beginning.error) return tl::unexpected{*beginning.error};
    const Input* input = recognize(beginning);
    const bool is_unknown = input == nullptr && beginning.unpacked;
    if (!is_own(beginning.text) && (is_unknown || trace::find_foreign(beginning.text) != nullptr))
        return tl::unexpected{
            trace::not_a_trace(path + (beginning.unpacked ? ", unpacked," : ""), beginning.text)};
    const Progress progress = options.progress ? options.progress : [](std::uint64_t, std::uint64_t) {};
    if (input != nullptr) return input->read(path, progress);
    auto reader = trace::TraceReader::open(path, options.waiting);
    if (!reader || !switches_stacks(*reader)) return reader;
    return divide_into_rows(*reader, path, progress);
}

// Standard input.

constexpr std::string_view kStandardInput = "standard input";

/// All that comes, in a file without a name.
Result<Descriptor> copy_standard_input() {
    if (isatty(STDIN_FILENO) == 1)
        return fail("{} is a terminal: pipe a trace into it, or give a file", kStandardInput);
    auto made = open_temporary_file("input");
    if (!made) return tl::unexpected{made.error()};
    Descriptor file{*made};
    std::vector<char> block(std::size_t{1} << 18U);
    while (true) {
        const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail("{} cannot be read: {}; save it to a file first", kStandardInput,
                        std::strerror(errno));
        if (got == 0) return file;
        if (auto kept = write_all(file.get(), {block.data(), static_cast<std::size_t>(got)}); !kept)
            return fail("{} cannot be kept in a temporary file: {}; set TMPDIR to a place with room",
                        kStandardInput, kept.error().message);
    }
}

/// Messages name `path` as what it is.
Error renamed(const std::string& path, Error error) {
    std::size_t at = 0;
    while ((at = error.message.find(path, at)) != std::string::npos) {
        error.message.replace(at, path.size(), kStandardInput);
        at += kStandardInput.size();
    }
    return error;
}

/// The copy's descriptor. It stays as long as the process: a trace is read more than once, and may be opened
/// more than once, but standard input cannot.
Result<int> kept_standard_input() {
    static const auto kept = copy_standard_input();
    if (!kept) return tl::unexpected{kept.error()};
    return kept->get();
}

Result<trace::TraceReader> open_standard_input(const OpenOptions& options) {
    const auto file = kept_standard_input();
    if (!file) return tl::unexpected{file.error()};
    const std::string path = fmt::format("/proc/self/fd/{}", *file);
    const Beginning beginning = look_at(path);
    if (is_own(beginning.text) && !beginning.unpacked)
        return trace::TraceReader::read_descriptor(::fcntl(*file, F_DUPFD_CLOEXEC, 0),
                                                   std::string{kStandardInput});
    const Input* const input = recognize(beginning);
    if (input != nullptr && input->is_folder)
        return fail("{} is one file of a trace that has several: give the folder, or its file there",
                    kStandardInput);
    auto reader = open_file(path, options);
    if (!reader) return tl::unexpected{renamed(path, reader.error())};
    return reader;
}

}  // namespace

Result<trace::TraceReader> open_any(const std::string& path, const OpenOptions& options) {
    try {
        return path == "-" ? open_standard_input(options) : open_file(path, options);
    } catch (const std::bad_alloc&) {
        return fail("{} needs more memory than there is: analyze it on a larger machine", display_path(path));
    }
}

}  // namespace rdam::inputs
