// What distinguishes the calls of one function (parameters and call sites), and which functions a user names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::mining {

/// The value of `word` and `parameter` of a key that is not a parameter but the place of the call.
inline constexpr std::uint16_t kCallerKey = UINT16_MAX;

/// Tells calls of one function apart by the value of a parameter, `words[word] & mask` of the enter event, or
/// by the address to which they return: of all that is known of a place, that alone is known of every call.
struct KeyWord {
    std::uint16_t word = 0;
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters; kCallerKey: the caller
    std::uint64_t mask = UINT64_MAX;

    bool is_caller() const { return word == kCallerKey; }
    std::uint64_t value(const trace::Event& enter) const {
        // No event has so many words: the caller costs the other keys nothing.
        if (word < enter.words.size()) return enter.words[word] & mask;
        return is_caller() ? enter.caller : 0;
    }
};

/// The keys of each function, by function number, in the order of its parameters, the caller last.
using KeyTable = std::vector<std::vector<KeyWord>>;

/// The functions called `name`, `module:name`, or so by the linker. None: an error that names similar ones,
/// or some of those there are.
Result<std::vector<std::uint32_t>> find_functions(const trace::TraceInfo& info, std::string_view name);

/// A parameter of a function.
struct ParameterPlace {
    std::uint32_t function = 0;
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters

    friend bool operator==(const ParameterPlace&, const ParameterPlace&) = default;
};

/// All that `text` names, `function:parameter` as in KeyChanges. Errors: as make_keys().
Result<std::vector<ParameterPlace>> find_parameters(const trace::TraceInfo& info, std::string_view text);

/// Requested changes to the keys that a trace has by default (ParameterInfo::key).
struct KeyChanges {
    std::span<const std::string> add = {};     ///< `function:parameter`; the parameter `*` means all
    std::span<const std::string> remove = {};  ///< the same, applied after `add`
    std::span<const std::string> split_by_context = {};  ///< functions whose caller is a key
};

/// The trace's own keys after these changes, one after the other: later ones win. Errors: unknown function or
/// parameter, naming those there are.
Result<KeyTable> make_keys(const trace::TraceInfo& info, std::initializer_list<KeyChanges> changes);

/// Everything that can be a key: all recorded parameters and the caller, of each function.
KeyTable all_candidates(const trace::TraceInfo& info);

/// Whether `text` is of the form `function:parameter`, whatever the trace. The error shows the form.
Result<void> check_key(std::string_view text);

}  // namespace rdam::mining
