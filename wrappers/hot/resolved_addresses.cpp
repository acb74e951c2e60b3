#include "wrappers/hot/resolved_addresses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "wrappers/hot/hot_functions.h"
#include "wrappers/hot/kernel_frames.h"
#include "wrappers/object/object_file.h"
#include "wrappers/text/text_lines.h"

namespace rdam {
namespace {

class Names {
  public:
    /// Empty: none is known.
    std::string_view at(std::string_view path, std::uint64_t offset) {
        const ObjectFile* file = opened(path);
        const auto address = file == nullptr ? std::nullopt : address_of(*file, offset);
        const Symbol* symbol = address ? file->covering(*address) : nullptr;
        return symbol != nullptr && symbol->kind == SymbolKind::function ? symbol->name : std::string_view{};
    }

    /// Of the function that begins where this mark is; empty: none does.
    std::string_view behind_mark(std::string_view path, std::string_view mark) {
        const ObjectFile* const file = opened(path);
        if (file == nullptr) return {};
        for (const std::uint32_t index : file->named(mark))
            for (const Symbol& symbol : file->at(file->symbols()[index].address))
                if (symbol.size > 0 && symbol.kind == SymbolKind::function) return symbol.name;
        return {};
    }

  private:
    const ObjectFile* opened(std::string_view path) {
        const auto [known, is_new] = files_.try_emplace(std::string(path));
        if (is_new) {
            if (auto file = ObjectFile::open(known->first)) known->second = std::move(*file);
        }
        return known->second ? &*known->second : nullptr;
    }

    /// The link-time address of what is so far into the file.
    static std::optional<std::uint64_t> address_of(const ObjectFile& file, std::uint64_t offset) {
        for (const GElf_Phdr& segment : read_segments(file.image()))
            if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
                offset - segment.p_offset < segment.p_filesz)
                return segment.p_vaddr + (offset - segment.p_offset);
        return std::nullopt;
    }

    std::map<std::string, std::optional<ObjectFile>, std::less<>> files_;
};

constexpr std::string_view kPrefix = "0x";

bool is_nameless_place(const PerfRow& row) {
    return row.level == '.' && row.module.starts_with('/') && !is_no_file(row.module) &&
           row.symbol.starts_with(kPrefix);
}

/// OCaml marks where the code of a unit begins, which is where its first function does. perf gives one of the
/// names, by version.
bool is_mark(const PerfRow& row) {
    return row.level == '.' && row.module.starts_with('/') && row.symbol.starts_with("caml") &&
           row.symbol.ends_with("code_begin");
}

}  // namespace

bool has_nameless_places(const PerfReport& report) {
    return std::ranges::any_of(report.rows, is_nameless_place);
}

void resolve_addresses(PerfReport& report, const std::map<std::string, std::string>& changed) {
    Names names;
    for (PerfRow& row : report.rows) {
        const bool is_nameless = is_nameless_place(row);
        if ((!is_nameless && !is_mark(row)) || changed.contains(std::string{row.module})) continue;
        std::string_view name;
        if (!is_nameless)
            name = names.behind_mark(row.module, row.symbol);
        else if (const auto offset = number_in<std::uint64_t>(row.symbol.substr(kPrefix.size()), 16))
            name = names.at(row.module, *offset);
        if (!name.empty()) row.symbol = report.restored.emplace_back(name);
    }
}

}  // namespace rdam
