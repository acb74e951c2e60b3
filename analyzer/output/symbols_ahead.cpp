#include "analyzer/output/symbols_ahead.h"

#include <algorithm>
#include <system_error>

namespace rdam::output {

SymbolsAhead::SymbolsAhead(Symbols& symbols, const trace::TraceInfo& info) : symbols_{symbols}, info_{info} {
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error&) {
        // Then they are looked up when they are needed.
    }
}

SymbolsAhead::~SymbolsAhead() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
}

void SymbolsAhead::run() {
    constexpr std::size_t kStacks = 16;
    const std::size_t stacks = std::min(info_.stacks.size(), kStacks);
    for (std::size_t i = 0; i < stacks; ++i)
        for (const std::uint64_t address : info_.stacks[i].frames) {
            if (stop_) return;
            symbols_.prepare(address);
        }
}

}  // namespace rdam::output
