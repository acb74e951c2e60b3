#include "wrappers/object/managed_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>

namespace rdam {

namespace {

constexpr ManagedRuntime kOCaml{
    "OCaml",
    "is OCaml code, whose collector looks up return addresses in frame tables and whose exceptions cut the "
    "stack: it cannot be wrapped"};
constexpr ManagedRuntime kGhc{
    "Haskell (GHC)",
    "is Haskell code made by GHC, which is jumped to, has a stack of its own and does not return: it cannot "
    "be wrapped"};
constexpr ManagedRuntime kMono{
    "Mono, compiled ahead of time",
    "is code that Mono compiled ahead of time, whose exceptions and collector find frames by return "
    "addresses: it cannot be wrapped"};
constexpr ManagedRuntime kNativeAot{
    ".NET NativeAOT",
    "is managed code of .NET (NativeAOT), whose exceptions and collector find frames by return addresses: it "
    "cannot be wrapped"};
constexpr ManagedRuntime kGraal{
    "GraalVM native image",
    "is Java code of a GraalVM native image, whose exceptions and collector look up return addresses in "
    "tables: it cannot be wrapped"};
constexpr ManagedRuntime kDart{
    "Dart, compiled ahead of time",
    "is Dart code compiled ahead of time, whose exceptions and collector look up return addresses in tables: "
    "it cannot be wrapped"};
constexpr ManagedRuntime kGo{"Go", "is Go code, whose stacks move: it cannot be wrapped"};
constexpr ManagedRuntime kSbcl{
    "SBCL",
    "is Lisp code compiled by SBCL, which is moved with its return addresses and returns values in flags: it "
    "cannot be wrapped"};
constexpr ManagedRuntime kMlton{
    "MLton",
    "is Standard ML code made by MLton, which is jumped to, has a stack of its own and does not return: it "
    "cannot be wrapped"};
constexpr ManagedRuntime kJulia{
    "Julia",
    "is Julia code compiled ahead of time, whose exceptions and warnings find frames by return addresses: it "
    "cannot be wrapped"};
constexpr ManagedRuntime kPolyMl{
    "Poly/ML",
    "is code of an image of Poly/ML, whose functions have no names and whose collector looks up return "
    "addresses: it cannot be wrapped"};
constexpr ManagedRuntime kGnuProlog{
    "GNU Prolog",
    "is Prolog code made by GNU Prolog, which is jumped to and does not return: it cannot be wrapped"};
constexpr ManagedRuntime kLuaJit{
    "LuaJIT's interpreter",
    "is part of LuaJIT's interpreter in assembly, which is jumped to and shares one frame: it cannot be "
    "wrapped"};
constexpr ManagedRuntime kSwift{
    "Swift's asynchronous functions",
    "is an asynchronous function of Swift, which goes on in other functions after it has returned: its calls "
    "have no duration"};
constexpr ManagedRuntime kStackMaps{
    "LLVM stack maps",
    "has LLVM stack maps, in which its runtime looks up return addresses: it cannot be wrapped"};
constexpr ManagedRuntime kChicken{"CHICKEN Scheme",
                                  "never returns: CHICKEN compiles Scheme to functions that call the next "
                                  "one instead, so its calls have no "
                                  "duration"};

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_defined(const ObjectFile& file, const std::string& name) {
    return !file.named(name).empty();
}

std::optional<std::uint64_t> address_of(const ObjectFile& file, std::string_view name) {
    const auto found = file.named(name);
    if (found.empty()) return std::nullopt;
    return file.symbols()[found.front()].address;
}

bool imports(const ObjectFile& file, std::string_view name) {
    const auto& names = file.imports();
    return std::ranges::binary_search(names, name);
}

bool has_section(const ObjectFile& file, std::string_view name) {
    const auto& sections = file.sections();
    return std::ranges::any_of(sections, [&](const ElfSection& section) { return section.name == name; });
}

// --- GHC. Code and the table before it go by one name with a suffix; a function that others can name has a
// closure, too.

bool is_haskell_object(const ObjectFile& file) {
    constexpr std::string_view kRuntimeSystem = "stg_";
    const auto& names = file.imports();
    const auto first = std::ranges::lower_bound(names, kRuntimeSystem);
    if (first != names.end() && first->starts_with(kRuntimeSystem)) return true;
    return is_defined(file, "stg_upd_frame_info") || file.soname().starts_with("libHS");
}

bool is_haskell_name(const ObjectFile& file, std::string_view name) {
    // The runtime system's own, all but two written in C--.
    if (name == "stg_exit" || name == "stg_sig_install") return false;
    if (name == "StgReturn" || name.starts_with("stg_") || name.starts_with("__stg_gc_")) return true;
    for (const std::string_view suffix : {"_con_info", "_static_info", "_ret_info"})
        if (name.ends_with(suffix)) return true;
    for (const std::string_view suffix : {"_info", "_entry", "_slow", "_fast"}) {
        if (!name.ends_with(suffix)) continue;
        const std::string base{name.substr(0, name.size() - suffix.size())};
        if (is_defined(file, base + "_closure")) return true;
        // Workers and wrappers are named by the module, in Z-encoding, which C functions are not:
        // Main_zdwf_info.
        const auto module = base.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const bool behind_package = module == 0 || (module != std::string::npos && base[module - 1] == '_');
        if (behind_package && base.find('z', module) != std::string::npos) return true;
        if (suffix == "_slow" && is_defined(file, base + "_info")) return true;
    }
    return false;
}

// --- LuaJIT. Handlers of byte code, fast functions and the ways in and out; lj_vm.S holds nothing else.

bool is_luajit_name(const ObjectFile& file, std::string_view name) {
    (void)file;
    constexpr std::array<std::string_view, 5> kPrefixes{"lj_vm_", "lj_BC_", "lj_ff_", "lj_fff_", "lj_cont_"};
    // C functions that go by such a name.
    constexpr std::array<std::string_view, 5> kC{"lj_vm_foldarith", "lj_vm_log2", "lj_vm_modi", "lj_vm_powi",
                                                 "lj_ff_coroutine_wrap_aux_c"};
    if (std::ranges::find(kC, name) != kC.end()) return false;
    return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// --- Swift. An asynchronous function has a pointer to it, with the size of its context ("Tu"); the parts
// behind its suspensions are numbered ("TQ0_", "TY1_").

bool is_swift_name(const ObjectFile& file, std::string_view name) {
    constexpr std::array<std::string_view, 9> kRuntime{"swift_task_switch",
                                                       "swift_task_future_wait",
                                                       "swift_task_future_wait_throwing",
                                                       "swift_continuation_await",
                                                       "swift_taskGroup_wait_next_throwing",
                                                       "swift_taskGroup_waitAll",
                                                       "swift_asyncLet_get",
                                                       "swift_asyncLet_get_throwing",
                                                       "swift_asyncLet_finish"};
    if (std::ranges::find(kRuntime, name) != kRuntime.end()) return true;
    if (!name.starts_with("$s") && !name.starts_with("$S")) return false;
    if (is_defined(file, std::string{name} + "Tu")) return true;
    if (!name.ends_with('_')) return false;
    std::string_view rest = name.substr(0, name.size() - 1);
    const auto digits = rest.find_last_not_of("0123456789");
    if (digits == std::string_view::npos || digits + 1 == rest.size()) return false;
    rest = rest.substr(0, digits + 1);
    return rest.ends_with("TY") || rest.ends_with("TQ");
}

bool is_swift_object(const ObjectFile& file) {
    for (const std::string_view name : {"swift_task_switch", "swift_task_create", "swift_task_alloc"})
        if (is_defined(file, std::string{name}) || imports(file, name)) return true;
    return false;
}

// --- Julia. What its compiler makes has a prefix, which says how it is called, and a number; the copies for
// other processors have another one. A function that C can call (@ccallable) has a second name.

bool is_julia_image(const ObjectFile& file) {
    for (const char* const name : {"jl_image_pointers", "jl_system_image_data", "jl_sysimg_fvars_base"})
        if (is_defined(file, name)) return true;
    return false;
}

bool is_julia_name(const ObjectFile& file, std::string_view name) {
    (void)file;
    name = name.substr(0, name.find(".clone"));
    if (const auto dot = name.rfind('.'); dot != std::string_view::npos && is_number(name.substr(dot + 1)))
        name = name.substr(0, dot);
    constexpr std::string_view kInvoke = "tojlinvoke";
    if (name.starts_with(kInvoke) && is_number(name.substr(kInvoke.size()))) return true;
    constexpr std::array<std::string_view, 12> kPrefixes{"julia_",  "jfptr_",  "japi1_",  "japi3_",
                                                         "jlcapi_", "jlsys_",  "jlsysw_", "jlplt_",
                                                         "j_",      "jlcall_", "j1_",     "gfptrjl_"};
    const auto number = name.rfind('_');
    if (number == std::string_view::npos || !is_number(name.substr(number + 1))) return false;
    return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) {
        return name.starts_with(prefix) && number >= prefix.size();
    });
}

// --- GNU Prolog. A predicate is named by its name, in hexadecimal where that has other letters, and its
// number of arguments.

bool is_gnu_prolog_name(const ObjectFile& file, std::string_view name) {
    (void)file;
    constexpr std::string_view kArity = "__a";
    const auto arity = name.rfind(kArity);
    return name.starts_with('X') && name.size() > 3 && is_number(name.substr(1, 1)) && name[2] == '_' &&
           arity != std::string_view::npos && is_number(name.substr(arity + kArity.size()));
}

// --- CHICKEN. C functions by construction; main() and the helpers of chicken.h return.

bool is_chicken_object(const ObjectFile& file) {
    for (const std::string_view name : {"C_toplevel_entry", "C_save_and_reclaim", "C_save_and_reclaim_args"})
        if (is_defined(file, std::string{name}) || imports(file, name)) return true;
    return false;
}

bool is_chicken_name(const ObjectFile& file, std::string_view name) {
    (void)file;
    if (name == "C_toplevel" || (name.starts_with("C_") && name.ends_with("_toplevel"))) return true;
    for (const std::string_view prefix : {"f_", "va", "f", "trf_", "tr"})
        if (name.starts_with(prefix) && is_number(name.substr(prefix.size()))) return true;
    return false;
}

}  // namespace

ManagedCode::ManagedCode(const ObjectFile& file) : file_{file} {
    add_ocaml();
    if (is_haskell_object(file)) add(is_haskell_name, kGhc);
    add_mono();
    for (const std::string_view section : {"__managedcode", "__unbox", ".managedcode", ".unbox"})
        if (has_section(file, "__managedcode") || has_section(file, ".managedcode"))
            add_section(section, kNativeAot);
    add_graal();
    for (const std::string_view name : {"_kDartVmSnapshotInstructions", "_kDartIsolateSnapshotInstructions"})
        add_symbol(name, kDart);
    if (file.is_go()) add_between("runtime.text", "runtime.etext", kGo);
    add_between("__lisp_code_start", "__lisp_code_end", kSbcl);
    add_mlton();
    add_julia();
    add_poly_ml();
    add_gnu_prolog();
    if (is_defined(file, "lj_vm_asm_begin")) add(is_luajit_name, kLuaJit);
    if (is_swift_object(file)) add(is_swift_name, kSwift);
    add_stack_maps();
    if (is_chicken_object(file)) add(is_chicken_name, kChicken);
    std::ranges::stable_sort(ranges_,
                             [](const Range& a, const Range& b) { return a.code.begin < b.code.begin; });
}

void ManagedCode::note(const ManagedRuntime& runtime) {
    if (std::ranges::find(runtimes_, &runtime) == runtimes_.end()) runtimes_.push_back(&runtime);
}

void ManagedCode::add(std::uint64_t begin, std::uint64_t end, const ManagedRuntime& runtime) {
    if (begin >= end) return;
    ranges_.push_back({{begin, end}, &runtime});
    note(runtime);
}

/// A rule for an object that may hold such code; whether it does, its names tell.
void ManagedCode::add(NameRule rule, const ManagedRuntime& runtime) {
    const auto& symbols = file_.symbols();
    const bool any = std::ranges::any_of(symbols, [&](const Symbol& symbol) {
        return rule(file_, symbol.name) && file_.code_section(symbol.address) != nullptr;
    });
    if (!any) return;
    named_.push_back({rule, &runtime});
    note(runtime);
}

void ManagedCode::add_between(std::string_view first, std::string_view last, const ManagedRuntime& runtime) {
    const auto begin = address_of(file_, first);
    const auto end = address_of(file_, last);
    if (begin && end) add(*begin, *end, runtime);
}

void ManagedCode::add_up_to_next(std::string_view first, std::string_view last,
                                 const ManagedRuntime& runtime) {
    const auto ends = file_.named(last);
    for (const std::uint32_t begin : file_.named(first)) {
        std::uint64_t nearest = 0;
        const std::uint64_t address = file_.symbols()[begin].address;
        for (const std::uint32_t end : ends) {
            const std::uint64_t candidate = file_.symbols()[end].address;
            if (candidate > address && (nearest == 0 || candidate < nearest)) nearest = candidate;
        }
        add(address, nearest, runtime);
    }
}

void ManagedCode::add_section(std::string_view name, const ManagedRuntime& runtime) {
    for (const ElfSection& section : file_.sections())
        if (section.name == name)
            add(section.header.sh_addr, section.header.sh_addr + section.header.sh_size, runtime);
}

/// One symbol for all the code there is, up to the end of its section where it has no size.
void ManagedCode::add_symbol(std::string_view name, const ManagedRuntime& runtime) {
    for (const std::uint32_t index : file_.named(name)) {
        const Symbol& symbol = file_.symbols()[index];
        const ElfSection* section = file_.code_section(symbol.address);
        if (section == nullptr) continue;
        const std::uint64_t end = section->header.sh_addr + section->header.sh_size;
        add(symbol.address, symbol.size != 0 ? symbol.address + symbol.size : end, runtime);
    }
}

/// Each unit says where its code is (camlList__code_begin and _end; OCaml 5 writes a dot or a dollar sign),
/// and so does the assembly of the runtime (caml_system__code_begin).
void ManagedCode::add_ocaml() {
    if (file_.named("caml_startup__code_begin").empty() && file_.named("caml_frametable").empty() &&
        file_.named("caml_plugin_header").empty() && file_.named("caml_system__code_begin").empty() &&
        file_.named("caml_system.code_begin").empty())
        return;
    constexpr std::string_view kBegin = "code_begin";
    for (const Symbol& symbol : file_.symbols()) {
        if (!symbol.name.starts_with("caml") || !symbol.name.ends_with(kBegin)) continue;
        std::string end{symbol.name};
        end.replace(end.size() - kBegin.size(), kBegin.size(), "code_end");
        add_between(symbol.name, end, kOCaml);
    }
}

/// An image that Mono loads holds nothing else. One that was linked into a program says where its code is.
void ManagedCode::add_mono() {
    const bool image = !file_.named("mono_aot_file_info").empty();
    for (const ElfSection& section : file_.sections()) {
        constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
        if (image && (section.header.sh_flags & kCode) == kCode)
            add(section.header.sh_addr, section.header.sh_addr + section.header.sh_size, kMono);
    }
    if (image) return;
    add_up_to_next("jit_code_start", "jit_code_end", kMono);
}

/// The C libraries of the JDK are linked behind the Java code. A stripped image does not say where these
/// begin.
void ManagedCode::add_graal() {
    const bool image = has_section(file_, ".svm_heap");
    add_between("__svm_code_section", "__svm_text_end", kGraal);
    const bool known = std::ranges::find(runtimes_, &kGraal) != runtimes_.end();
    if (image && !known) add_section(".text", kGraal);
}

/// The code of its native back end is a sequence of labels, in a program whose C functions all have a type.
void ManagedCode::add_mlton() {
    if (file_.named("MLton_jumpToSML").empty()) return;
    for (const Symbol& symbol : file_.symbols()) {
        const bool entry = symbol.name == "MLton_jumpToSML" || symbol.name == "Thread_returnToC";
        if (!entry && symbol.kind != SymbolKind::label) continue;
        const bool numbered = symbol.name.starts_with("L_") && is_number(symbol.name.substr(2));
        const auto underscore = symbol.name.rfind('_');
        const bool label = symbol.binding == SymbolBinding::local && underscore != std::string_view::npos &&
                           is_number(symbol.name.substr(underscore + 1));
        if (!entry && !numbered && !label) continue;
        if (const auto extent = file_.extent(symbol.address)) add(extent->begin, extent->end, kMlton);
    }
}

/// A stripped image does not say which of its functions are C's: there is hardly one.
void ManagedCode::add_julia() {
    if (!is_julia_image(file_)) return;
    add(is_julia_name, kJulia);
    if (std::ranges::find(runtimes_, &kJulia) == runtimes_.end()) add_section(".text", kJulia);
}

/// The heap that was exported with the program, code among it, lies in areas.
void ManagedCode::add_poly_ml() {
    if (!is_defined(file_, "poly_exports")) return;
    constexpr std::string_view kArea = "area";
    for (const Symbol& symbol : file_.symbols()) {
        if (!symbol.name.starts_with(kArea) || !is_number(std::string_view{symbol.name}.substr(kArea.size())))
            continue;
        const ElfSection* section = file_.code_section(symbol.address);
        if (section == nullptr) continue;
        const auto extent = file_.extent(symbol.address);
        add(symbol.address, extent ? extent->end : section->header.sh_addr + section->header.sh_size,
            kPolyMl);
    }
}

/// The code of each file begins with the label of failure, and lies before what registers its predicates.
void ManagedCode::add_gnu_prolog() {
    if (!is_defined(file_, "Prolog_Object_Initializer")) return;
    add_up_to_next("fail", "Prolog_Object_Initializer", kGnuProlog);
    add(is_gnu_prolog_name, kGnuProlog);
}

void ManagedCode::add_stack_maps() {
    for (const std::uint64_t address : functions_with_stack_maps(file_)) {
        const auto extent = file_.extent(address);
        add(address, extent ? extent->end : address + 1, kStackMaps);
    }
}

const ManagedRuntime* ManagedCode::at(std::uint64_t address) const {
    // The ranges do not overlap but by accident: the last that begins before the address decides.
    const auto behind =
        std::ranges::upper_bound(ranges_, address, {}, [](const Range& range) { return range.code.begin; });
    if (behind != ranges_.begin() && std::prev(behind)->code.contains(address))
        return std::prev(behind)->runtime;
    for (const Named& named : named_) {
        for (const Symbol& symbol : file_.at(address))
            if (named.rule(file_, symbol.name)) return named.runtime;
    }
    return nullptr;
}

namespace {

constexpr std::string_view kSection = ".llvm_stackmaps";

/// Version 3 (llvm/docs/StackMaps.rst): a header, then for each function its address, its frame's size and
/// the number of its records; then the constants and the records. Linkers put one table behind the other.
constexpr std::uint8_t kVersion = 3;
constexpr std::size_t kHeader = 16;
constexpr std::size_t kFunction = 24;
constexpr std::size_t kConstant = 8;

class StackMap {
  public:
    explicit StackMap(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}

    template <class T>
    T read(std::size_t offset) const {
        T value{};
        if (offset <= bytes_.size() && bytes_.size() - offset >= sizeof value)
            std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }

    bool holds(std::size_t offset, std::size_t size) const {
        return offset <= bytes_.size() && bytes_.size() - offset >= size;
    }

    /// The offset behind the record at `offset`; 0: it is damaged.
    std::size_t behind_record(std::size_t offset) const {
        constexpr std::size_t kFixed = 16;
        constexpr std::size_t kLocation = 12;
        constexpr std::size_t kLiveOut = 4;
        if (!holds(offset, kFixed)) return 0;
        std::size_t at = offset + kFixed + kLocation * read<std::uint16_t>(offset + kFixed - 2);
        at = (at + 7) / 8 * 8;
        if (!holds(at, 4)) return 0;
        at += 4 + kLiveOut * read<std::uint16_t>(at + 2);
        at = (at + 7) / 8 * 8;
        return holds(at, 0) ? at : 0;
    }

  private:
    std::span<const std::uint8_t> bytes_;
};

/// The value of a symbol of the table that a relocation section refers to.
std::uint64_t value_of_symbol(const ObjectFile& file, const ElfSection& relocations, std::uint64_t index) {
    // The null section is not in the list.
    const std::size_t table = relocations.header.sh_link - std::size_t{1};
    if (relocations.header.sh_link == 0 || table >= file.sections().size()) return 0;
    return StackMap{section_bytes(file.sections()[table])}
        .read<Elf64_Sym>(index * sizeof(Elf64_Sym))
        .st_value;
}

/// What the dynamic linker writes into the section, by offset.
std::map<std::uint64_t, std::uint64_t> relocated_words(const ObjectFile& file, const ElfSection& target) {
    std::map<std::uint64_t, std::uint64_t> words;
    for (const ElfSection& section : file.sections()) {
        if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0) continue;
        const StackMap table{section_bytes(section)};
        for (std::size_t at = 0; table.holds(at, sizeof(Elf64_Rela)); at += sizeof(Elf64_Rela)) {
            const auto entry = table.read<Elf64_Rela>(at);
            if (!target.contains(entry.r_offset)) continue;
            auto value = static_cast<std::uint64_t>(entry.r_addend);
            const auto type = ELF64_R_TYPE(entry.r_info);
            if (type == R_X86_64_64) value += value_of_symbol(file, section, ELF64_R_SYM(entry.r_info));
            if (type == R_X86_64_64 || type == R_X86_64_RELATIVE)
                words[entry.r_offset - target.header.sh_addr] = value;
        }
    }
    return words;
}

}  // namespace

std::vector<std::uint64_t> functions_with_stack_maps(const ObjectFile& file) {
    std::vector<std::uint64_t> functions;
    for (const ElfSection& section : file.sections()) {
        if (section.name != kSection) continue;
        const StackMap table{section_bytes(section)};
        const auto relocated = relocated_words(file, section);
        for (std::size_t at = 0; table.holds(at, kHeader) && table.read<std::uint8_t>(at) == kVersion;) {
            const auto count = table.read<std::uint32_t>(at + 4);
            const auto constants = table.read<std::uint32_t>(at + 8);
            auto records = table.read<std::uint32_t>(at + 12);
            at += kHeader;
            for (std::uint32_t index = 0; index < count && table.holds(at, kFunction); ++index) {
                const auto word = relocated.find(at);
                functions.push_back(word == relocated.end() ? table.read<std::uint64_t>(at) : word->second);
                at += kFunction;
            }
            at += kConstant * constants;
            for (; records > 0 && at != 0; --records)
                at = table.behind_record(at);
            if (at == 0) break;
        }
    }
    std::ranges::sort(functions);
    functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
    return functions;
}

}  // namespace rdam
