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

#include "tools/agent/process/perf_refusal.h"
#include "tools/agent/process/process_numbers.h"

namespace rdam::agent {
namespace {

/// Halved until all rings may be locked: the limit is shared by all of the user's processes. A server with
/// many clients fills 256 KiB in a tenth of a second, and the thread that empties the rings may have to wait
/// longer for a processor.
constexpr std::size_t kLargestRing = 1U << 20U;
constexpr std::size_t kUsualRing = 256U << 10U;
constexpr std::size_t kMinRing = 8U << 10U;
/// Where there are more processors, their rings are smaller than the largest, but not than the usual one.
constexpr std::size_t kAllRings = 8U << 20U;

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
    attributes.watermark = 1;
    attributes.wakeup_watermark = 0;  // half of the ring
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

std::size_t first_size(long processors) {
    const std::size_t share = kAllRings / static_cast<std::size_t>(std::max(processors, 1L));
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

SwitchRings::SwitchRings(std::uint32_t pid) : pid_(pid), own_pid_(static_cast<std::uint32_t>(getpid())) {}

Result<SwitchRings> SwitchRings::open(std::uint32_t pid, clockid_t clock) {
    allow_descriptors();
    for (std::size_t size = first_size(sysconf(_SC_NPROCESSORS_CONF));; size /= 2) {
        SwitchRings rings(pid);
        auto done = rings.open_all(attributes_for(clock), size);
        if (done) return rings;
        if (!rings.unlocked_ || size == kMinRing) return tl::unexpected(done.error());
    }
}

Result<void> SwitchRings::open_all(const perf_event_attr& attributes, std::size_t size) {
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < processors; ++cpu) {
        const int fd = open_event(attributes, pid_, cpu);
        if (fd < 0 && errno == ENODEV) continue;  // a processor that is not running
        if (fd < 0) return tl::unexpected(why_not_open(errno));
        rings_.push_back({.fd = fd, .size = size, .cpu = static_cast<std::uint16_t>(cpu)});
        void* memory = mmap(nullptr, page_size() + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) {
            unlocked_ = true;
            return fail(
                "perf's rings cannot be mapped: {} (give more with kernel.perf_event_mlock_kb or ulimit -l)",
                std::strerror(errno));
        }
        rings_.back().memory = memory;
        open_others(attributes, pid_, pid_, cpu);
        open_others(attributes, own_pid_, 0, cpu);
    }
    if (rings_.empty()) return fail("perf_event_open: no processor is known");
    return {};
}

/// Threads that were there before us inherit nothing. What they have inherited after all comes twice.
void SwitchRings::open_others(const perf_event_attr& attributes, std::uint32_t pid, std::uint32_t but,
                              int cpu) {
    for (const std::uint32_t tid : threads_of(pid)) {
        if (tid == but) continue;
        const int other = open_event(attributes, tid, cpu);
        if (other < 0) continue;
        ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, rings_.back().fd);
        others_.push_back(other);
    }
}

SwitchRings::~SwitchRings() {
    for (const int fd : others_)
        close(fd);
    for (const Ring& ring : rings_) {
        if (ring.memory != nullptr) munmap(ring.memory, page_size() + ring.size);
        close(ring.fd);
    }
}

std::vector<int> SwitchRings::descriptors() const {
    std::vector<int> all;
    for (const Ring& ring : rings_)
        all.push_back(ring.fd);
    return all;
}

std::size_t SwitchRings::take(std::vector<SwitchRecord>& to) {
    std::size_t most = 0;
    for (Ring& ring : rings_) {
        const std::size_t before = to.size();
        take(ring, to);
        most = std::max(most, to.size() - before);
    }
    return most;
}

void SwitchRings::take(Ring& ring, std::vector<SwitchRecord>& to) {
    auto& page = *static_cast<perf_event_mmap_page*>(ring.memory);
    const auto* data = static_cast<const std::uint8_t*>(ring.memory) + page_size();
    const std::uint64_t head = std::atomic_ref<__u64>{page.data_head}.load(std::memory_order_acquire);
    std::uint64_t tail = page.data_tail;
    constexpr std::size_t kLargest = 128;  ///< of the records that this event can write
    const bool full = head - tail > ring.size - kLargest;
    while (head - tail >= sizeof(perf_event_header)) {
        std::uint8_t record[kLargest];
        const auto copy = [&](std::size_t size) {
            const std::size_t at = tail % ring.size;
            const std::size_t first = std::min(size, ring.size - at);
            std::memcpy(record, data + at, first);
            std::memcpy(record + first, data, size - first);
        };
        copy(sizeof(perf_event_header));
        perf_event_header header;
        std::memcpy(&header, record, sizeof header);
        if (header.size < sizeof header || header.size > head - tail) break;
        if (header.size <= kLargest) {
            copy(header.size);
            add(ring, record, header.size, to);
        }
        tail += header.size;
    }
    std::atomic_ref<__u64>{page.data_tail}.store(head, std::memory_order_release);
    if (!full) return;
    to.push_back({.ns = ring.last_ns, .cpu = ring.cpu, .out = true, .lost = true});
    ring.was_full = true;
}

void SwitchRings::add(Ring& ring, const std::uint8_t* record, std::size_t size,
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
        // The ring may have filled up while it was being emptied.
        to.push_back({.ns = ring.last_ns, .cpu = ring.cpu, .out = true, .lost = true});
        ring.was_full = true;
    }
    // The kernel reports a loss before it writes anything else.
    if (std::exchange(ring.was_full, false)) to.push_back({.ns = id.time, .cpu = ring.cpu, .lost = true});
    ring.last_ns = id.time;
    if (header.type != PERF_RECORD_SWITCH || (id.pid != pid_ && id.pid != own_pid_)) return;
    to.push_back({.ns = id.time,
                  .tid = id.tid,
                  .cpu = static_cast<std::uint16_t>(id.cpu),
                  .out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
                  .preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
                  .agent = id.pid == own_pid_});
}

}  // namespace rdam::agent
