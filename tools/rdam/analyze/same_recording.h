// Whether two files hold the same recording: a copy under another name must not count as a second process.
#pragma once

#include <string>
#include <vector>

#include "tools/trace/event.h"

namespace rdam {

/// Equal for the traces of one recording only: what ran where, and when. Empty: not known from the trace.
std::string recording_of(const trace::TraceInfo& info);

/// Says on standard error that `file` is the same recording as another one, if it is.
void say_if_same(const std::string& file, const trace::TraceInfo& info, const trace::TraceInfo& other);

/// The files, each once, however often the globs of a shell have found it and by whatever name. Says on
/// standard error which are left out.
std::vector<std::string> each_once(const std::vector<std::string>& files);

}  // namespace rdam
