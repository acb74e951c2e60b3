#include "tools/agent/switches/switch_rings.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/agent/process/privileges.h"
#include "tools/agent/process/process_numbers.h"

namespace rdam::agent {
namespace {

/// At first, or less: halved until all rings may be locked, a limit that is shared by all of the user's
/// processes.
constexpr std::size_t kFirstRing = 128U << 10U;
/// The thread that empties a ring is woken when it holds one of these shares, because where processors are busy that
/// thread comes late. The ring is too small if it holds so many by then.
constexpr std::size_t kShares = 8;
constexpr std::size_t kWakeAt = 2;
constexpr std::size_t kTooMany = 3;
/// A server with many clients fills 256 KiB in a tenth of a second, and the thread that empties the rings may
/// have to wait longer for a processor.
constexpr std::size_t kLargestRing = 1U << 20U;
constexpr std::size_t kUsualRing = 256U << 10U;
constexpr std::size_t kMinRing = 8U << 10U;
/// Where there are more processors, their rings are smaller than the largest, but not than the usual one.
constexpr std::size_t kAllRings = 8U << 20U;

/// Where a thread leaves a processor, or gets it, the kernel takes away or puts in place the event that writes
/// the record, too. Not so where one of the program's threads gets it from another: their events are the
/// same (microbench/switches).
/// A switch from one to the other takes no longer.
constexpr std::uint64_t kHandedOverNs = 5000;

/// What follows a record's own fields, as sample_type and sample_id_all make it.
struct SampleId {
    std::uint32_t pid = 0;
    std::uint32_t tid = 0;
    std::uint64_t time = 0;
    std::uint32_t cpu = 0;
    std::uint32_t reserved = 0;
};

std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

perf_event_attr attributes_for(clockid_t clock) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attributes.sample_id_all = 1;
    attributes.exclude_kernel = 1;
    attributes.context_switch = 1;
    attributes.inherit = 1;
    attributes.inherit_thread = 1;
    attributes.use_clockid = 1;
    attributes.clockid = clock;
    return attributes;
}

/// The attributes of an event that only carries a ring.
perf_event_attr attributes_of_carrier(clockid_t clock, std::size_t size) {
    perf_event_attr attributes = attributes_for(clock);
    attributes.context_switch = 0;
    attributes.inherit = 0;
    attributes.inherit_thread = 0;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<std::uint32_t>(size / kShares * kWakeAt);
    return attributes;
}

int open_event(perf_event_attr attributes, std::uint32_t tid, int cpu) {
    const auto attempt = [&] {
        return static_cast<int>(
            syscall(SYS_perf_event_open, &attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
    };
    const int fd = attempt();
    if (fd >= 0 || errno != EINVAL) return fd;
    // Linux before 5.13: children inherit too, their records have another pid.
    attributes.inherit_thread = 0;
    return attempt();
}

std::size_t largest_size() {
    const long processors = std::max(sysconf(_SC_NPROCESSORS_CONF), 1L);
    const std::size_t share = kAllRings / static_cast<std::size_t>(processors);
    return std::clamp(std::bit_floor(share), kUsualRing, kLargestRing);
}

Error why_not_open(int error) {
    if (error == EACCES || error == EPERM)
        return Error{fmt::format("perf_event_open: {} ({})", std::strerror(error), who_forbids_perf())};
    if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP)
        return Error{
            fmt::format("perf_event_open: {} (the kernel has no perf events)", std::strerror(error))};
    return Error{fmt::format("perf_event_open: {}", std::strerror(error))};
}

/// A descriptor for each processor may be more than the program was meant to have.
void allow_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

SwitchRings::SwitchRings(std::uint32_t pid, clockid_t clock)
    : pid_(pid), own_pid_(static_cast<std::uint32_t>(getpid())), clock_(clock) {}

Result<SwitchRings> SwitchRings::open(std::uint32_t pid, clockid_t clock) {
    allow_descriptors();
    for (std::size_t size = kFirstRing;; size /= 2) {
        SwitchRings rings(pid, clock);
        auto done = rings.open_all(size);
        if (done) return rings;
        if (!rings.unlocked_ || size == kMinRing) return tl::unexpected(done.error());
    }
}

Result<void> SwitchRings::open_all(std::size_t size) {
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < processors; ++cpu) {
        const int fd = open_event(attributes_for(clock_), pid_, cpu);
        if (fd < 0 && errno == ENODEV) continue;  // a processor that is not running
        if (fd < 0) return tl::unexpected(why_not_open(errno));
        Ring& ring = rings_.emplace_back();
        ring.cpu = static_cast<std::uint16_t>(cpu);
        ring.events.push_back(fd);
        const auto carrier = open_carrier(cpu, size);
        if (!carrier) return tl::unexpected(carrier.error());
        ring.carrier = *carrier;
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, carrier->fd) != 0)
            return fail("PERF_EVENT_IOC_SET_OUTPUT: {}", std::strerror(errno));
        open_others(ring, pid_, pid_);
        open_others(ring, own_pid_, 0);
    }
    if (rings_.empty()) return fail("perf_event_open: no processor is known");
    return {};
}

Result<SwitchRings::Carrier> SwitchRings::open_carrier(int cpu, std::size_t size) {
    const int fd = open_event(attributes_of_carrier(clock_, size), 0, cpu);
    if (fd < 0) return tl::unexpected(why_not_open(errno));
    void* memory = mmap(nullptr, page_size() + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) {
        // A process that we fork would keep it alive.
        madvise(memory, page_size() + size, MADV_DONTFORK);
        return Carrier{fd, memory, size};
    }
    unlocked_ = true;
    auto error =
        fail("perf's rings cannot be mapped: {} (give more with kernel.perf_event_mlock_kb or ulimit -l)",
             std::strerror(errno));
    close(fd);
    return error;
}

void SwitchRings::close_carrier(const Carrier& carrier) {
    if (carrier.memory != nullptr) munmap(carrier.memory, page_size() + carrier.size);
    if (carrier.fd >= 0) close(carrier.fd);
}

/// Threads that were there before us inherit nothing. What they have inherited after all comes twice.
void SwitchRings::open_others(Ring& ring, std::uint32_t pid, std::uint32_t but) {
    for (const std::uint32_t tid : threads_of(pid)) {
        if (tid == but) continue;
        const int other = open_event(attributes_for(clock_), tid, ring.cpu);
        if (other < 0) continue;
        ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, ring.carrier.fd);
        ring.events.push_back(other);
    }
}

void SwitchRings::watch_agent(std::uint32_t pid) {
    other_pid_ = pid;
    for (Ring& ring : rings_)
        open_others(ring, pid, 0);
}

SwitchRings::~SwitchRings() {
    for (const Ring& ring : rings_) {
        for (const int fd : ring.events)
            close(fd);
        close_carrier(ring.carrier);
        close_carrier(ring.larger);
    }
}

bool SwitchRings::grow() {
    bool moves = false;
    for (Ring& ring : rings_) {
        if (ring.larger.fd < 0) begin_larger(ring);
        if (ring.larger.fd >= 0) move_event(ring);
        moves = moves || ring.larger.fd >= 0;
    }
    return moves;
}

void SwitchRings::begin_larger(Ring& ring) {
    auto& page = *static_cast<perf_event_mmap_page*>(ring.carrier.memory);
    const std::uint64_t head = std::atomic_ref<__u64>{page.data_head}.load(std::memory_order_acquire);
    if (ring.stays || head - page.data_tail < ring.carrier.size / kShares * kTooMany) return;
    for (std::size_t size = largest_size(); size > ring.carrier.size; size /= 2)
        if (const auto larger = open_carrier(ring.cpu, size)) {
            ring.larger = *larger;
            return;
        }
    ring.stays = true;
}

/// What new threads have inherited of the event follows it. The last one leaves nothing in the ring before
/// but what is to be taken.
void SwitchRings::move_event(Ring& ring) {
    if (ring.moved < ring.events.size()) {
        ioctl(ring.events[ring.moved++], PERF_EVENT_IOC_SET_OUTPUT, ring.larger.fd);
        return;
    }
    ring.larger.was_full = ring.larger.was_full || ring.carrier.was_full;
    close_carrier(ring.carrier);
    ring.carrier = std::exchange(ring.larger, {});
    ring.moved = 0;
}

std::vector<int> SwitchRings::descriptors() const {
    std::vector<int> all;
    for (const Ring& ring : rings_)
        all.push_back(ring.carrier.fd);
    return all;
}

std::uint64_t SwitchRings::take(std::vector<SwitchRecord>& to) {
    std::uint64_t most = 0;
    for (Ring& ring : rings_) {
        ring.records = 0;
        take(ring, ring.carrier, to);
        if (ring.larger.fd >= 0) take(ring, ring.larger, to);
        most = std::max(most, ring.records * trace::SwitchInfo::kRecordNs);
    }
    return most;
}

void SwitchRings::take(Ring& ring, Carrier& carrier, std::vector<SwitchRecord>& to) {
    auto& page = *static_cast<perf_event_mmap_page*>(carrier.memory);
    const auto* data = static_cast<const std::uint8_t*>(carrier.memory) + page_size();
    const std::uint64_t head = std::atomic_ref<__u64>{page.data_head}.load(std::memory_order_acquire);
    std::uint64_t tail = page.data_tail;
    constexpr std::size_t kLargest = 128;  ///< of the records that this event can write
    const bool full = head - tail > carrier.size - kLargest;
    while (head - tail >= sizeof(perf_event_header)) {
        std::uint8_t record[kLargest];
        const auto copy = [&](std::size_t size) {
            const std::size_t at = tail % carrier.size;
            const std::size_t first = std::min(size, carrier.size - at);
            std::memcpy(record, data + at, first);
            std::memcpy(record + first, data, size - first);
        };
        copy(sizeof(perf_event_header));
        perf_event_header header;
        std::memcpy(&header, record, sizeof header);
        if (header.size < sizeof header || header.size > head - tail) break;
        if (header.size <= kLargest) {
            copy(header.size);
            add(ring, carrier, record, header.size, to);
        }
        tail += header.size;
    }
    std::atomic_ref<__u64>{page.data_tail}.store(head, std::memory_order_release);
    if (!full) return;
    to.push_back({.ns = carrier.last_ns, .cpu = ring.cpu, .out = true, .lost = true});
    carrier.was_full = true;
}

void SwitchRings::add(Ring& ring, Carrier& carrier, const std::uint8_t* record, std::size_t size,
                      std::vector<SwitchRecord>& to) {
    perf_event_header header;
    std::memcpy(&header, record, sizeof header);
    if (size < sizeof header + sizeof(SampleId)) return;
    SampleId id;
    std::memcpy(&id, record + size - sizeof id, sizeof id);
    if (header.type == PERF_RECORD_LOST) {
        std::uint64_t lost = 0;  // behind the header and the event's number
        std::memcpy(&lost, record + sizeof header + sizeof lost, sizeof lost);
        lost_ += lost;
        if (carrier.last_ns != 0) lost_since_ns_ = std::min(lost_since_ns_, carrier.last_ns);
        // The ring may have filled up while it was being emptied.
        to.push_back({.ns = carrier.last_ns, .cpu = ring.cpu, .out = true, .lost = true});
        carrier.was_full = true;
    }
    // The kernel reports a loss before it writes anything else.
    if (std::exchange(carrier.was_full, false)) to.push_back({.ns = id.time, .cpu = ring.cpu, .lost = true});
    const bool out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
    // A thread that leaves and comes back was not followed by one of the program's.
    const bool handed_over = !out && id.pid == pid_ && carrier.left_pid == pid_ &&
                             carrier.left_tid != id.tid && id.time - carrier.last_ns <= kHandedOverNs;
    carrier.last_ns = id.time;
    carrier.left_pid = out ? id.pid : 0;
    carrier.left_tid = id.tid;
    if (header.type != PERF_RECORD_SWITCH || (id.pid != pid_ && id.pid != own_pid_ && id.pid != other_pid_))
        return;
    ++(handed_over ? handed_over_ : ring.records);
    to.push_back({.ns = id.time,
                  .tid = id.tid,
                  .cpu = static_cast<std::uint16_t>(id.cpu),
                  .out = out,
                  .preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
                  .agent = id.pid != pid_});
}

}  // namespace rdam::agent
