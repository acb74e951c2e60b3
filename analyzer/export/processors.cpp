#include "analyzer/export/processors.h"

#include <algorithm>
#include <tuple>

namespace rdam::exports {
namespace {

bool is_longer(const OnProcessor& a, const OnProcessor& b) {
    const auto order = [](const OnProcessor& each) { return std::tuple{each.begin, each.thread}; };
    const std::uint64_t a_length = a.end - a.begin, b_length = b.end - b.begin;
    return a_length != b_length ? a_length > b_length : order(a) < order(b);
}

}  // namespace

void Processors::add(const OnProcessor& call, std::uint16_t last, std::span<const trace::OffCpu> off) {
    OnProcessor stretch = call;
    auto next = std::partition_point(off.begin(), off.end(),
                                     [&](const trace::OffCpu& each) { return each.in <= call.begin; });
    bool was_off = false;
    for (; next != off.end() && next->out < call.end; ++next) {
        was_off = true;
        stretch.end = std::max(next->out, stretch.begin);
        keep(stretch);
        stretch.cpu = next->cpu;
        stretch.begin = next->in;
    }
    stretch.end = call.end;
    if (was_off || call.cpu == last) keep(stretch);
}

void Processors::add(const Processors& other) {
    for (const OnProcessor& stretch : other.stretches_)
        keep(stretch);
}

void Processors::keep(const OnProcessor& stretch) {
    if (stretch.cpu == trace::kNoCpu || stretch.end <= stretch.begin) return;
    stretches_.push_back(stretch);
    if (stretches_.size() >= 2 * std::max<std::size_t>(most_, 1)) cut();
}

void Processors::cut() {
    if (stretches_.size() <= most_) return;
    const auto end = stretches_.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(stretches_.begin(), end, stretches_.end(), is_longer);
    stretches_.erase(end, stretches_.end());
}

std::vector<OnProcessor> Processors::by_processor() const {
    Processors own = *this;
    own.cut();
    std::vector<OnProcessor> all = std::move(own.stretches_);
    std::sort(all.begin(), all.end(), [](const OnProcessor& a, const OnProcessor& b) {
        return std::tuple{a.cpu, a.begin, a.end, a.thread} < std::tuple{b.cpu, b.begin, b.end, b.thread};
    });
    for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].cpu == all[i - 1].cpu) all[i - 1].end = std::min(all[i - 1].end, all[i].begin);
    return all;
}

}  // namespace rdam::exports
