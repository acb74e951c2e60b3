// The bytes of a file, unpacked if it is compressed by gzip or zstd (recognized by content), its lines, and the
// numbers in them.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam::inputs {

/// Memory is bounded, whatever the file. Not thread-safe.
class ByteSource {
  public:
    /// Errors: no such file, not a regular file, not readable.
    static Result<ByteSource> open(const std::string& path);
    /// Fills `into`; less only at the end. Errors: the disk's, compressed data damaged or cut.
    Result<std::size_t> read(std::span<char> into);

    bool unpacks() const { return zstd_ != nullptr || gzdirect(file_.get()) == 0; }
    std::uint64_t consumed() const;               ///< bytes of the file itself, so far
    std::uint64_t size() const { return size_; }  ///< of the file itself

  private:
    struct Close {
        void operator()(gzFile file) const { gzclose_r(file); }
    };
    struct FreeZstd {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };

    explicit ByteSource(std::string path) : path_(std::move(path)) {}
    Result<std::size_t> read_file(std::span<char> into);
    Result<std::size_t> unpack_zstd(std::span<char> into);
    [[nodiscard]] tl::unexpected<Error> damaged(std::string_view tool) const;

    std::string path_;
    std::uint64_t size_ = 0;
    std::unique_ptr<gzFile_s, Close> file_;  // which zlib unpacks, or passes on as it is
    std::vector<char> block_;                // of the file, with zstd
    std::size_t at_ = 0, end_ = 0;           // in block_, of what has not been used
    std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd_;
    bool inside_ = false;  // of a frame of zstd's
};

// The lines of a text file, unpacked if it is compressed.

class LineReader {
  public:
    /// Nothing a tool writes is longer.
    static constexpr std::size_t kMaxLine = std::size_t{16} << 20U;

    static Result<LineReader> open(const std::string& path);

    /// The next line, without its end ("\n" or "\r\n"); valid until the next call. Nothing: the file has
    /// ended, or there is an error(). A last line without an end counts.
    std::optional<std::string_view> next();
    /// Of the file (damaged, a line too long), in whole sentences that name file and line.
    const std::optional<Error>& error() const { return error_; }

    std::uint64_t number() const { return number_; }  ///< of the line that next() gave, from 1
    std::uint64_t consumed() const { return source_.consumed(); }
    std::uint64_t size() const { return source_.size(); }

    /// `FILE line N: what`, with the arguments as in fail().
    template <class... Args>
    [[nodiscard]] tl::unexpected<Error> fail_here(fmt::format_string<Args...> format, Args&&... args) const {
        return fail("{} line {}: {}", path_, number_, fmt::format(format, std::forward<Args>(args)...));
    }

  private:
    LineReader(ByteSource source, std::string path);
    bool fill();

    ByteSource source_;
    std::string path_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  ///< of what has not been given yet
    std::size_t end_ = 0;
    bool ended_ = false;
    std::uint64_t number_ = 0;
    std::optional<Error> error_;
};

// Decimal numbers as they stand in a file, without a rounding to what a double can hold.

__extension__ using Wide = unsigned __int128;

/// digits · 10^exponent, or less than 0.
struct Decimal {
    Wide digits = 0;   ///< without zeros at the end
    int exponent = 0;  ///< of 0: 0
    bool negative = false;

    /// How many digits after the point it takes.
    int decimals() const { return exponent < 0 ? -exponent : 0; }
};

/// `12`, `-12.5`, `.5`, `1.25e+01`. What is beyond 38 significant digits is cut off. Nothing: it is none of
/// these.
std::optional<Decimal> parse_decimal(std::string_view text);

/// Without its sign, in units of 10^-scale (0…18), rounded. Nothing: 128 bits are not enough.
std::optional<Wide> in_units(const Decimal& decimal, int scale);

}  // namespace rdam::inputs
