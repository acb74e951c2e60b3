// The tables of a profile of the Firefox Profiler, in version 61 of its processed format: objects of columns.
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md
//
// Of an older version, stacks and functions would be in each thread again; a newer one has nothing for us,
// and is refused by viewers that somebody has installed meanwhile, while each viewer upgrades an older one.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "tools/trace/event.h"

namespace rdam::formats::firefox {

inline constexpr int kVersion = 61;

/// Indices into Profile::meta.categories.
enum Category : std::uint32_t { kCalls, kOther, kOffProcessor };

/// A JSON string, quotes included, of what printable() makes of the text.
std::string json_string(std::string_view text);

/// Milliseconds with all digits of nanoseconds; what was before the run's start is at its start.
std::string milliseconds(std::int64_t ns);
/// … of a duration; 0 for what is no number.
std::string milliseconds(double ns);

/// One table. Takes as much memory as its text.
class Table {
  public:
    Table(std::initializer_list<std::string_view> columns) {
        for (const std::string_view name : columns)
            columns_.emplace_back(name, std::string{});
    }

    /// A JSON value for each column: texts are taken as they are. The row's number.
    template <class... Values>
    std::uint32_t add(const Values&... values) {
        std::size_t column = 0;
        (append(columns_[column++].second, values), ...);
        return rows_++;
    }
    std::uint32_t rows() const { return rows_; }
    /// `more`: members of the object, each with a comma after it. The table is empty afterwards.
    void write(Buffer& out, std::string_view more = "");

  private:
    template <class Value>
    void append(std::string& text, const Value& value) {
        if (rows_ > 0) text += ',';
        fmt::format_to(std::back_inserter(text), "{}", value);
    }

    std::vector<std::pair<std::string_view, std::string>> columns_;
    std::uint32_t rows_ = 0;
};

/// What all threads refer to. Grows with the functions that are used, and by a stack for each new call path.
class Shared {
  public:
    explicit Shared(const trace::TraceInfo& info);

    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// Of the string table.
    std::uint32_t string(const std::string& text);
    std::uint32_t name_of(std::uint32_t function);

    /// `function` called from `parent` (a stack; kNone: from nowhere).
    std::uint32_t stack(std::uint32_t parent, std::uint32_t function);
    /// Below which are the calls that are no samples of their own.
    std::uint32_t other_calls();
    std::uint32_t stacks() const { return stacks_.rows(); }

    void write(Buffer& out);

  private:
    std::uint32_t frame_of(std::uint32_t function);
    std::uint32_t resource_of(const std::string& module);
    /// JSON values of the columns source and lineNumber.
    std::pair<std::string, std::string> place_of(const std::string& source);
    std::uint32_t add_frame(std::uint32_t name, std::string_view resource, const std::string& source,
                            Category category);
    std::uint32_t child(std::uint32_t parent, std::uint32_t frame);

    const trace::TraceInfo& info_;
    std::vector<std::uint32_t> frames_of_;  // by function; kNone: not yet
    std::uint32_t other_frame_ = kNone;
    std::unordered_map<std::string, std::uint32_t> string_numbers_, resource_numbers_, source_numbers_;
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and frame
    std::string strings_;                                        // JSON values
    // Each function has one frame, of its own number.
    Table functions_, frames_, stacks_, resources_, sources_;
};

}  // namespace rdam::formats::firefox
