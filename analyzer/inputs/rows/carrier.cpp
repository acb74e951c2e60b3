#include "analyzer/inputs/rows/carrier.h"

namespace rdam::inputs {

Result<bool> Carrier::fetch(bool& gap) {
    gap = false;
    while (at_ == events_.size()) {
        auto part = stream_.next();
        if (!part) return tl::unexpected{part.error()};
        if (!*part) return false;
        gap = gap || (*part)->gap;
        events_ = (*part)->events;
        at_ = 0;
    }
    return true;
}

}  // namespace rdam::inputs
