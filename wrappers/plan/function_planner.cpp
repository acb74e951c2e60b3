#include "wrappers/plan/function_planner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "tools/base/demangle.h"
#include "wrappers/entry/instruction.h"
#include "wrappers/entry/moved_frames.h"
#include "wrappers/object/inlined_copies.h"
#include "wrappers/plan/call_description.h"
#include "wrappers/prototype/dwarf_prototype.h"

namespace rdam {
namespace {

/// The names of the code at an address, the one a person would use first.
std::vector<std::string> names_at(const ObjectFile& file, std::uint64_t address) {
    std::vector<Symbol> symbols;
    for (const Symbol& symbol : file.at(address)) {
        if (symbol.is_code() && symbol.kind != SymbolKind::ifunc) symbols.push_back(symbol);
    }
    const auto rank = [](const Symbol& symbol) {
        const std::size_t underscores = std::min(symbol.name.find_first_not_of('_'), symbol.name.size());
        const bool old_version = !symbol.version.empty() && !symbol.default_version;
        return std::tuple{looks_mangled(symbol.name) ? 0 : underscores, old_version,
                          -static_cast<int>(symbol.binding), symbol.name.size(), symbol.name};
    };
    std::ranges::sort(symbols, [&](const Symbol& a, const Symbol& b) { return rank(a) < rank(b); });
    std::vector<std::string> names;
    for (const Symbol& symbol : symbols) {
        if (std::ranges::find(names, symbol.name) == names.end()) names.emplace_back(symbol.name);
    }
    return names;
}

bool only_labels_at(const ObjectFile& file, std::uint64_t address) {
    const auto symbols = file.at(address);
    return !symbols.empty() && std::ranges::all_of(symbols, [](const Symbol& symbol) {
        return symbol.kind == SymbolKind::label || !symbol.is_code();
    });
}

/// The function that contains the address other than at its start; nullptr: none.
const Symbol* surrounding(const ObjectFile& file, std::uint64_t address) {
    if (address == 0) return nullptr;
    const Symbol* before = file.covering(address - 1);
    if (before == nullptr || before->kind == SymbolKind::label || before->size == 0) return nullptr;
    return address - before->address < before->size ? before : nullptr;
}

/// Whether the code before `address`, from the start of the function around it on, runs into it.
bool falls_into(const ObjectFile& file, std::uint64_t begin, std::uint64_t address) {
    const auto body = file.code(begin, address - begin);
    bool falls = true;
    for (std::uint32_t offset = 0; offset < body.size();) {
        const auto decoded = relocation::decode_at(body, offset);
        if (!decoded.instruction) return true;
        if (decoded.instruction->decoded.mnemonic != ZYDIS_MNEMONIC_INT3)
            falls = decoded.instruction->falls_through();
        offset = decoded.instruction->end();
    }
    return falls;
}

/// The function that an entry of a jump table leads to, which calls through pointers go through where
/// control-flow integrity is checked (clang -fsanitize=cfi): a jump and padding, eight bytes of a table that
/// goes by the names of all functions in it. Empty: it is none.
std::string jump_table_target(const ObjectFile& file, std::uint64_t address) {
    constexpr std::uint64_t kLongestEntry = 16;  // with endbr64 before the jump
    const auto code = file.code(address, kLongestEntry);
    std::uint32_t offset = 0;
    if (const auto first = relocation::decode_at(code, 0);
        first.instruction && first.instruction->decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
        offset = first.instruction->end();
    const auto jump = relocation::decode_at(code, offset);
    if (!jump.instruction || jump.instruction->flow != relocation::Flow::jump) return {};
    const std::uint32_t end = jump.instruction->end();
    if (end >= code.size() || code[end] != 0xcc) return {};
    for (const Symbol& symbol : file.at(address + *jump.instruction->branch_target())) {
        if (symbol.name.ends_with(".cfi")) return std::string{symbol.name};
    }
    return {};
}

Result<void> check_place(const ObjectFile& file, std::uint64_t address) {
    const ElfSection* section = file.code_section(address);
    if (section == nullptr) return fail("there is no code at its address {:#x}", address);
    if (section->name.starts_with(".plt")) return fail("is a stub of the procedure linkage table");
    for (const Symbol& symbol : file.at(address)) {
        if (split_clone(symbol.name).suffix.find(".cold") != std::string_view::npos) {
            return fail("is the cold part of a function, which is jumped to and not called");
        }
    }
    if (const std::string target = jump_table_target(file, address); !target.empty()) {
        return fail(
            "is an entry of the jump table for control-flow integrity, where only calls through pointers "
            "come "
            "by: list {}, the function itself",
            target);
    }
    if (const Symbol* around = surrounding(file, address)) {
        return fail("lies in the middle of {}, {}", display_name(around->name),
                    falls_into(file, around->address, address) ? "which falls through into it"
                                                               : "whose code it is part of");
    }
    const auto frame = file.frames().find(address);
    if (frame && frame->begin != address) {
        return fail("lies in the middle of the function at {:#x}, {}", frame->begin,
                    falls_into(file, frame->begin, address) ? "which falls through into it"
                                                            : "whose code it is part of");
    }
    if (only_labels_at(file, address) && !frame) {
        return fail("is a label in hand-written code, not known to be a function");
    }
    return {};
}

Result<void> check_body(std::span<const std::uint8_t> body) {
    if (body.empty()) return fail("its code is not in the file");
    if (std::ranges::all_of(body, [](std::uint8_t byte) { return byte == 0; })) {
        return fail("its code in the file is all zeros");
    }
    return {};
}

std::string describe_copies(const InlinedCopies& copies) {
    return fmt::format("{}{} inlined {} will not be seen: in {}{}", copies.complete ? "" : "at least ",
                       copies.count, copies.count == 1 ? "copy" : "copies",
                       fmt::join(copies.containers, ", "),
                       copies.containers.size() == kMaxContainers ? ", ..." : "");
}

}  // namespace

void FunctionPlanner::prepare(const std::vector<Candidate>& candidates) {
    std::map<std::size_t, std::map<std::uint64_t, CodeRange>> extents;
    for (const Candidate& candidate : candidates) {
        const ObjectFile* file = objects_.file(candidate.object);
        if (file == nullptr || !candidate.refusal.empty()) continue;
        const auto extent = file->extent(candidate.address);
        if (!extent) continue;
        if (const auto part = wrapped_part(*file, candidate.object, *extent))
            extents[candidate.object].emplace(part->begin, *part);
    }
    for (const auto& [object, by_address] : extents) {
        std::vector<CodeRange> functions;
        for (const auto& [address, extent] : by_address)
            functions.push_back(extent);
        entry_points_[object] = EntryPoints::scan(*objects_.file(object), std::move(functions));
    }
}

std::string FunctionPlanner::refusal_by_kind(const Candidate& candidate) {
    const ObjectFile* file = objects_.file(candidate.object);
    if (file != nullptr && objects_.why_excluded(candidate.object).empty()) {
        const auto managed = managed_code_.try_emplace(candidate.object, *file).first;
        if (const ManagedRuntime* runtime = managed->second.at(candidate.address))
            return std::string{runtime->reason};
    }
    return candidate.refusal;
}

Result<CodeRange> FunctionPlanner::wrapped_part(const ObjectFile& file, std::size_t object,
                                                const CodeRange& extent) {
    const auto hooks = entry_hooks_.try_emplace(object, file).first;
    const auto behind = hooks->second.behind(extent);
    if (!behind) return tl::unexpected{behind.error()};
    return CodeRange{extent.begin + *behind, extent.end};
}

FunctionPlanner::Known FunctionPlanner::look_up(const ObjectFile& file, const Candidate& candidate) const {
    Known known;
    std::vector<std::string> names = names_at(file, candidate.address);
    names.insert(names.begin(), candidate.name);
    const auto is_chosen_at_start = [&](const std::string& name) {
        const auto symbols = file.named(name);
        return !symbols.empty() && file.symbols()[symbols.front()].kind == SymbolKind::ifunc;
    };
    for (const std::string& base : variant_bases(candidate.name)) {
        if (is_chosen_at_start(base) || is_chosen_at_start("__" + base) ||
            is_chosen_at_start("__ieee754_" + base))
            names.push_back(base);
    }
    for (const std::string& name : names) {
        const CatalogueFunction* function = catalogue_.find(name);
        if (function == nullptr) continue;
        if (!function->refuse.empty() && known.refusal.empty()) known.refusal = function->refuse;
        // A program may have a function of its own with a well-known name: only what a library exports is
        // well known.
        const auto symbols = file.named(name);
        const bool exported =
            std::ranges::any_of(symbols, [&](std::uint32_t index) { return file.symbols()[index].exported; });
        // Names with an underscore belong to the C library; perf also knows its internal ones.
        const bool reserved = name.starts_with("_") && !symbols.empty();
        if ((exported || reserved) && candidate.object != 0 && known.described == nullptr)
            known.described = function;
    }
    // Only OpenBLAS has functions of these names and kinds.
    if (const std::string_view kernel = openblas_kernel(candidate.name);
        known.described == nullptr && !kernel.empty() && !file.named("openblas_get_config").empty())
        known.described = catalogue_.find(kernel);
    // An internal function that an exported one is made of (__pthread_mutex_unlock_usercnt) names its lock
    // alike.
    for (const std::string& name : exported_candidates(candidate.name)) {
        const CatalogueFunction* function = catalogue_.find(name);
        if (function != nullptr && function->refuse.empty() && candidate.object != 0 &&
            !file.named(name).empty()) {
            known.related = function;
            break;
        }
    }
    return known;
}

void FunctionPlanner::set_names(const ObjectFile& file, const Candidate& candidate,
                                FunctionPlan& function) const {
    std::vector<std::string> names = names_at(file, candidate.address);
    function.linkage_name = !candidate.name.empty() ? candidate.name
                            : names.empty()         ? fmt::format("function_at_{:#x}", candidate.address)
                                                    : names.front();
    function.name = display_name(function.linkage_name);
    std::erase(names, function.linkage_name);
    function.aliases = std::move(names);
}

std::string FunctionPlanner::why_undescribed(std::size_t object) {
    DwarfFile* dwarf = objects_.dwarf(object);
    if (dwarf == nullptr) return "no debug information, and not in the catalogue";
    const std::string package = objects_.file(object)->path() + ".dwp";
    std::error_code error;
    if (!dwarf->missing_file().empty() && std::filesystem::exists(package, error))
        return fmt::format("its debug information is in {}, which libdw before 0.191 cannot read", package);
    if (!dwarf->missing_file().empty())
        return fmt::format("its debug information is in {}, which cannot be read", dwarf->missing_file());
    return "the debug information does not describe it, and it is not in the catalogue";
}

void FunctionPlanner::set_call(const Candidate& candidate, const Known& known, const CodeRange& extent,
                               FunctionPlan& function) {
    Prototype prototype;
    prototype.doubt = why_undescribed(candidate.object);
    std::optional<FunctionClaims> claims;
    DefaultKeys keys;
    if (DwarfFile* dwarf = objects_.dwarf(candidate.object)) {
        auto described = describe_function(*dwarf, candidate.address, function.linkage_name);
        if (described) {
            prototype = std::move(described->prototype);
            claims = std::move(described->claims);
            function.source = std::move(described->declared_at);
        }
    }
    if (known.described != nullptr) {
        const Prototype catalogued = prototype_of(*known.described);
        // The layout in the debug information is that of the code; the names in the catalogue are those in
        // the manual.
        if (!prototype.doubt.empty()) {
            prototype = catalogued;
            keys = DefaultKeys::of(*known.described, true);
        } else if (prototype.parameters.size() == catalogued.parameters.size()) {
            for (std::size_t index = 0; index < catalogued.parameters.size(); ++index) {
                prototype.parameters[index].name = catalogued.parameters[index].name;
            }
            keys = DefaultKeys::of(*known.described, true);
        }
    } else if (known.related != nullptr) {
        keys = DefaultKeys::of(*known.related, false);
    }
    if (const CatalogueFunction* well_known = known.described != nullptr ? known.described : known.related) {
        function.waits = well_known->waits;
        function.busy_waits = well_known->busy_waits;
    }
    if (!prototype.doubt.empty()) function.unproven = "no parameters: " + prototype.doubt;
    CallDescription call = describe_call(prototype, keys, request_.record_arguments);
    if (!prototype.doubt.empty() && claims) {
        const auto blocks =
            entry_blocks_.try_emplace(candidate.object, *objects_.file(candidate.object)).first;
        const CodeRange code{function.address, function.address + function.size};
        const ProvenValues proven = proven_values(*claims, blocks->second.of(code));
        call = describe_values(*claims, proven, keys, request_.record_arguments);
        function.unproven = unproven_text(proven, prototype.doubt);
    }
    const auto conduct = conduct_.try_emplace(candidate.object, *objects_.file(candidate.object)).first;
    if (call.frame == plan::Frame::stack && !conduct->second.suits_stack_frame(extent, call.stack_bytes)) {
        call.frame = plan::Frame::shadow;
        call.stack_bytes = 0;
    }
    function.frame = call.frame;
    function.stack_bytes = call.stack_bytes;
    function.recording = call.recording;
    function.parameters = std::move(call.parameters);
    function.result = std::move(call.result);
}

Result<FunctionPlan> FunctionPlanner::place(const Candidate& candidate, const Known& known) {
    const ObjectFile& file = *objects_.file(candidate.object);
    if (auto placed = check_place(file, candidate.address); !placed) return tl::unexpected{placed.error()};
    if (!known.refusal.empty()) return fail("{}", known.refusal);
    const auto extent = file.extent(candidate.address);
    if (!extent) return fail("there is no code at its address {:#x}", candidate.address);
    const auto body = file.code(extent->begin, extent->size());
    if (auto checked = check_body(body); !checked) return tl::unexpected{checked.error()};

    const auto reads = return_address_reads_.try_emplace(candidate.object, file).first;
    const auto tells_caller = [&] {
        return catalogue_.only_tells_caller(
            candidate.name, [&](std::string_view marker) { return !file.named(marker).empty(); });
    };
    if (const auto at = reads->second.first_in(*extent); at && !tells_caller()) {
        return fail("reads its return address (at +{}), which would point into the recorder", *at);
    }

    const auto part = wrapped_part(file, candidate.object, *extent);
    if (!part) return tl::unexpected{part.error()};
    FunctionPlan function;
    function.object = candidate.object;
    function.address = part->begin;
    function.size = part->size();
    const auto rest = body.subspan(part->begin - extent->begin);
    auto entries = entry_points_[candidate.object].inside(*part);
    for (const std::uint64_t pad : entered_by_exceptions(file, part->begin))
        entries.push_back(pad);
    auto prologue =
        move_prologue(rest, part->begin, padding_behind(file, *part), entries, padding_before(file, *part));
    if (!prologue) return tl::unexpected{prologue.error()};
    if (entry_hooks_.at(candidate.object).overwritten_by_xray(rest, prologue->original.size()))
        return fail(
            "is so short that the jump to the recorder and XRay's sled at its end would overwrite each "
            "other");
    describe_frames(file, part->begin, *prologue);
    function.takes_flags = takes_flags(rest);
    function.prologue = std::move(*prologue);
    return function;
}

Result<FunctionPlan> FunctionPlanner::plan(const Candidate& candidate) {
    if (const std::string refusal = refusal_by_kind(candidate); !refusal.empty()) return fail("{}", refusal);
    const ObjectFile& file = *objects_.file(candidate.object);
    const Known known = look_up(file, candidate);
    auto function = place(candidate, known);
    if (!function) return function;
    set_names(file, candidate, *function);
    set_call(candidate, known, *file.extent(candidate.address), *function);
    // What has a proven prototype keeps to the convention.
    if (function->frame == plan::Frame::stack) function->takes_flags = false;
    if (function->frame == plan::Frame::shadow && unwinds_by_stack_pointer())
        return fail(
            "without a described prototype it needs a frame that LLVM's unwinder, which the program has, "
            "takes "
            "for its caller's: an exception through it would end the program");
    return function;
}

/// LLVM's libunwind, in a library of its own, in libc++abi or in the program, whose internal name tells it.
bool FunctionPlanner::unwinds_by_stack_pointer() {
    if (unwinds_by_stack_pointer_) return *unwinds_by_stack_pointer_;
    unwinds_by_stack_pointer_ = false;
    for (std::size_t index = 0; index < objects_.size() && !*unwinds_by_stack_pointer_; ++index) {
        const std::string name = objects_.module_name(index);
        if (index > 0 && !name.starts_with("libunwind.") && !name.starts_with("libc++abi.")) continue;
        const ObjectFile* const file = objects_.file(index);
        *unwinds_by_stack_pointer_ = file != nullptr && !file->named("__unw_add_dynamic_fde").empty();
    }
    return *unwinds_by_stack_pointer_;
}

std::string FunctionPlanner::refusal(const Candidate& candidate) {
    if (std::string refusal = refusal_by_kind(candidate); !refusal.empty()) return refusal;
    const auto function = place(candidate, look_up(*objects_.file(candidate.object), candidate));
    return function ? std::string{} : function.error().message;
}

std::vector<std::string> FunctionPlanner::count_inlined_copies(std::vector<FunctionPlan>& functions) {
    std::vector<std::string> remarks(functions.size());
    std::map<std::size_t, std::vector<SourceFunction>> wanted;  // by object
    const auto source_of = [](const FunctionPlan& function) {
        return SourceFunction{std::string{split_clone(function.linkage_name).base}, function.source};
    };
    for (const FunctionPlan& function : functions) {
        if (!function.source.empty()) wanted[function.object].push_back(source_of(function));
    }
    for (const auto& [object, sources] : wanted) {
        const auto found = find_inlined_copies(*objects_.dwarf(object), sources);
        for (std::size_t index = 0; index < functions.size(); ++index) {
            const auto copies = found.find(source_of(functions[index]));
            if (functions[index].object != object || copies == found.end()) continue;
            functions[index].inlined_copies = copies->second.count;
            remarks[index] = describe_copies(copies->second);
        }
    }
    return remarks;
}

}  // namespace rdam
