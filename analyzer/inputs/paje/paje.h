// Pajé (L. M. Schnorr, Pajé trace file format, version 1.2.5), as its producers write it: SimGrid, StarPU,
// EZTrace 1, programs with the library poti, rdam itself. A container with states of a type is a thread, its
// states are calls, and their values functions.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::paje {

/// By the beginning of a file: its first line that is no comment defines an event.
bool recognizes(std::string_view beginning);

/// Reads the file for a second time if its events are not in the order of time (then states are kept in
/// memory, some 32 bytes for each event), or if times have more digits than those of nanoseconds.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

}  // namespace rdam::inputs::paje
