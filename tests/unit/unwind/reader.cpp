#include "tests/unit/unwind/reader.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

namespace rdam::test {
namespace {

class Reader {
  public:
    Reader(std::span<const std::uint8_t> bytes, std::uint64_t address) : bytes_{bytes}, address_{address} {}

    std::uint64_t address() const { return address_ + at_; }
    bool at_end() const { return at_ == bytes_.size(); }

    std::uint64_t fixed(unsigned size) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < size; ++i)
            value += std::uint64_t{byte()} << (8 * i);
        return value;
    }
    std::uint8_t byte() { return bytes_.size() > at_ ? bytes_[at_++] : throw std::out_of_range{"a table"}; }
    std::uint64_t unsigned_leb() { return leb(false); }
    std::int64_t signed_leb() { return static_cast<std::int64_t>(leb(true)); }
    Reader part(std::uint64_t size) {
        if (size > bytes_.size() - at_) throw std::out_of_range{"a table"};
        const Reader result{bytes_.subspan(at_, size), address()};
        at_ += size;
        return result;
    }
    Reader behind(std::uint64_t distance) const {
        Reader result = *this;
        result.part(distance);
        return result;
    }

    /// "LSB Core", 10.5.1; what is indirect is not followed.
    std::uint64_t encoded(unsigned encoding) {
        const std::uint64_t here = address();
        const std::uint64_t value = of_format(encoding & 15);
        if ((encoding & 0x70) == 0 || value == 0) return value;
        if ((encoding & 0x70) != 0x10) throw std::runtime_error{"an encoding"};
        return value + here;
    }

  private:
    std::uint64_t of_format(unsigned format) {
        switch (format) {
            case 0:
            case 4:
            case 12:
                return fixed(8);
            case 1:
                return unsigned_leb();
            case 2:
                return fixed(2);
            case 3:
                return fixed(4);
            case 9:
                return static_cast<std::uint64_t>(signed_leb());
            case 10:
                return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(fixed(2))});
            case 11:
                return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(fixed(4))});
            default:
                throw std::runtime_error{"a format"};
        }
    }
    std::uint64_t leb(bool is_signed) {
        std::uint64_t value = 0;
        unsigned shift = 0;
        for (;;) {
            const std::uint64_t part = byte();
            value |= (part & 127) << shift;
            shift += 7;
            if ((part & 128) != 0) continue;
            if (is_signed && (part & 64) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
            return value;
        }
    }

    std::span<const std::uint8_t> bytes_;
    std::uint64_t address_;
    std::size_t at_ = 0;
};

struct Kind {
    std::string letters;
    unsigned addresses = 0;
    unsigned tables = 255;
    std::string personality;
};

Kind read_kind(Reader entry) {
    Kind kind;
    const unsigned version = entry.byte();
    while (const char letter = static_cast<char>(entry.byte()))
        kind.letters += letter;
    if (version == 4) entry.fixed(2);
    entry.unsigned_leb();
    entry.signed_leb();
    version == 1 ? entry.byte() : entry.unsigned_leb();
    if (kind.letters.empty() || kind.letters[0] != 'z') return kind;
    entry.unsigned_leb();
    for (const char letter : kind.letters.substr(1)) {
        if (letter == 'R') kind.addresses = entry.byte();
        if (letter == 'L') kind.tables = entry.byte();
        if (letter != 'P') continue;
        const unsigned encoding = entry.byte();
        const std::uint64_t address = entry.encoded(encoding);
        kind.personality = fmt::format("{:#x}{}", address, (encoding & 128) != 0 ? " indirectly" : "");
    }
    return kind;
}

std::string types_of_list(Reader list, const std::function<std::string(std::uint64_t)>& type) {
    std::string text;
    while (const std::uint64_t number = list.unsigned_leb())
        text += " " + type(number);
    return text;
}

std::string chain(const Reader& actions, std::uint64_t first, const Reader& types,
                  const std::function<std::string(std::uint64_t)>& type) {
    std::string text;
    std::uint64_t at = first - 1;
    for (int most = 1000; most > 0; --most) {
        Reader record = actions.behind(at);
        const std::int64_t filter = record.signed_leb();
        const std::uint64_t field = record.address() - actions.address();
        if (filter == 0) text += " cleanup";
        if (filter > 0) text += fmt::format(" {}:{}", filter, type(static_cast<std::uint64_t>(filter)));
        if (filter < 0)
            text += fmt::format(" {}:only({})", filter,
                                types_of_list(types.behind(static_cast<std::uint64_t>(-filter - 1)), type));
        const std::int64_t next = record.signed_leb();
        if (next == 0) return text;
        at = field + static_cast<std::uint64_t>(next);
    }

    return text + " …";
}

}  // namespace

std::vector<Described> read_descriptions(std::span<const std::uint8_t> section, std::uint64_t address) {
    std::vector<Described> found;
    std::map<std::uint64_t, Kind> kinds;
    Reader reader{section, address};
    while (!reader.at_end()) {
        const std::uint64_t begin = reader.address();
        const std::uint64_t size = reader.fixed(4);
        if (size == 0) continue;
        Reader entry = reader.part(size);
        const std::uint64_t field = entry.address();
        const std::uint64_t to_kind = entry.fixed(4);
        if (to_kind == 0) {
            kinds[begin] = read_kind(entry);
            continue;
        }
        const Kind& kind = kinds.at(field - to_kind);
        Described described;
        described.begin = entry.encoded(kind.addresses);
        described.end = described.begin + entry.encoded(kind.addresses & 15);
        described.personality = kind.personality;
        if (kind.letters.starts_with('z') && entry.unsigned_leb() > 0 && kind.tables != 255)
            described.landing_table = entry.encoded(kind.tables);
        found.push_back(described);
    }
    return found;
}

std::string landings(const Memory& memory, std::uint64_t table, std::uint64_t begin, std::uint64_t place) {
    Reader reader{memory(table), table};
    std::uint64_t pads = begin;
    if (const unsigned encoding = reader.byte(); encoding != 255) pads = reader.encoded(encoding);
    const unsigned type_encoding = reader.byte();
    Reader types = reader;
    if (type_encoding != 255) {
        const std::uint64_t distance = reader.unsigned_leb();
        types = reader.behind(distance);
    }
    const auto type = [&](std::uint64_t number) {
        const unsigned format = type_encoding & 15;
        const unsigned size = format == 3 || format == 11 ? 4 : 8;
        const std::uint64_t at = types.address() - number * size;
        Reader entry{memory(at), at};
        const std::uint64_t address = entry.encoded(type_encoding);
        if (address == 0) return std::string{"all"};
        return fmt::format("{:#x}{}", address, (type_encoding & 128) != 0 ? " indirectly" : "");
    };
    const unsigned site_encoding = reader.byte();
    const std::uint64_t size = reader.unsigned_leb();
    Reader sites = reader.part(size);
    std::string text;
    while (!sites.at_end()) {
        const std::uint64_t from = begin + sites.encoded(site_encoding);
        const std::uint64_t length = sites.encoded(site_encoding);
        const std::uint64_t pad = sites.encoded(site_encoding);
        const std::uint64_t action = sites.unsigned_leb();
        if (place < from || place - from >= length) continue;
        text += pad == 0 ? "[no pad" : fmt::format("[{:#x}", pads + pad);
        if (action > 0) text += chain(reader, action, types, type);
        text += "]";
    }
    return text;
}

}  // namespace rdam::test
