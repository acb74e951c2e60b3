#include "analyzer/sequences/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>
#include <variant>

#include "analyzer/sequences/futex_calls.h"
#include "analyzer/sequences/known_functions.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "tools/base/similar_names.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/catalogue/signature.h"

namespace rdam::sequences {
namespace {

/// Functions that an error names.
constexpr std::size_t kNamed = 3;

struct Named {
    std::string_view function, parameter;
};

Result<Named> split(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const bool lone = colon != std::string_view::npos && colon > 0 && text[colon - 1] != ':';
    if (!lone || colon + 1 == text.size()) {
        return fail("{}: not a parameter; write function:parameter, for example write:count", text);
    }
    return Named{text.substr(0, colon), text.substr(colon + 1)};
}

bool is_called(const trace::FunctionInfo& function, std::string_view name) {
    if (name == function.name || name == function.linkage_name) return true;
    const std::size_t module = function.module.size();
    return name.size() > module && name.starts_with(function.module) && name[module] == ':' &&
           (name.substr(module + 1) == function.name || name.substr(module + 1) == function.linkage_name);
}

std::string lower(std::string_view text) {
    std::string out{text};
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

/// The name of a manual probe's value is its expression, `i % 4`, spaced as compilers like.
std::string without_blanks(std::string_view text) {
    std::string out{text};
    std::erase_if(out, [](unsigned char c) { return std::isspace(c) != 0; });
    return out;
}

/// What people search for: a part of a name.
std::vector<std::string> names_with(const trace::TraceInfo& info, std::string_view wanted) {
    const std::string part = lower(wanted);
    std::vector<std::string> found;
    for (const trace::FunctionInfo& function : info.functions) {
        const std::string candidate = lower(function.name);
        const bool similar = candidate.find(part) != std::string::npos ||
                             (candidate.size() > 2 && part.find(candidate) != std::string::npos);
        if (similar && found.size() < kNamed) found.push_back(function.name);
    }
    return found;
}

/// Readable in an error of one line, whatever a trace calls its functions.
std::string joined(const std::vector<std::string>& names) {
    constexpr std::size_t kMaxColumns = 160;
    std::string out;
    for (const std::string& name : names)
        out += (out.empty() ? "" : ", ") + shortened(name, kMaxColumns);
    return out;
}

/// Who has mistyped a name needs one that exists.
std::string what_there_is(const trace::TraceInfo& info, std::string_view name) {
    const std::size_t scope = find_scope_colon(name);
    const std::string_view wanted = scope == std::string_view::npos ? name : name.substr(scope + 1);
    SimilarNames nearest{wanted};
    for (const trace::FunctionInfo& function : info.functions)
        nearest.consider(function.name, function.name);
    std::vector<std::string> similar = nearest.names();
    if (similar.empty() && !wanted.empty()) similar = names_with(info, wanted);
    if (!similar.empty()) return "; similar: " + joined(similar);
    std::vector<std::string> some;
    for (std::size_t f = 0; f < std::min(kNamed, info.functions.size()); ++f)
        some.push_back(info.functions[f].name);
    if (some.empty()) return "; it has none";
    return "; it has " + joined(some) +
           (info.functions.size() > kNamed ? fmt::format(" and {} more", info.functions.size() - kNamed)
                                           : "");
}

std::uint64_t mask_of(const trace::ParameterInfo& info) {
    const bool whole = info.size == 0 || info.size >= 8;
    return whole ? UINT64_MAX : (std::uint64_t{1} << (8 * info.size)) - 1;
}

KeyWord key_word(const trace::FunctionInfo& function, std::size_t parameter) {
    const trace::ParameterInfo& info = function.parameters[parameter];
    return {.word = info.word,
            .parameter = static_cast<std::uint16_t>(parameter),
            .mask = mask_of(info),
            .by_size = info.by_size,
            .kind = info.kind,
            .size = info.size,
            .of_futex =
                (info.word == kFutexWord || info.word == kFutexOperationWord) && may_use_futexes(function),
            .of_descriptor = parameter == 0 && goes_through_descriptor(function)};
}

/// A pointer into what was given says how far the function went. Without that, and with a result that no
/// event has, the result is no key.
std::optional<KeyWord> result_key(const trace::FunctionInfo& function) {
    if (function.result.empty() || function.result[0].word >= function.leave_words) return std::nullopt;
    const trace::ParameterInfo& info = function.result[0];
    KeyWord key{.word = kResultKey,
                .parameter = kResultKey,
                .mask = mask_of(info),
                .by_size = info.by_size,
                .kind = info.kind,
                .size = info.size,
                .result_word = info.word};
    if (!info.by_size || static_cast<ValueKind>(info.kind) != ValueKind::pointer) return key;
    if (function.parameters.empty() || function.parameters[0].word >= function.enter_words)
        return std::nullopt;
    // Until the end is known, the key is where the distance begins.
    key.word = function.parameters[0].word;
    key.by_size = false;
    key.is_distance = true;
    return key;
}

Result<std::vector<std::size_t>> parameters_called(const trace::FunctionInfo& function,
                                                   std::string_view name) {
    std::vector<std::size_t> found;
    std::string known;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const std::string& candidate = function.parameters[i].name;
        known += (i == 0 ? "" : ", ") + candidate;
        if (name == "*" || without_blanks(name) == without_blanks(candidate)) found.push_back(i);
    }
    if (found.empty() && name == kResultName && result_key(function)) found.push_back(kResultKey);
    if (found.empty()) {
        return fail("{} has no recorded parameter {}; it has {}", function.name, name,
                    known.empty() ? "none" : known);
    }
    return found;
}

bool is_default_result(const trace::FunctionInfo& function) {
    return !function.result.empty() && function.result[0].key && result_key(function).has_value();
}

/// What is a key of each function, while it is being changed.
class Choice {
  public:
    explicit Choice(const trace::TraceInfo& info)
        : info_(info), is_key_(info.functions.size()), by_caller_(info.functions.size()) {
        for (std::size_t f = 0; f < info.functions.size(); ++f) {
            for (const trace::ParameterInfo& parameter : info.functions[f].parameters)
                is_key_[f].push_back(parameter.key);
            by_result_.push_back(is_default_result(info.functions[f]));
        }
    }

    Result<void> change(const KeyChanges& changes) {
        for (const std::string& text : changes.add) {
            if (auto done = set(text, true); !done) return done;
        }
        for (const std::string& text : changes.remove) {
            if (auto done = set(text, false); !done) return done;
        }
        for (const std::string& name : changes.split_by_context) {
            const auto functions = find_functions(info_, name);
            if (!functions) return tl::unexpected{functions.error()};
            for (const std::uint32_t function : *functions)
                by_caller_[function] = true;
        }
        return {};
    }

    KeyTable table() const {
        KeyTable table(info_.functions.size());
        for (std::size_t f = 0; f < info_.functions.size(); ++f) {
            for (std::size_t p = 0; p < is_key_[f].size(); ++p) {
                const KeyWord key = key_word(info_.functions[f], p);
                if (is_key_[f][p] && key.word < info_.functions[f].enter_words) table[f].push_back(key);
            }
            if (by_result_[f]) table[f].push_back(*result_key(info_.functions[f]));
            if (by_caller_[f]) table[f].push_back({.word = kCallerKey, .parameter = kCallerKey});
        }
        return table;
    }

  private:
    Result<void> set(std::string_view text, bool value) {
        const auto places = find_parameters(info_, text);
        if (!places) return tl::unexpected{places.error()};
        for (const ParameterPlace& place : *places) {
            if (place.parameter == kResultKey)
                by_result_[place.function] = value;
            else
                is_key_[place.function][place.parameter] = value;
        }
        return {};
    }

    const trace::TraceInfo& info_;
    std::vector<std::vector<bool>> is_key_;  // by function and parameter
    std::vector<bool> by_caller_;
    std::vector<bool> by_result_;
};

}  // namespace

std::uint64_t KeyWord::futex_key(const trace::Event& enter) const {
    const FutexCall call = futex_call(enter);
    if (call == FutexCall::none) return 0;
    return word == kFutexWord ? enter.words[word] : static_cast<std::uint64_t>(call);
}

std::uint64_t KeyWord::with_result(std::uint64_t begun, const trace::Event* leave) const {
    if (leave == nullptr || leave->unwound || result_word >= leave->words.size()) return kNoResult;
    const std::uint64_t result = leave->words[result_word];
    if (is_distance) {
        if (result == 0) return kReturnedNull;
        return size_class(result - begun, static_cast<std::uint8_t>(ValueKind::signed_integer),
                          sizeof result);
    }
    return by_size ? size_class(result & mask, kind, size) : result & mask;
}

ResultKeys::ResultKeys(const KeyTable& keys) {
    for (std::size_t f = 0; f < keys.size(); ++f) {
        const auto found = std::ranges::find_if(keys[f], &KeyWord::is_result);
        if (found == keys[f].end()) continue;
        places_.resize(keys.size(), kNone);
        places_[f] = static_cast<std::uint16_t>(found - keys[f].begin());
    }
}

Result<std::vector<std::uint32_t>> find_functions(const trace::TraceInfo& info, std::string_view name) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < info.functions.size(); ++i) {
        if (is_called(info.functions[i], name)) found.push_back(i);
    }
    if (found.empty()) return fail("{}: the trace has no such function{}", name, what_there_is(info, name));
    return found;
}

Result<std::vector<ParameterPlace>> find_parameters(const trace::TraceInfo& info, std::string_view text) {
    const Result<Named> named = split(text);
    if (!named) return tl::unexpected{named.error()};
    const auto functions = find_functions(info, named->function);
    if (!functions) return tl::unexpected{functions.error()};
    std::vector<ParameterPlace> places;
    for (const std::uint32_t function : *functions) {
        const auto parameters = parameters_called(info.functions[function], named->parameter);
        if (!parameters) return tl::unexpected{parameters.error()};
        for (const std::size_t parameter : *parameters)
            places.push_back({function, static_cast<std::uint16_t>(parameter)});
    }
    return places;
}

Result<void> check_key(std::string_view text) {
    const Result<Named> named = split(text);
    if (!named) return tl::unexpected{named.error()};
    return {};
}

Result<KeyTable> make_keys(const trace::TraceInfo& info, std::initializer_list<KeyChanges> changes) {
    Choice choice{info};
    for (const KeyChanges& change : changes) {
        if (auto changed = choice.change(change); !changed) return tl::unexpected{changed.error()};
    }
    return choice.table();
}

KeyTable all_candidates(const trace::TraceInfo& info) {
    KeyTable table;
    for (const trace::FunctionInfo& function : info.functions) {
        std::vector<KeyWord>& candidates = table.emplace_back();
        for (std::size_t p = 0; p < function.parameters.size(); ++p) {
            const KeyWord key = key_word(function, p);
            if (key.word < function.enter_words) candidates.push_back(key);
        }
        if (is_default_result(function)) candidates.push_back(*result_key(function));
        candidates.push_back({.word = kCallerKey, .parameter = kCallerKey});
    }
    return table;
}

namespace {

constexpr unsigned kBitsInOctave = 3;  // of a value below its highest one: 8 classes

std::uint64_t mask_of_bytes(std::uint8_t size) {
    return size == 0 || size >= 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * size)) - 1;
}

/// The lowest bits that values of the class of `magnitude` may differ in.
unsigned free_bits(std::uint64_t magnitude) {
    const auto bits = static_cast<unsigned>(std::bit_width(magnitude));
    return bits <= kBitsInOctave + 1 ? 0 : bits - kBitsInOctave - 1;
}

std::uint64_t rounded(std::uint64_t magnitude) {
    const unsigned bits = free_bits(magnitude);
    return magnitude >> bits << bits;
}

bool is_signed(ValueKind kind) {
    return kind == ValueKind::signed_integer || kind == ValueKind::enumeration;
}

std::int64_t signed_value(ValueKind kind, std::uint8_t size, std::uint64_t word) {
    return std::get<std::int64_t>(value_of(kind, size, word));
}

unsigned mantissa_bits(std::uint8_t size) {
    constexpr unsigned kFloat = 23, kDouble = 52;
    return size == sizeof(float) ? kFloat : kDouble;
}

}  // namespace

std::uint64_t size_class(std::uint64_t word, std::uint8_t kind, std::uint8_t size) {
    const auto what = static_cast<ValueKind>(kind);
    if (what == ValueKind::floating)
        return (word & mask_of_bytes(size)) >> mantissa_bits(size) << mantissa_bits(size);
    if (!is_signed(what)) return rounded(word & mask_of_bytes(size));
    const std::int64_t value = signed_value(what, size, word);
    if (value >= 0) return rounded(static_cast<std::uint64_t>(value));
    return (0 - rounded(0 - static_cast<std::uint64_t>(value))) & mask_of_bytes(size);
}

std::string size_class_text(const trace::ParameterInfo& parameter, std::uint64_t size_class) {
    const auto kind = static_cast<ValueKind>(parameter.kind);
    const std::uint64_t first = size_class & mask_of_bytes(parameter.size);
    std::uint64_t last = first;
    if (kind == ValueKind::floating) {
        last = first | ((std::uint64_t{1} << mantissa_bits(parameter.size)) - 1);
    } else {
        const bool negative = is_signed(kind) && signed_value(kind, parameter.size, first) < 0;
        const std::uint64_t magnitude =
            negative ? 0 - static_cast<std::uint64_t>(signed_value(kind, parameter.size, first)) : first;
        const std::uint64_t more = (std::uint64_t{1} << free_bits(magnitude)) - 1;
        last = (negative ? first - more : first + more) & mask_of_bytes(parameter.size);
    }
    const auto text = [&](std::uint64_t word) {
        return std::visit([](auto value) { return fmt::format("{:.4}", static_cast<double>(value)); },
                          value_of(kind, parameter.size, word));
    };
    const auto whole = [&](std::uint64_t word) {
        const ValueKind shown = kind == ValueKind::pointer ? ValueKind::unsigned_integer : kind;
        return std::visit([](auto value) { return fmt::format("{}", value); },
                          value_of(shown, parameter.size, word));
    };
    if (kind == ValueKind::floating) return text(first) + "…" + text(last);
    return first == last ? whole(first) : whole(first) + "…" + whole(last);
}

}  // namespace rdam::sequences
