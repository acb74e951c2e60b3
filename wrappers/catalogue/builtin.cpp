#include <xxhash.h>

#include "wrappers/catalogue/builtin_lines.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/catalogue/known_programs.h"

namespace rdam {

const Catalogue& Catalogue::builtin() {
    static const Catalogue catalogue = from_lines(builtin_catalogue_lines());
    return catalogue;
}

std::uint64_t Catalogue::builtin_fingerprint() {
    const std::string_view lines = builtin_catalogue_lines();
    return XXH3_64bits(lines.data(), lines.size());
}

const KnownPrograms& KnownPrograms::builtin() {
    static const KnownPrograms programs = from_lines(builtin_programs_lines());
    return programs;
}

}  // namespace rdam
