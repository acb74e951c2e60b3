#include "wrappers/hot/small_leaves.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/base/demangle.h"
#include "wrappers/find/name_query.h"
#include "wrappers/find/object_set.h"
#include "wrappers/hot/code_shape.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/object/object_file.h"
#include "wrappers/perf/perf_samples.h"

namespace rdam {
namespace {

constexpr std::uint64_t kMaxStraight = 512;
constexpr std::uint64_t kMaxLooping = 4096;
constexpr std::uint64_t kMaxUntold = 128;

/// Code outside all loops runs once per call, at some 0.1 ns per instruction (docs/design.md): its share of
/// the samples shows how long a whole call takes.
constexpr double kNanosecondsAStep = 0.1;
constexpr double kMaxNanoseconds = 40;  ///< about what recording a call takes
constexpr std::uint64_t kMinOutside = 2;
constexpr std::uint64_t kEnoughSamples = 100;

/// Functions that call others, or write what other threads write, should be recorded completely, unless that
/// costs too much. Code that runs once per call takes some 0.06 ns per byte, or 0.25 ns per instruction, if
/// it does not wait; waiting makes its calls rarer.
constexpr double kNanosecondsAByte = 0.06;
constexpr double kNanosecondsAnInstruction = 0.25;
constexpr std::uint64_t kMinOutsideOfCostly = 10;
constexpr double kNanosecondsOfRecording = 75;  ///< probe, packing, agent
constexpr double kMaxPercent = 10;              ///< of all processor time, for one function

/// A function that may be too small to record each of its calls.
struct Leaf {
    std::uint64_t bytes = 0;  ///< 0: of an IFUNC, whose code is not known
    CodeShape shape;
};

/// What the catalogue knows of the function at an address, by any of its names; nullptr: nothing.
const CatalogueFunction* known_at(const ObjectFile& file, std::uint64_t address, const Catalogue& catalogue) {
    for (const Symbol& symbol : file.at(address))
        if (const auto* known = catalogue.find(well_known_name(symbol.name, catalogue))) return known;
    return nullptr;
}

bool is_about_others(const CatalogueFunction& function) {
    return function.waits || function.busy_waits || function.works_on_object();
}

/// Whether a call may wait, in code of the function's own. What synchronizes and calls may be a lock whose
/// slow way is elsewhere.
bool may_wait(const CodeShape& shape) {
    return shape.enters_kernel || shape.polls || shape.synchronizes_in_loop ||
           (shape.synchronizes && shape.calls);
}

bool concerns_others(const CodeShape& shape) {
    return shape.calls || shape.synchronizes;
}

/// "f.cold" of "f": what the compiler holds to be rare, somewhere else. Calls are, too, then.
bool is_harmless_exit(const ObjectFile& file, std::string_view name, std::uint64_t address) {
    constexpr std::string_view kCold = ".cold";
    const Symbol* symbol = file.covering(address);
    if (symbol == nullptr) return false;
    const CloneParts parts = split_clone(symbol->name);
    if (parts.suffix.find(kCold) == std::string_view::npos || parts.base != split_clone(name).base)
        return false;
    const auto extent = file.extent(symbol->address);
    if (!extent || extent->size() > kMaxLooping) return false;
    const CodeShape shape = shape_of_code(file.code(extent->begin, extent->size()));
    return !may_wait(shape) && !shape.synchronizes;
}

std::optional<Leaf> leaf_at(const ObjectFile& file, const Symbol& symbol, const Catalogue& catalogue) {
    const auto* known = known_at(file, symbol.address, catalogue);
    if (!symbol.is_code() || (known != nullptr && is_about_others(*known))) return std::nullopt;
    // Only stubs have samples under such a name (`strlen@plt`). The implementation has a line of its own if
    // it takes long, and that one decides: a plain name there outweighs the mark here.
    if (symbol.kind == SymbolKind::ifunc)
        return known != nullptr ? std::optional<Leaf>(Leaf{}) : std::nullopt;
    const auto extent = file.extent(symbol.address);
    if (!extent || extent->size() > kMaxLooping) return std::nullopt;
    Leaf leaf{extent->size(), shape_of_code(file.code(extent->begin, extent->size()))};
    if (!leaf.shape.followed || leaf.shape.jumps_anywhere || may_wait(leaf.shape)) return std::nullopt;
    for (const std::uint64_t exit : leaf.shape.exits)
        if (!is_harmless_exit(file, symbol.name, extent->begin + exit)) return std::nullopt;
    return leaf;
}

std::string description(const Leaf& leaf) {
    if (leaf.bytes == 0) return "small leaf (its code is chosen when the program starts)";
    if (concerns_others(leaf.shape)) return fmt::format("small and called often ({} bytes)", leaf.bytes);
    return fmt::format("small leaf{} ({} bytes)", leaf.shape.loops() ? " with a short loop" : "", leaf.bytes);
}

class Marker {
  public:
    Marker(const HotReport& report, const Catalogue& catalogue)
        : report_(report),
          catalogue_(catalogue),
          request_(request_about(report.objects)),
          objects_(request_) {}

    void mark(HotFunction& function) {
        const auto leaves = leaves_called(function);
        const bool small = !leaves.empty() &&
                           std::all_of(leaves.begin(), leaves.end(),
                                       [&](const auto& leaf) { return leaf && is_short(*leaf, function); });
        if (!small) return;
        const auto largest = std::max_element(
            leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a->bytes < b->bytes; });
        function.leaf = description(**largest);
    }

  private:
    /// All that the entry of the list would wrap; nothing where one is no leaf.
    std::vector<std::optional<Leaf>> leaves_called(const HotFunction& function) {
        std::vector<std::optional<Leaf>> leaves;
        const NameQuery query(function.name);
        for (std::size_t index = 0; index < objects_.size(); ++index) {
            if (!function.module.empty() && !objects_.is_named(index, function.module)) continue;
            const ObjectFile* file = objects_.file(index);
            if (file == nullptr || !objects_.why_excluded(index).empty()) continue;
            for (const SymbolMatch& match : query.find_in(*file))
                leaves.push_back(leaf_at(*file, file->symbols()[match.symbol], catalogue_));
        }
        return leaves;
    }

    /// `percent` of the program's time are spent in code that takes `own` nanoseconds a call at least.
    static bool is_costly(double percent, double own) {
        return percent * kNanosecondsOfRecording > kMaxPercent * own;
    }

    bool is_short(const Leaf& leaf, const HotFunction& function) {
        if (leaf.shape.loops()) return is_short_with_loops(leaf, function);
        return leaf.bytes <= kMaxStraight &&
               (!concerns_others(leaf.shape) ||
                is_costly(function.percent, kNanosecondsAByte * static_cast<double>(leaf.bytes)));
    }

    bool is_short_with_loops(const Leaf& leaf, const HotFunction& function) {
        if (leaf.shape.shortest == 0) return false;
        std::uint64_t all = 0;
        std::uint64_t outside = 0;
        for (const auto& [offset, samples] : report_.places.of(function.module, function.name)) {
            all += samples;
            if (offset < leaf.shape.in_loop.size() && !leaf.shape.in_loop[offset]) outside += samples;
        }
        if (concerns_others(leaf.shape)) {
            if (outside < kMinOutsideOfCostly) return false;
            const double share = static_cast<double>(outside) / static_cast<double>(all);
            return is_costly(function.percent * share, kNanosecondsAnInstruction * leaf.shape.shortest);
        }
        const double most = kMaxNanoseconds / kNanosecondsAStep * static_cast<double>(outside);
        const bool told = outside >= kMinOutside && leaf.shape.shortest * static_cast<double>(all) <= most;
        return told || (all < kEnoughSamples && leaf.bytes <= kMaxUntold);
    }

    const HotReport& report_;
    const Catalogue& catalogue_;
    const PlanRequest request_;
    ObjectSet objects_;
};

}  // namespace

void mark_small_leaves(HotReport& report, const Catalogue& catalogue) {
    Marker marker(report, catalogue);
    for (HotFunction& function : report.hot.functions)
        marker.mark(function);
}

}  // namespace rdam
