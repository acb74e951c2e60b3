#include "tools/base/demangle.h"

#include <algorithm>
#include <array>

// libiberty would declare a basename() of its own beside that of <string.h>.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace rdam {
namespace {

constexpr std::size_t kLongestName = std::size_t{64} << 10;

std::string call(char* (*demangler)(const char*, int), const std::string& name, int options) {
    const std::unique_ptr<char, decltype(&std::free)> text{demangler(name.c_str(), options), &std::free};
    return text == nullptr ? std::string{} : std::string{text.get()};
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    std::string out;
    std::size_t at = 0;
    for (std::size_t next = text.find(what); next != std::string::npos; next = text.find(what, at)) {
        out.append(text, at, next - at).append(by);
        at = next + what.size();
    }
    if (at > 0) text = out.append(text, at);
}

/// Where the legacy mangling of Rust ("_ZN…17h0123456789abcdefE") ends; 0: it is none.
std::size_t end_of_rust_hash(std::string_view name) {
    constexpr std::string_view kMark = "17h";
    constexpr std::size_t kDigits = 16;
    if (!name.starts_with("_ZN")) return 0;
    for (std::size_t at = name.find(kMark); at != std::string_view::npos; at = name.find(kMark, at + 1)) {
        const std::string_view rest = name.substr(at + kMark.size());
        if (rest.size() <= kDigits || rest[kDigits] != 'E') continue;
        if (rest.find_first_not_of("0123456789abcdef") == kDigits) return at + kMark.size() + kDigits + 1;
    }
    return 0;
}

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// "_D4main4workFlZv"
bool looks_like_d(std::string_view name) {
    return name.size() > 2 && name.starts_with("_D") && is_digit(name[2]);
}

/// "camlStdlib__List__map_12", and OCaml 5's "camlStdlib__List.map_12"
bool looks_like_ocaml(std::string_view name) {
    constexpr std::string_view kPrefix = "caml";
    return name.size() > kPrefix.size() && name.starts_with(kPrefix) && name[kPrefix.size()] >= 'A' &&
           name[kPrefix.size()] <= 'Z' &&
           (name.find("__") != std::string_view::npos || name.find('.') != std::string_view::npos);
}

/// Where the parameter list of "d.S!(long).twice(long) const" begins; the name's length: it has none.
std::size_t parameters_of_d(std::string_view name) {
    const auto end = name.rfind(')');
    int depth = 0;
    for (std::size_t at = end; end != std::string_view::npos; --at) {
        if (name[at] == ')') ++depth;
        if (name[at] == '(' && --depth == 0) return at > 0 && name[at - 1] == '!' ? name.size() : at;
        if (at == 0) break;
    }
    return name.size();
}

DemangledName demangle_d(const std::string& name) {
    DemangledName result;
    result.full = call(dlang_demangle, name, DMGL_NO_OPTS);
    result.signature = result.full;
    result.brief = result.full.substr(0, parameters_of_d(result.full));
    return result;
}

/// As perf prints it: `Stdlib.List.map_12`; `$xx` stands for a character in hexadecimal digits.
DemangledName demangle_ocaml(std::string_view name) {
    DemangledName result;
    name.remove_prefix(std::string_view("caml").size());
    for (std::size_t at = 0; at < name.size(); ++at) {
        const auto hex = [&](std::size_t digit) {
            return std::isxdigit(static_cast<unsigned char>(name[digit])) != 0;
        };
        if (name.substr(at).starts_with("__")) {
            result.brief += '.';
            ++at;
        } else if (name[at] == '$' && at + 2 < name.size() && hex(at + 1) && hex(at + 2)) {
            result.brief += static_cast<char>(std::stoi(std::string{name.substr(at + 1, 2)}, nullptr, 16));
            at += 2;
        } else {
            result.brief += name[at];
        }
    }
    result.full = result.signature = result.brief;
    return result;
}

/// gcc puts the body of a coroutine into a function of its own, which takes the coroutine's frame and is
/// named after that: "_Z3genPZ3genliE14_Z3genli.Frame.actor" belongs to "_Z3genli".
CloneParts split_coroutine(std::string_view name) {
    constexpr std::string_view kFrame = ".Frame";
    const auto frame = name.rfind(".Frame.");
    if (frame == std::string_view::npos || !name.starts_with("_Z")) return {};
    const auto end = frame + kFrame.size();
    for (auto at = name.find("_Z", 2); at < frame; at = name.find("_Z", at + 1)) {
        auto digits = at;
        while (digits > 0 && is_digit(name[digits - 1]))
            --digits;
        // The digits of a number may follow those of another one.
        const std::string length = std::to_string(end - at);
        if (at - digits >= length.size() && name.substr(at - length.size(), length.size()) == length)
            return {name.substr(at, frame - at), name.substr(end)};
    }
    return {};
}

/// A name can begin with the prefix of a mangling and still be plain C; the demanglers decide.
DemangledName demangle_base(const std::string& name) {
    DemangledName result;
    if (looks_like_d(name)) return demangle_d(name);
    if (looks_like_ocaml(name)) return demangle_ocaml(name);
    if (name.starts_with("_R") || (name.starts_with("_ZN") && name.ends_with('E'))) {
        result.hashed = call(rust_demangle, name, DMGL_VERBOSE);
        if (!result.hashed.empty()) {
            result.brief = call(rust_demangle, name, DMGL_NO_OPTS);
            result.full = result.brief;
            result.signature = result.brief;
            return result;
        }
    }
    result.full = call(cplus_demangle_v3, name, DMGL_PARAMS | DMGL_ANSI);
    if (result.full.empty()) return result;
    result.signature = call(cplus_demangle_v3, name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
    result.brief = call(cplus_demangle_v3, name, DMGL_ANSI);
    return result;
}

}  // namespace

bool looks_mangled(std::string_view linkage_name) {
    return linkage_name.starts_with("_Z") || linkage_name.starts_with("_R") ||
           linkage_name.starts_with("__Z") || looks_like_d(linkage_name) || looks_like_ocaml(linkage_name);
}

DemangledName demangle(std::string_view linkage_name) {
    if (!looks_mangled(linkage_name) || linkage_name.size() > kLongestName) return {};
    const CloneParts parts = split_clone(linkage_name);
    DemangledName result = demangle_base(std::string{parts.base});
    if (parts.suffix.empty() || result.brief.empty()) return result;
    const std::string mark = " [clone " + std::string{parts.suffix} + "]";
    for (std::string* text : {&result.full, &result.signature, &result.brief, &result.hashed}) {
        if (!text->empty()) *text += mark;
    }
    return result;
}

std::string display_name(std::string_view linkage_name, bool signature) {
    DemangledName name = demangle(linkage_name);
    if (name.brief.empty()) return std::string{linkage_name};
    return signature ? name.signature : name.brief;
}

std::string_view last_component(std::string_view brief_name) {
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t index = 0; index < brief_name.size(); ++index) {
        const char c = brief_name[index];
        if (index == begin && depth == 0 && brief_name.substr(index).starts_with("operator")) break;
        if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
        if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
        if (depth == 0 && c == ':' && index + 1 < brief_name.size() && brief_name[index + 1] == ':') {
            begin = index + 2;
            ++index;
        }
    }
    return brief_name.substr(begin);
}

CloneParts split_clone(std::string_view linkage_name) {
    if (const auto coroutine = split_coroutine(linkage_name); !coroutine.suffix.empty()) return coroutine;
    if (looks_like_ocaml(linkage_name)) return {linkage_name, {}};
    // A leading dot belongs to the name, and so do all before the hash that ends a Rust name.
    const std::size_t dot = linkage_name.find('.', std::max<std::size_t>(end_of_rust_hash(linkage_name), 1));
    if (dot == std::string_view::npos) return {linkage_name, {}};
    return {linkage_name.substr(0, dot), linkage_name.substr(dot)};
}

std::string familiar_name(std::string_view name) {
    std::string text{name};
    replace_all(text, "std::__cxx11::", "std::");
    if (text.find("std::basic_string<") == std::string::npos) return text;
    for (const std::string_view spelling :
         {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
          "std::basic_string<char, std::char_traits<char>, std::allocator<char>>",
          "std::basic_string<char,std::char_traits<char>,std::allocator<char>>"})
        replace_all(text, spelling, "std::string");
    // The constructor and the destructor are called after the template.
    replace_all(text, "std::string::basic_string", "std::string::string");
    replace_all(text, "std::string::~basic_string", "std::string::~string");
    return text;
}

std::string normalized_name(std::string_view spelled) {
    const std::string name_text = familiar_name(spelled);
    const std::string_view name = name_text;
    std::string result;
    result.reserve(name.size());
    for (std::size_t index = 0; index < name.size(); ++index) {
        if (name.substr(index).starts_with("[abi:")) {
            index = std::min(name.find(']', index), name.size() - 1);
            continue;
        }
        if (name[index] != ' ') {
            result += name[index];
            continue;
        }
        const bool separates =
            !result.empty() && is_word(result.back()) && index + 1 < name.size() && is_word(name[index + 1]);
        if (separates) result += ' ';
    }
    return result;
}

namespace {

/// The instruction sets that glibc's and libm's variants are named after (sysdeps/x86_64/multiarch).
constexpr std::array<std::string_view, 20> kVariantMarks{
    "_avx512", "_avx2",  "_avx",  "_evex512", "_evex", "_sse2_bsf", "_sse42", "_sse41", "_sse4_2",  "_sse4_1",
    "_sse2",   "_ssse3", "_erms", "_fma4",    "_fma",  "_c",        "_sse",   "_rtm",   "_generic", "_slow"};

/// Which exported functions share an implementation with the one whose name the variant carries.
struct SharedImplementation {
    std::string_view base;
    std::string_view other;
};
constexpr std::array<SharedImplementation, 9> kShared{{{"memmove", "memcpy"},
                                                       {"memcpy", "memmove"},
                                                       {"memmove_chk", "__memmove_chk"},
                                                       {"memset_chk", "__memset_chk"},
                                                       {"memcpy_chk", "__memcpy_chk"},
                                                       {"mempcpy_chk", "__mempcpy_chk"},
                                                       {"memcmpeq", "__memcmpeq"},
                                                       {"memcmp", "bcmp"},
                                                       {"wmemset_chk", "__wmemset_chk"}}};

constexpr std::array<std::string_view, 9> kInternalSuffixes{
    "_usercnt", "_nocancel", "_internal", "_full", "_common", "_time64", "64", "_impl", "_default"};

void add(std::vector<std::string>& names, std::string_view name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

std::string_view without_underscores(std::string_view name) {
    const std::size_t begin = name.find_first_not_of('_');
    return begin == std::string_view::npos ? std::string_view{} : name.substr(begin);
}

}  // namespace

std::vector<std::string> variant_bases(std::string_view name) {
    if (!name.starts_with("__")) return {};
    std::size_t cut = std::string_view::npos;
    for (const std::string_view mark : kVariantMarks) {
        // "_c" and the like must end the name or be followed by the next mark: "__memcpy_chk" is no variant.
        for (std::size_t at = name.find(mark, 3); at != std::string_view::npos;
             at = name.find(mark, at + 1)) {
            const std::size_t end = at + mark.size();
            if (end == name.size() || name[end] == '_') cut = std::min(cut, at);
        }
    }
    if (cut == std::string_view::npos) return {};
    std::string_view base = without_underscores(name.substr(0, cut));
    // libm's functions behind its wrappers, which set errno.
    constexpr std::string_view kBehindWrapper = "ieee754_";
    if (base.starts_with(kBehindWrapper)) base.remove_prefix(kBehindWrapper.size());
    std::vector<std::string> names;
    add(names, base);
    for (const SharedImplementation& shared : kShared) {
        if (shared.base == base) add(names, shared.other);
    }
    return names;
}

std::string_view openblas_kernel(std::string_view name) {
    constexpr std::array<std::string_view, 22> kProcessors{
        "_PRESCOTT",    "_CORE2",        "_PENRYN",     "_DUNNINGTON",     "_NEHALEM",   "_SANDYBRIDGE",
        "_HASWELL",     "_SKYLAKEX",     "_COOPERLAKE", "_SAPPHIRERAPIDS", "_ATOM",      "_NANO",
        "_OPTERON",     "_OPTERON_SSE3", "_BARCELONA",  "_BOBCAT",         "_BULLDOZER", "_PILEDRIVER",
        "_STEAMROLLER", "_EXCAVATOR",    "_ZEN",        "_GENERIC"};
    constexpr std::array<std::string_view, 5> kMultiply{"gemm_kernel", "gemm3m_kernel", "gemm_small_kernel",
                                                        "trmm_kernel", "trsm_kernel"};
    constexpr std::array<std::string_view, 6> kMatrices{"gemm_", "gemm3m_", "trmm_",
                                                        "trsm_", "symm_",   "hemm_"};
    constexpr std::array<std::string_view, 15> kVectors{"amax_k", "amin_k", "asum_k", "axpby_k", "axpy_k",
                                                        "copy_k", "dot_k",  "dotc_k", "dotu_k",  "max_k",
                                                        "min_k",  "nrm2_k", "rot_k",  "scal_k",  "swap_k"};
    const auto* const processor =
        std::ranges::find_if(kProcessors, [&](auto each) { return name.ends_with(each); });
    if (processor == kProcessors.end() || name.find_first_of("sdcz") != 0) return {};
    const std::string_view stem = name.substr(1, name.size() - 1 - processor->size());
    const auto begins_with = [&](const auto& beginnings) {
        return std::ranges::any_of(beginnings, [&](auto each) { return stem.starts_with(each); });
    };
    if (begins_with(kMultiply)) return "openblas_kernel_mnk";
    if (begins_with(kMatrices) && (stem.ends_with("copy") || stem.ends_with("_beta")))
        return "openblas_kernel_mn";
    if (stem.starts_with("gemv_") || stem == "ger_k" || stem == "geru_k" || stem == "gerc_k")
        return "openblas_kernel_mn";
    if (stem.starts_with("symv_") || stem.starts_with("hemv_")) return "openblas_kernel_n";
    return std::ranges::find(kVectors, stem) != kVectors.end() ? "openblas_kernel_n" : std::string_view{};
}

std::vector<std::string> exported_candidates(std::string_view name) {
    constexpr std::string_view kInternalPrefix = "__GI_";
    const bool internal_prefix = name.starts_with(kInternalPrefix);
    if (internal_prefix) name.remove_prefix(kInternalPrefix.size());
    if (!internal_prefix && !name.starts_with('_')) return {};
    std::vector<std::string> names;
    std::vector<std::string_view> stems{name};
    for (const std::string_view suffix : kInternalSuffixes) {
        if (name.ends_with(suffix)) stems.push_back(name.substr(0, name.size() - suffix.size()));
    }
    for (std::string_view stem : stems) {
        add(names, stem);
        while (stem.starts_with('_')) {
            stem.remove_prefix(1);
            add(names, stem);
        }
        constexpr std::string_view kLibcPrefix = "libc_";
        if (stem.starts_with(kLibcPrefix)) add(names, stem.substr(kLibcPrefix.size()));
    }
    if (!internal_prefix) std::erase(names, std::string{name});
    return names;
}

}  // namespace rdam
