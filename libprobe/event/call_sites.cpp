#include "libprobe/event/call_sites.h"

#include "libprobe/event/slow.h"

extern "C" {
alignas(64) constinit rdam::probe::CallSite rdam_call_sites[RDAM_MAX_SITES] = {};
}

namespace rdam::probe {
namespace {

constexpr std::uint32_t kBucketBits = 14;
/// The last CallSite of each hash, by its number. Numbers begin behind 0, which is none.
constinit std::atomic<std::uint32_t> buckets[1u << kBucketBits] = {};
constinit std::atomic<std::uint32_t> used{1};
/// The first free one of those that were in use; a change count in the high half.
constinit std::atomic<std::uint64_t> free_sites;

std::atomic<std::uint32_t>& bucket_of(const FunctionEntry& entry, std::uint64_t return_address) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    return buckets[(return_address ^ entry.pair_key) * kSpread >> (64 - kBucketBits)];
}

/// In the chain that begins with `number`; 0: it is not there.
std::uint32_t find_site(std::uint32_t number, const FunctionEntry& entry, std::uint64_t return_address) {
    for (; number != 0; number = rdam_call_sites[number].next) {
        const CallSite& site = rdam_call_sites[number];
        if (site.return_address.load(std::memory_order_acquire) == return_address && site.entry == &entry &&
            site.return_address.load() == return_address)
            return number;
    }
    return 0;
}

std::uint32_t take_free() {
    std::uint64_t head = free_sites.load();
    for (;;) {
        const auto number = static_cast<std::uint32_t>(head);
        if (number == 0) return 0;
        const std::uint64_t change = (head >> 32) + 1;
        if (free_sites.compare_exchange_weak(head, change << 32 | rdam_call_sites[number].next))
            return number;
    }
}

void give_back(std::uint32_t number) {
    std::uint64_t head = free_sites.load();
    do {
        rdam_call_sites[number].next = static_cast<std::uint32_t>(head);
    } while (!free_sites.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | number));
}

/// 0: there is no more.
std::uint32_t take_site() {
    if (const std::uint32_t number = take_free(); number != 0) return number;
    std::uint32_t number = used.load();
    do {
        if (number == RDAM_MAX_SITES) return 0;
    } while (!used.compare_exchange_weak(number, number + 1));
    return number;
}

void fill(CallSite& site, FunctionEntry* entry, void* resume, std::uint64_t return_address) {
    site.entry = entry;
    site.resume = resume;
    site.return_address.store(return_address, std::memory_order_release);
}

/// Two threads that add the same one at once have two, which does no harm. 0: there is no room.
std::uint32_t add_site(std::atomic<std::uint32_t>& bucket, FunctionEntry& entry,
                       std::uint64_t return_address) {
    const std::uint32_t number = take_site();
    if (number == 0) return 0;
    CallSite& site = rdam_call_sites[number];
    fill(site, &entry, entry.resume, return_address);
    std::uint32_t first = bucket.load();
    do {
        site.next = first;
    } while (!bucket.compare_exchange_weak(first, number));
    return number;
}

/// Takes a CallSite out of the chain that begins in `bucket`. Others may put new ones in front meanwhile, and
/// follow the chain.
void unlink(std::atomic<std::uint32_t>& bucket, std::uint32_t number) {
    const std::uint32_t next = rdam_call_sites[number].next;
    std::uint32_t first = number;
    while (!bucket.compare_exchange_strong(first, next)) {
        std::uint32_t before = first;
        while (before != 0 && rdam_call_sites[before].next != number)
            before = rdam_call_sites[before].next;
        if (before == 0) return;
        rdam_call_sites[before].next = next;
        return;
    }
}

bool within(std::uint64_t address, std::uint64_t low, std::uint64_t high) {
    return address >= low && address < high;
}

const CallSite* site_of(std::uint64_t return_address) {
    const auto first = reinterpret_cast<std::uint64_t>(rdam_pads) + RDAM_PAD_RETURN;
    const std::uint64_t offset = return_address - first;
    if (offset >> RDAM_PAD_SHIFT >= RDAM_MAX_SITES || offset % (1u << RDAM_PAD_SHIFT) != 0) return nullptr;
    return &rdam_call_sites[offset >> RDAM_PAD_SHIFT];
}

}  // namespace

FunctionEntry* entry_of_pad(std::uint64_t return_address) {
    const CallSite* const site = site_of(return_address);
    return site != nullptr ? site->entry : nullptr;
}

std::uint64_t without_pad(std::uint64_t word) {
    const CallSite* const site = site_of(word);
    return site != nullptr ? site->return_address.load() : word;
}

void forget_call_sites(std::uint64_t low, std::uint64_t high) {
    const std::uint32_t end = used.load();
    for (std::uint32_t number = 1; number < end; ++number) {
        CallSite& site = rdam_call_sites[number];
        const std::uint64_t return_address = site.return_address.load();
        if (return_address == 0 || site.entry == nullptr) continue;
        const std::uint64_t function = globals.addresses[site.entry - rdam_functions];
        if (!within(return_address, low, high) && !within(function, low, high)) continue;
        unlink(bucket_of(*site.entry, return_address), number);
        site.return_address.store(0);
        give_back(number);
    }
}

}  // namespace rdam::probe

std::uint64_t rdam_slow_site(rdam::probe::FunctionEntry* entry, std::uint64_t return_address) {
    using namespace rdam::probe;
    std::atomic<std::uint32_t>& bucket = bucket_of(*entry, return_address);
    std::uint32_t number = find_site(bucket.load(std::memory_order_acquire), *entry, return_address);
    if (number == 0) number = add_site(bucket, *entry, return_address);
    if (number == 0 && globals.control != nullptr) globals.control->without_site.add(1);
    const std::uint32_t offset = number << RDAM_SITE_SHIFT;
    if (number != 0) rdam_thread.sites[pair_index(return_address ^ entry->pair_key)] = offset;
    return offset;
}
