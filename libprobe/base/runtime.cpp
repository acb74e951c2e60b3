#include "libprobe/base/runtime.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <atomic>

#include "libprobe/base/filter.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

// The compiler may turn a structure's copy into a call of these; hidden, they bind here and not to libc.
extern "C" {
__attribute__((visibility("hidden"))) void* memcpy(void* to, const void* from, std::size_t size) {
    void* result = to;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return result;
}
__attribute__((visibility("hidden"))) void* memset(void* to, int value, std::size_t size) {
    void* result = to;
    asm volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
    return result;
}
__attribute__((visibility("hidden"))) int memcmp(const void* a, const void* b, std::size_t size) {
    const auto* left = static_cast<const unsigned char*>(a);
    const auto* right = static_cast<const unsigned char*>(b);
    for (std::size_t i = 0; i < size; ++i)
        if (left[i] != right[i]) return left[i] - right[i];
    return 0;
}
__attribute__((visibility("hidden"))) std::size_t strlen(const char* text) {
    std::size_t size = 0;
    while (text[size] != '\0') {
        asm volatile("" : "+r"(size));  // or the compiler recognises strlen and calls itself
        ++size;
    }
    return size;
}
}

namespace rdam::probe {

void copy_bytes(void* to, const void* from, std::size_t size) {
    memcpy(to, from, size);
}
void zero_bytes(void* to, std::size_t size) {
    memset(to, 0, size);
}

std::size_t text_size(const char* text) {
    return strlen(text);
}

namespace {

/// How much of what is at that address is known to be there: it is between the stack pointer and the end of
/// the thread's stack, or in the same page as the former. libc puts thread-local storage right above the
/// stacks that it makes.
std::uint64_t known_to_be_there(std::uint64_t from) {
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    if (from < here) return 0;
    const Stack& stack = rdam_thread.stack;
    const auto storage = reinterpret_cast<std::uint64_t>(&rdam_thread);
    std::uint64_t end = (here | (sys::kPage - 1)) + 1;
    if (here >= stack.low && here < stack.high) {
        const bool above = storage >= stack.high && storage - stack.high < sys::kPage;
        end = above ? storage : stack.high;
    }
    return from < end ? end - from : 0;
}

/// One page, or less. Waiting for a word to change that is not what it is returns at once, and says whether
/// it is there.
bool is_there(std::uint64_t address) {
    const long result = sys::futex_wait(reinterpret_cast<const void*>(address & ~std::uint64_t{3}), 0, 0);
    return result != -EFAULT && result != -EPERM;
}

/// Where a filter may forbid the system call that reads memory: page by page.
std::uint32_t read_pages(char* to, std::uint64_t from, std::uint32_t size) {
    std::uint32_t done = 0;
    while (done < size && is_there(from + done)) {
        const std::uint64_t rest = sys::kPage - ((from + done) & (sys::kPage - 1));
        const std::uint32_t piece = rest < size - done ? static_cast<std::uint32_t>(rest) : size - done;
        copy_bytes(to + done, reinterpret_cast<const void*>(from + done), piece);
        done += piece;
    }
    return done;
}

}  // namespace

std::uint32_t read_memory(void* to, std::uint64_t from, std::uint32_t size) {
    // What a program has in a register may be any number; the upper half is the kernel's.
    constexpr std::uint64_t kKernel = std::uint64_t{1} << 63;
    if (from >= kKernel || size >= kKernel - from) return 0;
    const std::uint64_t there = known_to_be_there(from);
    if (there >= size || is_filtered()) {
        const std::uint32_t copied = there < size ? static_cast<std::uint32_t>(there) : size;
        copy_bytes(to, reinterpret_cast<const void*>(from), copied);
        return copied;
    }
    if (globals.filtered_start) return read_pages(static_cast<char*>(to), from, size);
    iovec remote[shm::kMaxStackCopy / sys::kPage + 1];
    std::size_t pieces = 0;
    // The kernel copies whole pieces, or none of one: a piece ends with its page.
    for (std::uint64_t at = from; at < from + size;) {
        std::uint64_t next = (at | (sys::kPage - 1)) + 1;
        if (next > from + size) next = from + size;
        remote[pieces++] = {reinterpret_cast<void*>(at), next - at};
        at = next;
    }
    const iovec local{to, size};
    const long copied = sys::call(SYS_process_vm_readv, sys::getpid(), sys::word(&local), 1,
                                  sys::word(remote), static_cast<long>(pieces), 0);
    return copied < 0 ? 0 : static_cast<std::uint32_t>(copied);
}

Line& Line::operator<<(std::string_view text) {
    for (const char c : text)
        if (size_ < sizeof buffer_ - 1) buffer_[size_++] = c;
    return *this;
}

Line& Line::quote(std::string_view text) {
    for (const char c : text)
        *this << (c >= ' ' && c <= '~' ? std::string_view{&c, 1} : std::string_view{"?"});
    return *this;
}

void say(const char* text, std::size_t size) {
    if (globals.settings.has_stderr && size > 0) sys::write(2, text, size);
}

void say_lines(const char* text, std::size_t size) {
    constexpr unsigned char kDelete = 0x7f;
    for (std::size_t i = 0; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte < ' ' && byte != '\n') || byte == kDelete) return;
    }
    say(text, size);
}

void* map_private(std::size_t size) {
    if (is_filtered()) return take_reserved(size);
    const long address =
        sys::mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return sys::failed(address) ? nullptr : reinterpret_cast<void*>(address);
}

void unmap_private(void* memory, std::size_t size) {
    if (is_filtered() || is_reserved(memory))
        keep_reserved(memory, size);
    else
        sys::call(SYS_munmap, sys::word(memory), static_cast<long>(size));
}

std::uint32_t own_tid() {
    std::uint32_t& tid = rdam_thread.tid;
    if (!is_filtered()) return tid = sys::gettid();
    // In a child of a raw clone libc has the number of the thread that made it.
    if (tid == 0 && globals.tid_offset != 0)
        asm("movl %%fs:(%1), %0" : "=r"(tid) : "r"(std::uint64_t{globals.tid_offset}));
    return tid;
}

void find_tid_offset() {
    // glibc's struct pthread: the same place in every release since 2.4.
    constexpr std::uint64_t kOffset = 0x2d0;
    std::uint32_t tid = 0;
    asm("movl %%fs:(%1), %0" : "=r"(tid) : "r"(kOffset));
    if (tid == sys::gettid()) globals.tid_offset = kOffset;
}

void* find_next(const char* name) {
    return dlsym(RTLD_NEXT, name);
}

void put_number(char (&text)[21], std::uint64_t number) {
    std::size_t count = 1;
    for (std::uint64_t rest = number; rest >= 10; rest /= 10)
        ++count;
    text[count] = '\0';
    do {
        text[--count] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (count > 0);
}

Line& Line::operator<<(std::uint64_t number) {
    char digits[21];
    put_number(digits, number);
    return *this << std::string_view{digits};
}

void Line::print() {
    buffer_[size_++] = '\n';
    say(buffer_, size_);
}

std::string_view unrecorded_fate() {
    return globals.settings.strict != 0 ? "; the program is not run"
                                        : "; the program continues without being recorded";
}

Variable environment_variable(const char* const* environment, std::string_view name) {
    for (const char* const* entry = environment; *entry != nullptr; ++entry) {
        const std::string_view text{*entry, text_size(*entry)};
        if (text.size() > name.size() && text[name.size()] == '=' && text.starts_with(name))
            return {{text.data() + name.size() + 1, text.size() - name.size() - 1}, true};
    }
    return {};
}

namespace {

constexpr std::size_t kReserve = 16 << 20;

/// At the start of memory that has been given back.
struct Kept {
    Kept* next;
    std::size_t size;
};

constinit std::uint64_t begin = 0;
constinit std::size_t used = 0;
constinit Kept* kept = nullptr;
constinit std::atomic<std::uint32_t> lock;

/// A handler may have interrupted the thread that has it: nobody waits for long.
class Lock {
  public:
    Lock() {
        constexpr int kTries = 1000;
        for (int i = 0; i < kTries && !has_; ++i)
            has_ = lock.exchange(1) == 0;
    }
    ~Lock() {
        if (has_) lock.store(0);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    bool has() const { return has_; }

  private:
    bool has_ = false;
};

/// Takes a kept piece of at least `size` bytes and about twice as many at most.
void* take_kept(std::size_t size) {
    for (Kept** at = &kept; *at != nullptr; at = &(*at)->next) {
        Kept* const found = *at;
        if (found->size < size || found->size / 2 > size) continue;
        *at = found->next;
        zero_bytes(found, size);
        return found;
    }
    return nullptr;
}

}  // namespace

void reserve_memory() {
    if (begin != 0) return;
    // Not accessible at first: a program that locks what it maps (mlockall) would be given all of it.
    const long memory = sys::mmap(0, kReserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(memory)) return;
    sys::call(SYS_munlock, memory, kReserve);
    if (sys::call(SYS_mprotect, memory, kReserve, PROT_READ | PROT_WRITE) == 0)
        begin = static_cast<std::uint64_t>(memory);
}

void* take_reserved(std::size_t size) {
    const Lock own;
    if (!own.has()) return nullptr;
    if (void* const again = take_kept(size); again != nullptr) return again;
    const std::size_t whole = (size + sys::kPage - 1) & ~(sys::kPage - 1);
    if (begin == 0 || kReserve - used < whole) return nullptr;
    used += whole;
    return reinterpret_cast<void*>(begin + used - whole);
}

void keep_reserved(void* memory, std::size_t size) {
    const Lock own;
    if (!own.has()) return;
    auto* const block = static_cast<Kept*>(memory);
    *block = {.next = kept, .size = size};
    kept = block;
}

bool is_reserved(const void* memory) {
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    return begin != 0 && address >= begin && address < begin + kReserve;
}

}  // namespace rdam::probe
