#include "wrappers/entry/landing_pads.h"

#include <dwarf.h>

#include <algorithm>
#include <span>
#include <utility>

#include "wrappers/object/frame_table.h"

namespace rdam::unwinding {
namespace {

/// The limit for actions and for lists of types.
constexpr std::uint64_t kMaxCopied = 512;
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
    const auto section = std::ranges::find_if(sections, [&](const ElfSection& one) {
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
        const auto from_first = static_cast<std::uint64_t>(table.at() - bytes.data());
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
            if (at >= std::min<std::uint64_t>(source_.actions.size(), kMaxCopied)) return false;
            Cursor record{source_.actions.subspan(at)};
            const std::int64_t filter = record.sleb();
            const std::uint64_t next_field = at + position_in(record, at);
            const std::int64_t next = record.sleb();
            const std::uint64_t end = at + position_in(record, at);
            if (record.bad() || !add_filter(filter)) return false;
            actions_ = std::max(actions_, end);
            if (next == 0) return true;
            // Chains go back, or on; one that comes to where it has been would never end.
            if (++followed_ > kMaxCopied) return false;
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
        if (first >= std::min<std::uint64_t>(source_.behind_types.size(), kMaxCopied)) return false;
        Cursor list{source_.behind_types.subspan(first)};
        for (std::uint64_t type = list.uleb(); type != 0; type = list.uleb())
            if (list.bad() || !add_type(type)) return false;
        lists_ = std::max(lists_, static_cast<std::uint64_t>(list.at() - source_.behind_types.data()));
        return !list.bad();
    }

    bool add_type(std::uint64_t type) {
        const auto size = size_of(source_.type_encoding);
        if (!size || type > kMaxCopied || type * *size > source_.before_types.size()) return false;
        types_ = std::max(types_, type);
        return true;
    }

    const Source& source_;
    std::uint64_t actions_ = 0;
    std::uint64_t lists_ = 0;
    std::uint64_t types_ = 0;
    std::uint64_t followed_ = 0;
};

struct CodeSpan {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

struct MovedSite {
    CodeSpan code;
    CallSite site;
};

/// The moved code that stands for instructions of a call site; `entry` counts from where sites do. Nothing:
/// there is none.
std::optional<CodeSpan> moved_part(const CallSite& site, std::uint64_t entry, const MovedPrologue& moved) {
    std::optional<CodeSpan> part;
    for (std::size_t i = 0; i < moved.steps.size(); ++i) {
        if (!site.covers(entry + moved.steps[i].original)) continue;
        if (!part) part = CodeSpan{moved.steps[i].code, 0};
        part->end = i + 1 < moved.steps.size() ? moved.steps[i + 1].code : moved.executed;
    }
    return part;
}

/// All that cover an instruction, in the order of the table: those of D's own compiler are nested, and the
/// last one counts.
std::vector<MovedSite> moved_sites(const Source& source, std::uint64_t entry, const MovedPrologue& moved) {
    std::vector<MovedSite> found;
    for (const CallSite& site : source.sites)
        if (const auto part = moved_part(site, entry, moved)) found.push_back({*part, site});
    return found;
}

/// A table's bytes, and what in them depends on where things are.
class TableWriter {
  public:
    explicit TableWriter(std::uint32_t position) : position_{position} {}

    Bytes& bytes() { return table_.bytes; }
    /// Room for a size; fill() puts in what has been written since.
    std::size_t leave_size() {
        put_padded_uleb(table_.bytes, 0, kSize);
        return table_.bytes.size();
    }
    void fill(std::size_t size_end) {
        Bytes size;
        put_padded_uleb(size, table_.bytes.size() - size_end, kSize);
        std::copy(size.begin(), size.end(),
                  table_.bytes.begin() + static_cast<std::ptrdiff_t>(size_end - kSize));
    }
    LandingTable finish() && { return std::move(table_); }

    /// 4 bytes: how far `target` is from them.
    void put_distance(std::uint64_t target) {
        // The field's end is what the fix-up counts from.
        put_fixup(plan::FixupKind::rel32, target + 4);
        put_fixed(table_.bytes, 0, 4);
    }

    /// 4 bytes: how far `target` is from the moved code's first.
    void put_pad(std::uint64_t target) {
        put_fixup(plan::FixupKind::rel32, target + here() + 4);
        put_fixed(table_.bytes, 0, 4);
    }

    void put_address(std::uint64_t target) {
        put_fixup(plan::FixupKind::abs64, target);
        put_fixed(table_.bytes, 0, kPointer);
    }

  private:
    static constexpr unsigned kSize = 3;

    std::uint32_t here() const { return position_ + static_cast<std::uint32_t>(table_.bytes.size()); }
    void put_fixup(plan::FixupKind kind, std::uint64_t target) {
        table_.fixups.push_back({here(), kind, static_cast<std::int64_t>(target)});
    }

    std::uint32_t position_;
    LandingTable table_;
};

/// By the size of what the compiler has made: what 4 bytes reach from the function they reach from near it.
std::uint8_t written_encoding(const Source& source) {
    constexpr std::uint8_t kFar = DW_EH_PE_absptr;
    constexpr std::uint8_t kNear = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
    const std::uint8_t format = size_of(source.type_encoding) == kPointer ? kFar : kNear;
    return static_cast<std::uint8_t>(format | (source.type_encoding & DW_EH_PE_indirect));
}

/// False: some types are not known before the program runs.
bool put_types(TableWriter& out, const ObjectFile& file, const Source& source, std::uint64_t count) {
    const unsigned size = size_of(source.type_encoding).value_or(0);
    for (std::uint64_t type = count; type > 0; --type) {
        const std::uint8_t* position = source.before_types.data() + source.before_types.size() - type * size;
        const std::span<const std::uint8_t> raw{position, size};
        const bool none = std::ranges::all_of(raw, [](std::uint8_t byte) { return byte == 0; });
        const auto address = source.pointers.read(position, source.type_encoding);
        if (none)
            put_fixed(out.bytes(), 0, size);
        else if (!address || !is_settled(file, source.type_encoding))
            return false;
        else if (size == kPointer)
            out.put_address(*address);
        else
            out.put_distance(*address);
    }
    return true;
}

void put_site(TableWriter& out, const Source& source, const MovedSite& moved) {
    put_fixed(out.bytes(), moved.code.begin, 4);
    put_fixed(out.bytes(), moved.code.end - moved.code.begin, 4);
    if (moved.site.pad == 0)
        put_fixed(out.bytes(), 0, 4);
    else
        out.put_pad(source.pads + moved.site.pad);
    put_uleb(out.bytes(), moved.site.action);
}

}  // namespace

std::optional<LandingTable> landing_table(const ObjectFile& file, const FrameDescription& description,
                                          std::uint64_t entry, const MovedPrologue& moved,
                                          std::uint32_t position) {
    const auto source = read_source(file, description);
    if (!source) return std::nullopt;
    const auto sites = moved_sites(*source, entry - description.code.begin, moved);
    Needs needs{*source};
    for (const MovedSite& each : sites)
        if (each.site.action > 0 && !needs.add_chain(each.site.action)) return std::nullopt;
    const bool typed = needs.types() > 0 || !needs.lists().empty();

    TableWriter out{position};
    // Landing pads count from where the code begins. D's personality routine counts the call sites from where
    // they do: it cannot be told another place.
    out.bytes().push_back(DW_EH_PE_omit);
    out.bytes().push_back(typed ? written_encoding(*source) : std::uint8_t{DW_EH_PE_omit});
    const std::size_t before_types = typed ? out.leave_size() : 0;
    out.bytes().push_back(DW_EH_PE_sdata4);
    const std::size_t before_sites = out.leave_size();
    for (const MovedSite& each : sites)
        put_site(out, *source, each);
    out.fill(before_sites);
    put_bytes(out.bytes(), needs.actions());
    if (typed) {
        if (!put_types(out, file, *source, needs.types())) return std::nullopt;
        out.fill(before_types);
        put_bytes(out.bytes(), needs.lists());
    }
    return std::move(out).finish();
}

std::vector<std::uint64_t> landing_pads(const ObjectFile& file, const FrameDescription& description) {
    std::vector<std::uint64_t> pads;
    if (description.landing_table == 0) return pads;
    const auto source = read_source(file, description);
    if (!source) return pads;
    for (const CallSite& site : source->sites)
        if (site.pad != 0) pads.push_back(source->pads + site.pad);
    std::ranges::sort(pads);
    return pads;
}

}  // namespace rdam::unwinding
