// A format of another tool's traces.
#pragma once

#include <optional>
#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/trace/read/reader.h"
#include "wrappers/support/result.h"

namespace rdam::inputs {

/// What a format is recognized by.
struct Beginning {
    std::string path;
    bool directory = false;
    std::optional<Error> error = {};  ///< of a file that is damaged, of which nothing else can be said
    bool unpacked = false;            ///< the file is compressed, `text` is not
    std::string text = {};  ///< the first 64 KiB of a file, unpacked if it is compressed by gzip or zstd
};

/// A line of the table in inputs.cpp. Both functions take every byte as hostile: no crash, memory bounded by
/// the number of events and threads (some 40 bytes an event at most, some kilobytes a thread, which a file
/// may tell of in 60 bytes), one line of error that names the place and what was expected there.
struct Input {
    bool (*recognizes)(const Beginning& beginning);
    Result<trace::TraceReader> (*read)(const std::string& path, const Progress& progress);
};

}  // namespace rdam::inputs
