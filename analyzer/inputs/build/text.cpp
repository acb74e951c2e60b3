#include "analyzer/inputs/build/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/base/unmovable.h"

namespace rdam::inputs {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18U;
/// zstd's own default for what it unpacks without being asked: 128 MiB.
constexpr int kMaxWindowLog = 27;

struct FreeZstd {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct ByteSource::State : Unmovable {
    enum class Packing : std::uint8_t { none, gzip, zstd };

    ~State() {
        if (inflating) inflateEnd(&gzip);
        if (fd >= 0) ::close(fd);
    }
    State() = default;

    Result<void> refill();
    Result<void> begin();
    Result<std::size_t> unpack_gzip(std::span<char> into);
    Result<std::size_t> unpack_zstd(std::span<char> into);
    [[nodiscard]] tl::unexpected<Error> damaged(std::string_view tool) const {
        return fail("{} is damaged or cut: {} cannot unpack it; copy it again", path, tool);
    }

    std::string path;
    int fd = -1;
    std::uint64_t size = 0;
    std::uint64_t got = 0;  ///< bytes of the file
    bool file_ended = false;
    Packing packing = Packing::none;
    std::vector<char> block;
    std::size_t at = 0;   ///< in `block`, of what has not been used
    std::size_t end = 0;  ///< in `block`
    z_stream gzip{};
    bool inflating = false;
    bool inside = false;  ///< of a compressed frame
    std::unique_ptr<ZSTD_DCtx, FreeZstd> zstd;
};

/// Reads the next block of the file, if the last one has been used.
Result<void> ByteSource::State::refill() {
    if (at < end || file_ended) return {};
    at = end = 0;
    while (end < block.size()) {
        const ssize_t count = ::read(fd, block.data() + end, block.size() - end);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail("cannot read {}: {}; check the file", path, std::strerror(errno));
        if (count == 0) {
            file_ended = true;
            break;
        }
        end += static_cast<std::size_t>(count);
    }
    got += end;
    return {};
}

Result<void> ByteSource::State::begin() {
    block.resize(kBlock);
    if (auto read = refill(); !read) return read;
    const std::string_view text{block.data(), end};
    if (text.starts_with("\x1f\x8b")) {
        packing = Packing::gzip;
        constexpr int kGzipOnly = 16 + MAX_WBITS;
        if (inflateInit2(&gzip, kGzipOnly) != Z_OK) return damaged("gzip");
        inflating = true;
    } else if (text.starts_with("\x28\xb5\x2f\xfd")) {
        packing = Packing::zstd;
        zstd.reset(ZSTD_createDCtx());
        if (!zstd) return damaged("zstd");
        ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
    }
    return {};
}

Result<std::size_t> ByteSource::State::unpack_gzip(std::span<char> into) {
    gzip.next_out = reinterpret_cast<Bytef*>(into.data());
    gzip.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), UINT32_MAX / 2));
    const std::size_t wanted = gzip.avail_out;
    while (gzip.avail_out > 0) {
        if (auto read = refill(); !read) return tl::unexpected{read.error()};
        if (at == end) {
            if (inside) return damaged("gzip");
            break;
        }
        inside = true;
        gzip.next_in = reinterpret_cast<Bytef*>(block.data() + at);
        gzip.avail_in = static_cast<uInt>(end - at);
        const int state = inflate(&gzip, Z_NO_FLUSH);
        at = end - gzip.avail_in;
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) return damaged("gzip");
        if (state == Z_STREAM_END) {
            inside = false;
            if (inflateReset(&gzip) != Z_OK) return damaged("gzip");
        }
    }
    return wanted - gzip.avail_out;
}

Result<std::size_t> ByteSource::State::unpack_zstd(std::span<char> into) {
    ZSTD_outBuffer out{.dst = into.data(), .size = into.size(), .pos = 0};
    while (out.pos < out.size) {
        if (auto read = refill(); !read) return tl::unexpected{read.error()};
        const bool no_input = at == end;
        if (no_input && !inside) break;
        ZSTD_inBuffer in{.src = block.data(), .size = end, .pos = at};
        const std::size_t before = out.pos;
        const std::size_t state = ZSTD_decompressStream(zstd.get(), &out, &in);
        at = in.pos;
        if (ZSTD_isError(state) != 0) return damaged("zstd");
        inside = state != 0;
        if (no_input && inside && out.pos == before) return damaged("zstd");
    }
    return out.pos;
}

ByteSource::ByteSource() = default;
ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;

Result<ByteSource> ByteSource::open(const std::string& path) {
    ByteSource source;
    source.state_ = std::make_unique<State>();
    State& state = *source.state_;
    state.path = path;
    state.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status {};
    if (state.fd < 0 || fstat(state.fd, &status) != 0)
        return fail("cannot read {}: {}; check the file and its permissions", path, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return fail("{} is not a regular file: save it to one first", path);
    state.size = static_cast<std::uint64_t>(status.st_size);
    if (auto begun = state.begin(); !begun) return tl::unexpected{begun.error()};
    return source;
}

Result<std::size_t> ByteSource::read(std::span<char> into) {
    State& state = *state_;
    if (state.packing == State::Packing::gzip) return state.unpack_gzip(into);
    if (state.packing == State::Packing::zstd) return state.unpack_zstd(into);
    std::size_t done = 0;
    while (done < into.size()) {
        if (auto read = state.refill(); !read) return tl::unexpected{read.error()};
        const std::size_t count = std::min(into.size() - done, state.end - state.at);
        if (count == 0) break;
        std::memcpy(into.data() + done, state.block.data() + state.at, count);
        state.at += count;
        done += count;
    }
    return done;
}

bool ByteSource::unpacks() const {
    return state_->packing != State::Packing::none;
}

std::uint64_t ByteSource::consumed() const {
    return state_->got - (state_->end - state_->at);
}

std::uint64_t ByteSource::size() const {
    return state_->size;
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
