#include "analyzer/sequences/sequence_names.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "analyzer/sequences/futex_calls.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "wrappers/catalogue/signature.h"

namespace rdam::sequences {
namespace {

constexpr std::size_t kLongestName = 200;
constexpr std::size_t kMaxChildren = 8;
constexpr int kDeepest = 2;

/// What a word of a text stands for; null: the trace does not have it.
const std::string* text_of(const trace::TraceInfo& info, std::uint64_t word) {
    return word == 0 || word > info.texts.size() ? nullptr : &info.texts[word - 1];
}

std::string with_backslash(std::string_view text, char before) {
    std::string out;
    for (const char c : text) {
        if (c == before) out += '\\';
        out += c;
    }
    return out;
}

/// Quotation marks come last: printable() makes none, and their backslashes must not be cut off.
std::string quoted(std::string_view text, std::size_t longest) {
    const std::string shown = shortened_name(printable(with_backslash(text, '\\')), longest);
    return '"' + with_backslash(shown, '"') + '"';
}

std::string result_text(const trace::FunctionInfo& function, const KeyWord& key, std::uint64_t value) {
    if (value == kNoResult) return fmt::format("{}: none", kResultName);
    const trace::ParameterInfo& result = function.result[0];
    if (!key.is_distance)
        return fmt::format("{}={}", kResultName,
                           key.by_size ? size_class_text(result, value) : format_value(result, value));
    if (value == kReturnedNull) return fmt::format("{}=0", kResultName);
    trace::ParameterInfo distance;
    distance.kind = static_cast<std::uint8_t>(ValueKind::signed_integer);
    return fmt::format("{}-{}={}", kResultName, function.parameters[0].name,
                       size_class_text(distance, value));
}

/// `name=value`.
std::string key_text(const trace::TraceInfo& info, std::uint32_t function, const KeyWord& key,
                     std::uint64_t value) {
    if (key.is_result()) return result_text(info.functions[function], key, value);
    const trace::ParameterInfo& parameter = info.functions[function].parameters[key.parameter];
    if (key.of_futex && key.word == kFutexOperationWord)
        return fmt::format("{}={}", parameter.name, name_of(static_cast<FutexCall>(value)));
    return parameter.name + "=" +
           (key.by_size ? size_class_text(parameter, value) : shown_value(info, parameter, value));
}

class NameWriter {
  public:
    NameWriter(const SequenceStore& store, const trace::TraceInfo& info, const KeyTable& keys)
        : store_(store), info_(info), keys_(keys) {}

    void write_shape(const Shape& shape, std::span<const std::uint64_t> keys, int depth) {
        out_ += info_.functions[shape.function].name;
        write_keys(shape.function, keys.empty() ? store_.keys(shape) : keys);
        if (shape.kind == ShapeKind::abandoned) out_ += "(left)";
        if (shape.kind == ShapeKind::unique) out_ += "[too many to list]";
        if (shape.runs == 0) return;
        out_ += '[';
        if (depth < kDeepest) {
            write_children(shape, depth);
        } else {
            out_ += "…";
        }
        out_ += ']';
    }

    std::string take() { return std::move(out_); }

  private:
    void write_children(const Shape& shape, int depth) {
        std::size_t written = 0;
        for (const Run& run : store_.runs(shape)) {
            if (written > 0) out_ += ", ";
            if (written == kMaxChildren || out_.size() > kLongestName) {
                fmt::format_to(std::back_inserter(out_), "… {} more", shape.runs - written);
                return;
            }
            write_shape(store_.shape(run.child), {}, depth + 1);
            if (run.count > 1) fmt::format_to(std::back_inserter(out_), " ×{}", run.count);
            ++written;
        }
    }

    void write_keys(std::uint32_t function, std::span<const std::uint64_t> values) {
        const auto& names = keys_[function];
        if (values.empty() || values.size() != names.size()) return;
        std::string_view before = "(";
        for (std::size_t i = 0; i < values.size(); ++i) {
            // The call is about something else.
            if (names[i].of_futex && values[i] == 0) continue;
            out_ += std::exchange(before, ", ");
            if (names[i].is_caller()) {
                out_ += "from " + trace::place_text(trace::place_of(info_, values[i]));
                continue;
            }
            out_ += key_text(info_, function, names[i], values[i]);
        }
        if (before != "(") out_ += ')';
    }

    const SequenceStore& store_;
    const trace::TraceInfo& info_;
    const KeyTable& keys_;
    std::string out_;
};

std::uint64_t mix_text(std::uint64_t hash, std::string_view text) {
    for (const char c : text)
        hash = hash_mix(hash, static_cast<unsigned char>(c));
    return hash_mix(hash, text.size());
}

class IdMaker {
  public:
    IdMaker(const SequenceStore& store, const trace::TraceInfo& info, const KeyTable& keys)
        : store_(store), info_(info), keys_(keys) {
        for (const trace::FunctionInfo& function : info.functions)
            function_ids_.push_back(mix_text(mix_text(kHashSeed, function.module), function.name));
    }

    /// `known` has the ids of all shapes before this one, its children among them.
    std::uint64_t shape_id(const Shape& shape, const std::vector<std::uint64_t>& known) const {
        std::uint64_t hash = hash_mix(function_ids_[shape.function], static_cast<std::uint64_t>(shape.kind));
        hash = mix_keys(hash, shape.function, store_.keys(shape));
        // The count in between: hash and id are made the same way, and a[b] would have the id of b[a].
        for (const Run& run : store_.runs(shape))
            hash = hash_mix(hash_mix(hash, run.count), known[run.child]);
        return hash;
    }

    std::uint64_t mix_keys(std::uint64_t hash, std::uint32_t function,
                           std::span<const std::uint64_t> values) const {
        const auto& words = keys_[function];
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool caller = i < words.size() && words[i].is_caller();
            const std::string* text =
                i < words.size() && !caller ? text_key(function, words[i], values[i]) : nullptr;
            if (text != nullptr)
                hash = mix_text(hash, *text);
            else
                hash = caller ? mix_place(hash, values[i]) : hash_mix(hash, values[i]);
        }
        return hash;
    }

  private:
    /// Texts are numbered in the order in which they come. Null: the key is none.
    const std::string* text_key(std::uint32_t function, const KeyWord& key, std::uint64_t value) const {
        if (key.is_result()) return nullptr;
        const bool is_text = info_.functions[function].parameters[key.parameter].is_text;
        return is_text ? text_of(info_, value) : nullptr;
    }

    /// Objects lie elsewhere in the next run.
    std::uint64_t mix_place(std::uint64_t hash, std::uint64_t address) const {
        const trace::Place place = trace::place_of(info_, address);
        return hash_mix(mix_text(hash, place.module), place.offset);
    }

    const SequenceStore& store_;
    const trace::TraceInfo& info_;
    const KeyTable& keys_;
    std::vector<std::uint64_t> function_ids_;
};

}  // namespace

std::string format_value(const trace::ParameterInfo& parameter, std::uint64_t value) {
    const auto kind = static_cast<ValueKind>(parameter.kind);
    if (kind == ValueKind::pointer) return fmt::format("{:#x}", value);
    return std::visit([](auto decoded) { return fmt::format("{}", decoded); },
                      value_of(kind, parameter.size, value));
}

std::string shown_value(const trace::TraceInfo& info, const trace::ParameterInfo& parameter,
                        std::uint64_t value, std::size_t longest) {
    if (!parameter.is_text) return format_value(parameter, value);
    if (value == 0) return "-";
    const std::string* text = text_of(info, value);
    if (text == nullptr) return fmt::format("text {}", value);
    return quoted(*text, longest);
}

std::string sequence_name(const SequenceStore& store, GroupId group, const trace::TraceInfo& info,
                          const KeyTable& keys) {
    NameWriter writer{store, info, keys};
    const Group& named = store.group(group);
    writer.write_shape(store.shape(named.shape), store.keys(named), 0);
    return writer.take();
}

std::string shape_name(const SequenceStore& store, ShapeId shape, const trace::TraceInfo& info,
                       const KeyTable& keys) {
    NameWriter writer{store, info, keys};
    writer.write_shape(store.shape(shape), {}, 0);
    return writer.take();
}

std::vector<std::uint64_t> lasting_ids(const SequenceStore& store, const trace::TraceInfo& info,
                                       const KeyTable& keys) {
    const IdMaker make{store, info, keys};
    std::vector<std::uint64_t> shape_ids;
    for (ShapeId id = 0; id < store.shapes(); ++id)
        shape_ids.push_back(make.shape_id(store.shape(id), shape_ids));
    std::vector<std::uint64_t> ids;
    for (GroupId id = 0; id < store.groups(); ++id) {
        const Group& group = store.group(id);
        const std::uint32_t function = store.shape(group.shape).function;
        const std::uint64_t hash = make.mix_keys(shape_ids[group.shape], function, store.keys(group));
        ids.push_back(hash_mix(hash, store.keys(group).size()));
    }
    return ids;
}

}  // namespace rdam::sequences
