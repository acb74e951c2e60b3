#include "tools/base/internal_names.h"

#include <algorithm>
#include <array>

namespace rdam {
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
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
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
