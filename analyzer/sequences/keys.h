// What distinguishes the calls of one function (parameters, results and call sites), and which functions a
// user names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::sequences {

// Values that say how much a call has to do: calls that have about the same to do are compared.
//
// A function whose time is proportional to a size would hardly ever be called twice with the same one, and
// what is compared with nothing has no score. So sizes are put into classes. The smallest are each its own
// class; above, an octave has eight, so that the calls of a class differ by an eighth at most, and by 4 % on
// average. Floating-point numbers (an angle that sin() reduces) have a class for each power of two and sign.

/// The class of a parameter's or result's value, `word`: the value in it with the lowest magnitude.
std::uint64_t size_class(std::uint64_t word, std::uint8_t kind, std::uint8_t size);

/// The values in the class, `4096…4607`; of a class with one value that.
std::string size_class_text(const trace::ParameterInfo& parameter, std::uint64_t size_class);

/// What a pointer that a function returns into what it was given, like strchr(), says of its length.
inline constexpr std::uint64_t kReturnedNull = UINT64_MAX;
/// The call returned nothing, or it was not recorded.
inline constexpr std::uint64_t kNoResult = UINT64_MAX - 1;

/// The value of `word` and `parameter` of a key that is not a parameter but the place of the call.
inline constexpr std::uint16_t kCallerKey = UINT16_MAX;
/// The value of `parameter` of a key that is the function's result.
inline constexpr std::uint16_t kResultKey = UINT16_MAX - 1;

/// Tells calls of one function apart by the value of a parameter, `words[word] & mask` of the enter event or
/// its size class, by their result, or by the address to which they return: of all that is known of a place,
/// that alone is known of every call.
struct KeyWord {
    std::uint16_t word = 0;
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters; kCallerKey: the caller; kResultKey
    std::uint64_t mask = UINT64_MAX;
    bool by_size = false;      ///< the value is its size_class()
    std::uint8_t kind = 1;     ///< trace::ParameterInfo
    std::uint8_t size = 8;     ///< trace::ParameterInfo
    bool is_distance = false;  ///< the result less the first parameter
    bool of_futex = false;     ///< the value is futex_key()
    bool of_descriptor =
        false;  ///< it is a file descriptor that calls of the function receive or send through
    std::uint16_t result_word = 0;  ///< of the leave event

    bool is_caller() const { return word == kCallerKey; }
    bool is_result() const { return parameter == kResultKey; }
    /// Of a result, what with_result() needs of its beginning.
    std::uint64_t value(const trace::Event& enter) const {
        // No event has so many words: the caller costs the other keys nothing.
        if (word < enter.words.size()) {
            if (of_futex) return futex_key(enter);
            const std::uint64_t value = enter.words[word] & mask;
            return by_size ? size_class(value, kind, size) : value;
        }
        return is_caller() ? enter.caller : 0;
    }
    /// Of a call that is about a futex, which one, or what is done to it (FutexCall); 0 for other calls.
    std::uint64_t futex_key(const trace::Event& enter) const;
    /// The value of a key that is the result, for a call that ended with `leave`; null: without one.
    std::uint64_t with_result(std::uint64_t begun, const trace::Event* leave) const;
};

/// The keys of each function, by function number, in the order of its parameters, then the result, the caller
/// last.
using KeyTable = std::vector<std::vector<KeyWord>>;

/// Where the results of functions are among their keys.
class ResultKeys {
  public:
    explicit ResultKeys(const KeyTable& keys);

    bool any(std::uint32_t function) const { return function < places_.size() && places_[function] != kNone; }
    /// Of a function that has one: where its value is among `keys`.
    std::size_t place(std::uint32_t function) const { return places_[function]; }

  private:
    static constexpr std::uint16_t kNone = UINT16_MAX;

    std::vector<std::uint16_t> places_;  // by function; empty: none has one
};

/// The functions called `name`, `module:name`, or so by the linker. None: an error that names similar ones,
/// or some of those there are.
Result<std::vector<std::uint32_t>> find_functions(const trace::TraceInfo& info, std::string_view name);

/// A parameter of a function.
struct ParameterPlace {
    std::uint32_t function = 0;
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters; kResultKey: its result

    friend bool operator==(const ParameterPlace&, const ParameterPlace&) = default;
};

/// What people call the result among the parameters: no parameter in C can have that name.
inline constexpr const char* kResultName = "return";

/// All that `text` names, `function:parameter` as in KeyChanges. Errors: as make_keys().
Result<std::vector<ParameterPlace>> find_parameters(const trace::TraceInfo& info, std::string_view text);

/// Requested changes to the keys that a trace has by default (ParameterInfo::key).
struct KeyChanges {
    /// `function:parameter`; the parameter `*` means all, kResultName the result.
    std::span<const std::string> add = {};
    std::span<const std::string> remove = {};            ///< the same, applied after `add`
    std::span<const std::string> split_by_context = {};  ///< functions whose caller is a key
};

/// The trace's own keys after these changes, one after the other: later ones win. Errors: unknown function or
/// parameter, naming those there are.
Result<KeyTable> make_keys(const trace::TraceInfo& info, std::initializer_list<KeyChanges> changes);

/// Everything that is asked about as a key: all recorded parameters, the result where it is a key by default,
/// and the caller, of each function.
KeyTable all_candidates(const trace::TraceInfo& info);

/// Whether `text` is of the form `function:parameter`, whatever the trace. The error shows the form.
Result<void> check_key(std::string_view text);

}  // namespace rdam::sequences
