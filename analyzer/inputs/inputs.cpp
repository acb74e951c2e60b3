#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/chrome.h"
#include "analyzer/inputs/open.h"
#include "analyzer/inputs/otf2/archive.h"
#include "analyzer/inputs/paje/paje.h"
#include "analyzer/inputs/probes/probes.h"
#include "analyzer/inputs/rows/rows.h"
#include "analyzer/inputs/uftrace/uftrace.h"
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
};

/// The first that recognizes a file reads it.
constexpr std::array kInputs{
    Input{.recognizes =
              [](const Beginning& from) {
                  return from.directory ? otf2::recognizes_directory(from.path) : otf2::recognizes(from.text);
              },
          .read = otf2::read},
    Input{
        .recognizes = [](const Beginning& from) { return from.directory && is_uftrace_directory(from.path); },
        .read = read_uftrace},
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

}  // namespace

Result<trace::TraceReader> open_any(const std::string& path, const OpenOptions& options) {
    const Beginning beginning = look_at(path);
    if (beginning.error) return tl::unexpected{*beginning.error};
    const bool is_own_or_none = beginning.text.empty() || is_own(beginning.text);
    const Input* input = recognize(beginning);
    if (!is_own_or_none && ((input == nullptr && beginning.unpacked) || trace::find_foreign(beginning.text)))
        return tl::unexpected{
            trace::not_a_trace(path + (beginning.unpacked ? ", unpacked," : ""), beginning.text)};
    const Progress progress = options.progress ? options.progress : [](std::uint64_t, std::uint64_t) {};
    try {
        if (input != nullptr) return input->read(path, progress);
        auto reader = trace::TraceReader::open(path, options.waiting);
        if (!reader || !switches_stacks(*reader)) return reader;
        return divide_into_rows(*reader, path, progress);
    } catch (const std::bad_alloc&) {
        return fail("{} needs more memory than there is: analyze it on a larger machine", path);
    }
}

}  // namespace rdam::inputs
