// Names known only from a library's debug symbols, and the exported functions that stand for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

/// The exported functions that have `name` as a variant for one kind of processor:
/// "__memmove_avx_unaligned_erms" → {"memmove", "memcpy"}; empty if the name has no such suffix.
std::vector<std::string> variant_bases(std::string_view name);

/// What stands in the catalogue for one of OpenBLAS's kernels, by the sizes that it takes first:
/// "dgemm_kernel_SKYLAKEX" → "openblas_kernel_mnk". Empty: it is none, or of another kind.
std::string_view openblas_kernel(std::string_view name);

/// Exported names that may stand for one of glibc's internal names, best first:
/// "__GI___pthread_mutex_unlock_usercnt" → {…, "pthread_mutex_unlock"}. Empty where the name does not look
/// internal.
std::vector<std::string> exported_candidates(std::string_view name);

}  // namespace rdam
