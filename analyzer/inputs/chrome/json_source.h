// The bytes of a JSON file, as nlohmann_json's parser of events takes them.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/text.h"
#include "tools/base/result.h"

namespace rdam::inputs::chrome {

inline bool is_letter_of_json(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/// Python's writer and C's printf() write numbers that are none, or infinite, which JSON does not have. Here
/// they are made to what JSON has and is no value, of the same length, so that places in the file stay.
class NoNumbers {
  public:
    /// How many of the bytes can be passed on; the others are to be given again, with more. `last`: there are no
    /// more.
    std::size_t replace(std::span<char> bytes, bool last) {
        std::size_t at = 0;
        while (at < bytes.size()) {
            if (in_text_) {
                at = skip_text(bytes, at);
                continue;
            }
            const char byte = bytes[at];
            if (byte == '"') in_text_ = true;
            if (byte != '-' && byte != '+' && !is_letter_of_json(byte)) {
                ++at;
                continue;
            }
            std::size_t end = at + 1;
            while (end < bytes.size() && end - at <= kLongest && is_letter_of_json(bytes[end]))
                ++end;
            if (end == bytes.size() && end - at <= kLongest && !last) return at;
            if (is_none(bytes.subspan(at, end - at))) blank(bytes.subspan(at, end - at));
            at = end;
        }
        return bytes.size();
    }

  private:
    static constexpr std::size_t kLongest = 9;  // "-Infinity"

    std::size_t skip_text(std::span<const char> bytes, std::size_t at) {
        for (; at < bytes.size(); ++at) {
            if (escaped_) {
                escaped_ = false;
            } else if (bytes[at] == '\\') {
                escaped_ = true;
            } else if (bytes[at] == '"') {
                in_text_ = false;
                return at + 1;
            }
        }
        return at;
    }
    static bool is_none(std::span<const char> word) {
        std::string name;
        for (const char byte : word)
            if (is_letter_of_json(byte)) name += static_cast<char>(byte | 0x20);
        return name == "nan" || name == "inf" || name == "infinity";
    }
    /// "null" has no room in three bytes.
    static void blank(std::span<char> word) {
        constexpr std::string_view kNull = "null", kEmpty = "{}";
        const std::string_view put = word.size() < kNull.size() ? kEmpty : kNull;
        std::ranges::fill(word, ' ');
        std::ranges::copy(put, word.begin());
    }

    bool in_text_ = false, escaped_ = false;
};

/// What nlohmann_json reads from. Ends early where a single text goes on for too long: the parser keeps it in
/// memory.
class JsonSource final : public std::streambuf {
  public:
    explicit JsonSource(ByteSource source) : source_(std::move(source)), bytes_(kBytes) {}

    void token() { since_token_ = 0; }
    bool ended() const { return ended_; }
    /// What is wrong with the file, or with a text that is too long to be one. Nothing: nothing is.
    std::optional<Error> problem_of(std::string_view path) const {
        if (error_) return error_;
        if (too_long_)
            return fail("{}: it has a text of more than 16 MiB, which no tool writes", path).value();
        return std::nullopt;
    }
    const ByteSource& source() const { return source_; }

  protected:
    int_type underflow() override {
        if (ended_ || too_long_ || error_) return traits_type::eof();
        if (since_token_ > kMaxText) {
            too_long_ = true;
            return traits_type::eof();
        }
        // What the last time could not be passed on.
        std::memmove(bytes_.data(), bytes_.data() + ready_, filled_ - ready_);
        filled_ -= ready_;
        ready_ = 0;
        while (ready_ == 0) {
            const auto count = source_.read(std::span{bytes_}.subspan(filled_));
            if (!count) {
                error_ = count.error();
                return traits_type::eof();
            }
            filled_ += *count;
            ended_ = filled_ == 0;
            if (ended_) return traits_type::eof();
            since_token_ += *count;
            ready_ = no_numbers_.replace(std::span{bytes_}.first(filled_), *count == 0);
        }
        setg(bytes_.data(), bytes_.data(), bytes_.data() + ready_);
        return traits_type::to_int_type(bytes_.front());
    }

  private:
    static constexpr std::size_t kBytes = std::size_t{1} << 16, kMaxText = std::size_t{16} << 20;

    ByteSource source_;
    std::vector<char> bytes_;
    NoNumbers no_numbers_;
    std::size_t filled_ = 0;  // of bytes_
    std::size_t ready_ = 0;   // of those, for the parser
    std::size_t since_token_ = 0;
    bool ended_ = false, too_long_ = false;
    std::optional<Error> error_;
};

/// Without nlohmann_json's number of the error.
inline std::string_view plain_problem(std::string_view problem) {
    const auto end = problem.find("] ");
    return end == std::string_view::npos ? problem : problem.substr(end + 2);
}

}  // namespace rdam::inputs::chrome
