// Pairs of probes at the beginning and the return of functions (uprobe and uretprobe, kprobe and kretprobe), as
// `perf script`, `trace-cmd report` and ftrace's file "trace" print them.
#pragma once

#include "analyzer/inputs/input.h"

namespace rdam::inputs {

extern const Input kProbes;

}  // namespace rdam::inputs
