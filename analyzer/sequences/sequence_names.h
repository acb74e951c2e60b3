// Names and lasting ids of sequences, for people and scripts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/sequences/keys.h"
#include "analyzer/sequences/sequence_store.h"
#include "tools/trace/event.h"

namespace rdam::sequences {

/// The value of a parameter as its type says: `-1`, `0x7f00`, `true`, `2.5`. `kind` is an rdam::ValueKind.
std::string format_value(const trace::ParameterInfo& parameter, std::uint64_t value);

/// Characters of a text that are shown where it is one of several things.
inline constexpr std::size_t kShortText = 60;

/// format_value() for people. A text is shown in quotation marks, printable, without its middle if it
/// has more characters than `longest`; a quotation mark or backslash in it has a backslash before it. `-`
/// where a call has none, `text 12345` where the trace does not have it.
std::string shown_value(const trace::TraceInfo& info, const trace::ParameterInfo& parameter,
                        std::uint64_t value, std::size_t longest = kShortText);

/// `pthread_mutex_lock(mutex=0x55d0)[__lll_lock_wait ×3]`: the function, its keys, its children and theirs. A
/// caller that is a key is `from app+0x1139`, the place it returns to.
/// Long ones end in `…`. Not made safe for a terminal: names are the trace's.
std::string sequence_name(const SequenceStore& store, GroupId group, const trace::TraceInfo& info,
                          const KeyTable& keys);

/// sequence_name() of a shape, which has no keys unless they are deep.
std::string shape_name(const SequenceStore& store, ShapeId shape, const trace::TraceInfo& info,
                       const KeyTable& keys);

/// One number for each group that depends on names and values alone, not on the order in which a run happened
/// to meet them: the same sequence has the same number in the next recording, unless a parameter that is a
/// key is an address. A caller that is one counts as its object's file name and the offset in it.
std::vector<std::uint64_t> lasting_ids(const SequenceStore& store, const trace::TraceInfo& info,
                                       const KeyTable& keys);

}  // namespace rdam::sequences
