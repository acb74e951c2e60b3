#include "wrappers/lookup/nearest_names.h"

#include "wrappers/text/demangle.h"
#include "wrappers/text/similar_names.h"

namespace rdam {
namespace {

constexpr std::size_t kMaxDemangled = 30000;

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted, ObjectSet& objects,
                                       const std::vector<std::size_t>& where) {
    SimilarNames similar{wanted};
    std::size_t demangled = 0;
    for (const std::size_t index : where) {
        const ObjectFile* file = objects.file(index);
        if (file == nullptr || !objects.why_excluded(index).empty()) continue;
        std::string_view previous;
        for (const Symbol& symbol : file->symbols()) {
            if (!symbol.is_code() || symbol.name == previous) continue;
            previous = symbol.name;
            std::string name{symbol.name};
            if (looks_mangled(symbol.name)) {
                if (++demangled > kMaxDemangled) continue;
                name = display_name(symbol.name);
            }
            similar.consider(name, objects.module_name(index) + ":" + name);
        }
    }
    return similar.names();
}

}  // namespace rdam
