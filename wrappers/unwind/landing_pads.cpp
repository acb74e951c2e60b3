#include "wrappers/unwind/landing_pads.h"

#include <dwarf.h>

#include <algorithm>

#include "wrappers/object/encoded_pointers.h"

namespace rdam::unwinding {
namespace {

/// Of actions, or of lists of types.
constexpr std::uint64_t kMostCopied = 512;
constexpr unsigned kPointer = 8;

struct CallSite {
    std::uint64_t begin = 0;  ///< from where the function's description begins
    std::uint64_t end = 0;
    std::uint64_t pad = 0;     ///< from `Source::pads`; 0: none
    std::uint64_t action = 0;  ///< 0: cleanup only

    bool covers(std::uint64_t place) const { return place >= begin && place < end; }
    bool leads_as(const CallSite& other) const { return pad == other.pad && action == other.action; }
};

/// The table as the compiler made it.
struct Source {
    explicit Source(const EncodedPointers& encoded) : pointers{encoded} {}

    EncodedPointers pointers;
    std::uint64_t pads = 0;  ///< what landing pads count from
    std::uint8_t type_encoding = DW_EH_PE_omit;
    std::span<const std::uint8_t> before_types;  ///< the types, from the last to the first
    std::span<const std::uint8_t> behind_types;  ///< lists of the types that may leave
    std::span<const std::uint8_t> actions;
    std::vector<CallSite> sites;
};

std::optional<unsigned> size_of(std::uint8_t encoding) {
    switch (encoding & 0x0fU) {
        case DW_EH_PE_absptr:
        case DW_EH_PE_udata8:
        case DW_EH_PE_sdata8:
            return 8;
        case DW_EH_PE_udata4:
        case DW_EH_PE_sdata4:
            return 4;
        default:
            return std::nullopt;
    }
}

std::optional<std::uint64_t> read_offset(Cursor& from, std::uint8_t encoding) {
    if (encoding == DW_EH_PE_uleb128) return from.uleb();
    const auto size = size_of(encoding);
    if (!size || (encoding & 0xf0U) != 0) return std::nullopt;
    return from.fixed(*size);
}

bool read_sites(Source& source, Cursor table, std::uint8_t encoding) {
    while (!table.at_end()) {
        const auto begin = read_offset(table, encoding);
        const auto size = read_offset(table, encoding);
        const auto pad = read_offset(table, encoding);
        const std::uint64_t action = table.uleb();
        if (!begin || !size || !pad || table.bad()) return false;
        source.sites.push_back({*begin, *begin + *size, *pad, action});
    }
    return true;
}

std::optional<Source> read_source(const ObjectFile& file, const FrameDescription& description) {
    const auto& sections = file.sections();
    const auto section = std::find_if(sections.begin(), sections.end(), [&](const ElfSection& one) {
        return (one.header.sh_flags & SHF_ALLOC) != 0 && one.contains(description.landing_table);
    });
    if (section == sections.end()) return std::nullopt;
    const auto bytes = section_bytes(*section);
    const std::uint64_t first = description.landing_table - section->header.sh_addr;
    if (first >= bytes.size()) return std::nullopt;
    Source source{EncodedPointers{bytes, section->header.sh_addr, true}};
    Cursor table{bytes.subspan(first)};

    source.pads = description.code.begin;
    if (const std::uint8_t encoding = table.byte(); encoding != DW_EH_PE_omit) {
        const std::uint8_t* position = table.at();
        const auto pads = source.pointers.read(position, encoding);
        if (!pads || (encoding & DW_EH_PE_indirect) != 0 || !is_settled(file, encoding)) return std::nullopt;
        source.pads = *pads;
        table.skip(static_cast<std::uint64_t>(position - table.at()));
    }
    source.type_encoding = table.byte();
    if (source.type_encoding != DW_EH_PE_omit) {
        const std::uint64_t distance = table.uleb();
        const std::uint64_t from_first = static_cast<std::uint64_t>(table.at() - bytes.data());
        if (table.bad() || distance > bytes.size() - from_first) return std::nullopt;
        source.before_types = bytes.first(from_first + distance).subspan(from_first);
        source.behind_types = bytes.subspan(from_first + distance);
    }
    const std::uint8_t site_encoding = table.byte();
    const std::uint64_t size = table.uleb();
    if (table.bad() || size > table.rest().size()) return std::nullopt;
    if (!read_sites(source, Cursor{table.rest().first(size)}, site_encoding)) return std::nullopt;
    source.actions = table.rest().subspan(size);
    return source;
}

/// What of the tables behind the call sites these need.
class Needs {
  public:
    explicit Needs(const Source& source) : source_{source} {}

    /// False: it is not understood.
    bool add_chain(std::uint64_t action) {
        for (std::uint64_t at = action - 1;;) {
            if (at >= std::min<std::uint64_t>(source_.actions.size(), kMostCopied)) return false;
            Cursor record{source_.actions.subspan(at)};
            const std::int64_t filter = record.sleb();
            const std::uint64_t next_field = at + position_in(record, at);
            const std::int64_t next = record.sleb();
            const std::uint64_t end = at + position_in(record, at);
            if (record.bad() || !add_filter(filter)) return false;
            actions_ = std::max(actions_, end);
            if (next == 0) return true;
            // Chains go back, or on; one that comes to where it has been would never end.
            if (++followed_ > kMostCopied) return false;
            at = next_field + static_cast<std::uint64_t>(next);
        }
    }

    std::span<const std::uint8_t> actions() const { return source_.actions.first(actions_); }
    std::span<const std::uint8_t> lists() const { return source_.behind_types.first(lists_); }
    std::uint64_t types() const { return types_; }

  private:
    std::uint64_t position_in(const Cursor& record, std::uint64_t at) const {
        return static_cast<std::uint64_t>(record.at() - (source_.actions.data() + at));
    }

    bool add_filter(std::int64_t filter) {
        if (filter == 0) return true;
        if (source_.type_encoding == DW_EH_PE_omit) return false;
        if (filter > 0) return add_type(static_cast<std::uint64_t>(filter));
        const auto first = static_cast<std::uint64_t>(-(filter + 1));
        if (first >= std::min<std::uint64_t>(source_.behind_types.size(), kMostCopied)) return false;
        Cursor list{source_.behind_types.subspan(first)};
        for (std::uint64_t type = list.uleb(); type != 0; type = list.uleb())
            if (list.bad() || !add_type(type)) return false;
        lists_ = std::max(lists_, static_cast<std::uint64_t>(list.at() - source_.behind_types.data()));
        return !list.bad();
    }

    bool add_type(std::uint64_t type) {
        const auto size = size_of(source_.type_encoding);
        if (!size || type > kMostCopied || type * *size > source_.before_types.size()) return false;
        types_ = std::max(types_, type);
        return true;
    }

    const Source& source_;
    std::uint64_t actions_ = 0;
    std::uint64_t lists_ = 0;
    std::uint64_t types_ = 0;
    std::uint64_t followed_ = 0;
};

struct MovedSite {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    CallSite site;
};

std::vector<MovedSite> moved_sites(const Source& source, std::uint64_t from_description,
                                   const MovedPrologue& moved) {
    std::vector<MovedSite> found;
    for (std::size_t i = 0; i < moved.steps.size(); ++i) {
        const std::uint32_t begin = moved.steps[i].code;
        const std::uint32_t end = i + 1 < moved.steps.size() ? moved.steps[i + 1].code : moved.executed;
        const std::uint64_t place = from_description + moved.steps[i].original;
        const auto site = std::find_if(source.sites.begin(), source.sites.end(),
                                       [&](const CallSite& one) { return one.covers(place); });
        if (site == source.sites.end()) continue;
        if (!found.empty() && found.back().end == begin && found.back().site.leads_as(*site))
            found.back().end = end;
        else
            found.push_back({begin, end, *site});
    }
    return found;
}

/// Types as addresses of 8 bytes, whatever they were. False: some cannot be.
bool put_types(LandingTable& out, const ObjectFile& file, const Source& source, std::uint64_t count) {
    const unsigned size = size_of(source.type_encoding).value_or(0);
    for (std::uint64_t type = count; type > 0; --type) {
        const std::uint8_t* position = source.before_types.data() + source.before_types.size() - type * size;
        const std::span<const std::uint8_t> raw{position, size};
        const bool none = std::all_of(raw.begin(), raw.end(), [](std::uint8_t byte) { return byte == 0; });
        const auto address = source.pointers.read(position, source.type_encoding);
        if (!none && (!address || !is_settled(file, source.type_encoding))) return false;
        if (!none)
            out.fixups.push_back({static_cast<std::uint32_t>(out.bytes.size()), plan::FixupKind::abs64,
                                  static_cast<std::int64_t>(*address)});
        put_fixed(out.bytes, 0, kPointer);
    }
    return true;
}

}  // namespace

std::optional<LandingTable> landing_table(const ObjectFile& file, const FrameDescription& description,
                                          std::uint64_t entry, const MovedPrologue& moved) {
    constexpr unsigned kDistance = 3;  // bytes of a distance that is not known yet
    const auto source = read_source(file, description);
    if (!source) return std::nullopt;
    const auto sites = moved_sites(*source, entry - description.code.begin, moved);
    Needs needs{*source};
    Bytes records;
    for (const MovedSite& each : sites) {
        if (each.site.action > 0 && !needs.add_chain(each.site.action)) return std::nullopt;
        put_uleb(records, each.begin);
        put_uleb(records, each.end - each.begin);
        put_uleb(records, each.site.pad);
        put_uleb(records, each.site.action);
    }

    LandingTable out;
    out.bytes.push_back(DW_EH_PE_absptr);
    out.fixups.push_back({static_cast<std::uint32_t>(out.bytes.size()), plan::FixupKind::abs64,
                          static_cast<std::int64_t>(source->pads)});
    put_fixed(out.bytes, 0, kPointer);
    const bool typed = needs.types() > 0 || !needs.lists().empty();
    out.bytes.push_back(typed ? DW_EH_PE_absptr | (source->type_encoding & DW_EH_PE_indirect)
                              : DW_EH_PE_omit);
    const std::size_t distance_field = out.bytes.size();
    if (typed) put_padded_uleb(out.bytes, 0, kDistance);
    const std::size_t counted_from = out.bytes.size();
    out.bytes.push_back(DW_EH_PE_uleb128);
    put_uleb(out.bytes, records.size());
    put_bytes(out.bytes, records);
    put_bytes(out.bytes, needs.actions());
    if (!typed) return out;
    if (!put_types(out, file, *source, needs.types())) return std::nullopt;
    Bytes distance;
    put_padded_uleb(distance, out.bytes.size() - counted_from, kDistance);
    std::copy(distance.begin(), distance.end(),
              out.bytes.begin() + static_cast<std::ptrdiff_t>(distance_field));
    put_bytes(out.bytes, needs.lists());
    return out;
}

}  // namespace rdam::unwinding
