#include "analyzer/inputs/build/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace rdam::inputs {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18U;
/// zstd's own default for what it unpacks without being asked: 128 MiB.
constexpr int kMaxWindowLog = 27;

}  // namespace

tl::unexpected<Error> ByteSource::damaged(std::string_view tool) const {
    return fail("{} is damaged or cut: {} cannot unpack it; copy it again", path_, tool);
}

Result<ByteSource> ByteSource::open(const std::string& path) {
    ByteSource source{path};
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail("cannot read {}: {}; check the file and its permissions", path, std::strerror(errno));
    source.file_.reset(gzdopen(fd, "rb"));
    if (!source.file_) throw std::bad_alloc{};
    struct stat status {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return fail("{} is not a regular file: save it to one first", path);
    source.size_ = static_cast<std::uint64_t>(status.st_size);
    gzbuffer(source.file_.get(), kBlock);
    constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";
    std::array<char, kZstd.size()> begin{};
    if (pread(fd, begin.data(), begin.size(), 0) < 0)
        return fail("cannot read {}: {}; check the file", path, std::strerror(errno));
    if (std::string_view{begin.data(), begin.size()} != kZstd) return source;
    source.block_.resize(kBlock);
    source.zstd_.reset(ZSTD_createDCtx());
    if (!source.zstd_) throw std::bad_alloc{};
    ZSTD_DCtx_setParameter(source.zstd_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
    return source;
}

/// Less than `into` only at the end.
Result<std::size_t> ByteSource::read_file(std::span<char> into) {
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(into.size(), INT_MAX));
    const int got = gzread(file_.get(), into.data(), wanted);
    int error = Z_OK;
    if (static_cast<unsigned>(got) < wanted || got < 0) gzerror(file_.get(), &error);
    if (error == Z_ERRNO) return fail("cannot read {}: {}; check the file", path_, std::strerror(errno));
    // A file that is cut is Z_BUF_ERROR.
    if (error != Z_OK && error != Z_STREAM_END) return damaged("gzip");
    return static_cast<std::size_t>(got);
}

Result<std::size_t> ByteSource::unpack_zstd(std::span<char> into) {
    ZSTD_outBuffer out{.dst = into.data(), .size = into.size(), .pos = 0};
    while (out.pos < out.size) {
        if (at_ == end_) {
            const auto more = read_file(block_);
            if (!more) return more;
            at_ = 0;
            end_ = *more;
        }
        const bool no_input = at_ == end_;
        if (no_input && !inside_) break;
        ZSTD_inBuffer in{.src = block_.data(), .size = end_, .pos = at_};
        const std::size_t before = out.pos;
        const std::size_t state = ZSTD_decompressStream(zstd_.get(), &out, &in);
        at_ = in.pos;
        if (ZSTD_isError(state) != 0) return damaged("zstd");
        inside_ = state != 0;
        if (no_input && inside_ && out.pos == before) return damaged("zstd");
    }
    return out.pos;
}

Result<std::size_t> ByteSource::read(std::span<char> into) {
    return zstd_ ? unpack_zstd(into) : read_file(into);
}

std::uint64_t ByteSource::consumed() const {
    const auto offset = static_cast<std::uint64_t>(gzoffset(file_.get()));
    return offset - (end_ - at_);
}

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

namespace {

constexpr int kMaxDigits = 38;

constexpr std::array<Wide, kMaxDigits + 1> kPowerOfTen = [] {
    std::array<Wide, kMaxDigits + 1> powers{};
    Wide power = 1;
    for (Wide& each : powers) {
        each = power;
        power *= 10;
    }
    return powers;
}();

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Digits with a point in between, as far as they go.
struct Mantissa {
    Wide digits = 0;
    int taken = 0;     ///< significant digits in `digits`
    int zeros = 0;     ///< digits since the last one that counts: zeros, or more than fit
    int fraction = 0;  ///< digits after the point
    bool any = false;

    void add(char c) {
        any = true;
        if (c == '0' || taken + zeros >= kMaxDigits) {
            if (digits != 0) ++zeros;
            return;
        }
        digits = digits * kPowerOfTen[static_cast<std::size_t>(zeros) + 1] + static_cast<unsigned>(c - '0');
        taken += zeros + 1;
        zeros = 0;
    }
};

const char* scan_mantissa(const char* at, const char* end, Mantissa& mantissa) {
    for (; at != end && is_digit(*at); ++at)
        mantissa.add(*at);
    if (at == end || *at != '.') return at;
    const char* point = ++at;
    for (; at != end && is_digit(*at); ++at)
        mantissa.add(*at);
    mantissa.fraction = static_cast<int>(std::min<std::ptrdiff_t>(at - point, 1 << 28));
    return at;
}

/// Nothing: it is no exponent, or one that no number of a trace has.
std::optional<int> scan_exponent(const char* at, const char* end) {
    constexpr int kMaxExponent = 1'000'000'000;
    if (at == end) return 0;
    if (*at != 'e' && *at != 'E') return std::nullopt;
    ++at;
    if (at != end && *at == '+') {
        ++at;
        if (at == end || !is_digit(*at)) return std::nullopt;
    }
    int exponent = 0;
    const auto [rest, error] = std::from_chars(at, end, exponent);
    if (error != std::errc{} || rest != end) return std::nullopt;
    if (exponent < -kMaxExponent || exponent > kMaxExponent) return std::nullopt;
    return exponent;
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
    const char* at = text.data();
    const char* end = at + text.size();
    const bool negative = at != end && *at == '-';
    if (at != end && (negative || *at == '+')) ++at;
    Mantissa mantissa;
    at = scan_mantissa(at, end, mantissa);
    const std::optional<int> exponent = scan_exponent(at, end);
    if (!mantissa.any || !exponent) return std::nullopt;
    if (mantissa.digits == 0) return Decimal{};
    return Decimal{.digits = mantissa.digits,
                   .exponent = *exponent + mantissa.zeros - mantissa.fraction,
                   .negative = negative};
}

std::optional<Wide> in_units(const Decimal& decimal, int scale) {
    const int shift = decimal.exponent + scale;
    if (decimal.digits == 0 || shift < -kMaxDigits) return 0;
    if (shift < 0) {
        const Wide unit = kPowerOfTen[static_cast<std::size_t>(-shift)];
        return decimal.digits / unit + (decimal.digits % unit >= unit - unit / 2 ? 1 : 0);
    }
    Wide units = 0;
    if (shift > kMaxDigits ||
        __builtin_mul_overflow(decimal.digits, kPowerOfTen[static_cast<std::size_t>(shift)], &units))
        return std::nullopt;
    return units;
}

}  // namespace rdam::inputs
