#include "analyzer/inputs/build/line_reader.h"

#include <cstring>
#include <utility>

namespace rdam::inputs {
namespace {

constexpr std::size_t kFirstBuffer = std::size_t{1} << 18U;

}  // namespace

LineReader::LineReader(ByteSource source, std::string path)
    : source_(std::move(source)), path_(std::move(path)) {
    buffer_.resize(kFirstBuffer);
}

Result<LineReader> LineReader::open(const std::string& path) {
    auto source = ByteSource::open(path);
    if (!source) return tl::unexpected{source.error()};
    return LineReader{std::move(*source), path};
}

/// Reads more behind what has not been given yet. False: there is no more, or an error.
bool LineReader::fill() {
    if (ended_) return false;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) {
        if (buffer_.size() >= kMaxLine) {
            ++number_;
            error_ = fail_here("is longer than {} MiB: no tool writes such a line", kMaxLine >> 20U).value();
            return false;
        }
        buffer_.resize(buffer_.size() * 2);
    }
    const auto got = source_.read({buffer_.data() + end_, buffer_.size() - end_});
    if (!got) {
        error_ = got.error();
        return false;
    }
    end_ += *got;
    ended_ = end_ < buffer_.size();
    return *got > 0;
}

std::optional<std::string_view> LineReader::next() {
    if (error_) return {};
    std::size_t searched = begin_;
    for (;;) {
        const auto* found =
            static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
        std::size_t length = 0;
        if (found != nullptr) {
            length = static_cast<std::size_t>(found - (buffer_.data() + begin_));
        } else {
            const std::size_t seen = end_ - begin_;
            if (fill()) {
                searched = begin_ + seen;
                continue;
            }
            if (error_ || end_ == begin_) return {};
            length = end_ - begin_;
        }
        std::string_view line{buffer_.data() + begin_, length};
        begin_ = std::min(end_, begin_ + length + 1);
        ++number_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        return line;
    }
}

}  // namespace rdam::inputs
