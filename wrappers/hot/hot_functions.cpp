#include "wrappers/hot/hot_functions.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "tools/base/files.h"
#include "tools/base/glob.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "wrappers/catalogue/known_programs.h"
#include "wrappers/find/function_list.h"
#include "wrappers/object/elf_image.h"
#include "wrappers/object/symbol_reader.h"

namespace rdam {

namespace {

using Key = std::pair<std::string, std::string>;  // module, name

/// What perf prints in place of a name: "0x7f8ba94eda26", "0".
bool is_address(std::string_view symbol) {
    return symbol == "0" || (symbol.size() > 2 && symbol.starts_with("0x") &&
                             symbol.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos);
}

bool has_no_name(const PerfRow& row) {
    return is_address(row.symbol) || row.symbol == "[unknown]";
}

}  // namespace

bool is_no_file(std::string_view module) {
    if (const auto name = file_name(module); name != module && is_no_file(name)) return true;
    return module.starts_with("[") || module.starts_with("//") || module.starts_with("anon_inode") ||
           module.starts_with("/memfd:") || module.starts_with("/SYSV") || module.starts_with("/dev/") ||
           module.starts_with("perf-") || module.starts_with("jitted-");
}

namespace {

bool is_kernel(const PerfRow& row) {
    return row.level == 'k' || (row.level == ' ' && row.module.starts_with("[kernel"));
}

/// nullopt: a function of the program.
std::optional<LeftOut> reason_against(const PerfRow& row) {
    const bool nowhere = row.module == "[unknown]";
    if (has_no_name(row) && (nowhere || is_kernel(row) || !is_no_file(row.module)))
        return LeftOut::unresolved;
    if (row.level == 'g' || row.level == 'u' || row.level == 'H') return LeftOut::guest;
    if (is_kernel(row)) return LeftOut::kernel;
    if (row.symbol.ends_with(" (inlined)")) return LeftOut::inlined;
    if (is_dynamic_linker(row.module)) return LeftOut::linker;
    if (is_no_file(row.module)) return nowhere ? LeftOut::unresolved : LeftOut::no_file;
    return std::nullopt;
}

/// The name of f for "f.cold", which is code that f jumps to.
std::string_view whole_function(std::string_view name) {
    return name.substr(0, name.find(".cold", 1));
}

/// `write@plt` is the few instructions that jump to `write`, in whatever module that is.
Key key_of(std::string_view module, std::string_view name) {
    constexpr std::string_view kStub = "@plt";
    if (name.size() > kStub.size() && name.substr(name.size() - kStub.size()) == kStub)
        return {"", std::string(name.substr(0, name.size() - kStub.size()))};
    return {file_name_of(module), std::string(whole_function(name))};
}

struct Tally {
    void add(const Key& key, double percent) { functions[key] += percent; }

    void leave_out(LeftOut why, const Key& key, const PerfRow& row) {
        // Two files may have one name.
        const bool by_path = why == LeftOut::unresolved;
        auto& line = left_out[{why, by_path ? Key{std::string(row.module), key.second} : key}];
        line.why = why;
        line.module = key.first;
        if (by_path) line.path = row.module;
        line.name = key.second;
        line.percent += row.self;
        line.with_callees = std::max(line.with_callees, row.children);
        ++line.rows;
    }

    /// A function without module is that of the same name, if only one module has it.
    void merge_without_module() {
        std::map<std::string, std::vector<Key>> by_name;
        for (const auto& [key, percent] : functions)
            if (!key.first.empty()) by_name[key.second].push_back(key);
        for (auto at = functions.begin(); at != functions.end();) {
            const auto others = by_name.find(at->first.second);
            if (at->first.first.empty() && others != by_name.end() && others->second.size() == 1) {
                functions[others->second.front()] += at->second;
                at = functions.erase(at);
            } else {
                ++at;
            }
        }
    }

    std::map<Key, double> functions;
    std::map<std::pair<LeftOut, Key>, LeftOutLine> left_out;
};

void tally_rows(const PerfReport& report, Tally& tally, HotFunctions& hot) {
    for (const auto& row : report.rows) {
        const auto why = reason_against(row);
        if (why == LeftOut::kernel) hot.kernel_percent += row.self;
        auto key = key_of(row.module, row.symbol);
        if (!why) {
            tally.add(key, row.self);
            continue;
        }
        if (why == LeftOut::unresolved || has_no_name(row)) key.second.clear();
        tally.leave_out(*why, key, row);
    }
}

void tally_kernel(const PerfReport& report, Tally& tally, HotFunctions& hot) {
    for (const auto& caller : report.kernel_callers) {
        hot.kernel_credited_percent += caller.percent;
        if (!is_no_file(caller.module)) tally.add(key_of(caller.module, caller.function), caller.percent);
    }
}

void keep_hot(Tally& tally, const HotOptions& options, HotFunctions& hot) {
    for (const auto& [key, percent] : tally.functions) {
        const auto& [module, name] = key;
        if (!(percent > options.min_percent)) {
            ++hot.below_limit;
            hot.below_limit_percent += percent;
        } else if (!options.module.empty() && !glob_match(options.module, module)) {
            hot.left_out.push_back({LeftOut::module, module, name, percent, percent, 1});
        } else if (list_entry_text(module, name).empty()) {
            hot.left_out.push_back({LeftOut::unwritable, module, name, percent, percent, 1});
        } else {
            hot.functions.push_back({module, name, percent, {}});
        }
    }
    for (auto& [key, line] : tally.left_out) {
        // Inlined functions and junk callers have no samples of their own, only large Children that people
        // ask about.
        const bool callees_count = line.why == LeftOut::inlined || line.why == LeftOut::unresolved;
        const auto weight = callees_count ? std::max(line.percent, line.with_callees) : line.percent;
        if (weight > options.min_percent) hot.left_out.push_back(std::move(line));
    }
}

}  // namespace

HotFunctions hot_functions(const PerfReport& report, const HotOptions& options) {
    HotFunctions hot;
    Tally tally;
    tally_rows(report, tally, hot);
    tally_kernel(report, tally, hot);
    tally.merge_without_module();
    keep_hot(tally, options, hot);
    const auto falling = [](const auto& a, const auto& b) {
        return a.percent != b.percent ? a.percent > b.percent
                                      : std::tie(a.module, a.name) < std::tie(b.module, b.name);
    };
    std::ranges::sort(hot.functions, falling);
    std::ranges::sort(hot.left_out, falling);
    return hot;
}

std::string list_entry_text(const std::string& module, const std::string& name) {
    const auto reads_back = [&](const std::string& text, const std::string& scope) {
        const auto list = parse_function_list(text, "");
        return list && list->entries.size() == 1 && list->entries[0].scope == scope &&
               list->entries[0].name == name;
    };
    // A reader of the list must see what is wrapped, and an editor must not change it.
    if (printable(name) != name) return {};
    if (!module.empty() && printable(module) == module && reads_back(module + ":" + name, module))
        return module + ":" + name;
    return reads_back(name, "") ? name : std::string();
}

namespace {

constexpr std::string_view kInternal = "__GI_";  // in front of glibc's own names

/// Names of the functions that an ELF file calls elsewhere (its undefined dynamic symbols, without version),
/// or, if it is linked statically, of the functions that it contains.
Result<std::vector<std::string>> callable_names(const std::string& path) {
    const auto image = ElfImage::open(path);
    if (!image) return tl::unexpected(image.error());
    const bool linked = std::ranges::any_of(read_sections(*image), [](const ElfSection& section) {
        return section.header.sh_type == SHT_DYNSYM;
    });
    if (linked) return read_imports(*image);
    std::vector<std::string> names;
    for (const Symbol& symbol : read_symbols(*image, SHT_SYMTAB))
        if (symbol.is_code()) names.emplace_back(symbol.name);
    return names;
}

/// A name as programmers know it: without version (`@@GLIBC_2.3.2`), `__GI_` and leading underscores.
std::string_view plain_name(std::string_view symbol) {
    symbol = symbol.substr(0, symbol.find('@'));
    if (symbol.starts_with(kInternal)) symbol.remove_prefix(kInternal.size());
    const auto first = symbol.find_first_not_of('_');
    return first == std::string_view::npos ? symbol : symbol.substr(first);
}

}  // namespace

WaitingFunctions waiting_functions(const std::vector<std::string>& objects, const Catalogue& catalogue) {
    WaitingFunctions result;
    std::set<std::string> found;
    for (const auto& object : objects) {
        if (KnownPrograms::builtin().is_launcher(object)) continue;
        const auto names = callable_names(object);
        if (!names) {
            result.unreadable.push_back(names.error().message);
            continue;
        }
        ++result.objects;
        for (const auto& name : *names) {
            const auto* function = catalogue.find(name);
            if (function != nullptr && function->waits && !function->unlisted) found.insert(function->name);
        }
    }
    result.names.assign(found.begin(), found.end());
    return result;
}

std::string well_known_name(std::string_view symbol, const Catalogue& catalogue) {
    constexpr std::string_view kLibc = "libc_";
    const auto plain = plain_name(symbol);
    const auto bare = plain.substr(0, kLibc.size()) == kLibc ? plain.substr(kLibc.size()) : plain;
    auto internal = symbol.substr(0, symbol.find('@'));
    if (internal.substr(0, kInternal.size()) == kInternal) internal.remove_prefix(kInternal.size());
    for (const auto name : {bare, plain, internal})
        if (const auto* known = catalogue.find(name); known != nullptr && known->name == name)
            return known->name;
    return {};
}

}  // namespace rdam
