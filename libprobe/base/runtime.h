// The few things that a C library would do, done here: libc may be wrapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdam::probe {

void copy_bytes(void* to, const void* from, std::size_t size);
void zero_bytes(void* to, std::size_t size);
std::size_t text_size(const char* text);

/// Copies `size` bytes from an address of this process that may not be there, or not all of it: the bytes
/// copied, up to the first page that is missing, or not known to be there where system calls are filtered.
/// At most 16 KiB. No system call for what is on the thread's own stack.
std::uint32_t read_memory(void* to, std::uint64_t from, std::uint32_t size);

/// Memory of this process alone, all of it there; nullptr: there is none. Under a filter, some that was
/// reserved (runtime.cpp).
void* map_private(std::size_t size);
/// Gives it back.
void unmap_private(void* memory, std::size_t size);

/// The number of the calling thread; 0: not known.
std::uint32_t own_tid();
/// Finds out how to know it under a filter. In the first thread, before there is one.
void find_tid_offset();

/// dlsym(RTLD_NEXT, name): before the program runs.
void* find_next(const char* name);

/// Writes the decimal digits of `number` and a \0.
void put_number(char (&text)[21], std::uint64_t number);

/// Writes to stderr, unless the program was started with it closed: the descriptor may be anything by now.
void say(const char* text, std::size_t size);

/// Writes text out of the shared memory to stderr: nothing of it if it has a control character.
void say_lines(const char* text, std::size_t size);

/// A line of text built on the stack; what does not fit is cut.
class Line {
  public:
    Line& operator<<(std::string_view text);
    Line& operator<<(std::uint64_t number);
    /// Text from outside, which a terminal may obey: what is not printable ASCII becomes `?`.
    Line& quote(std::string_view text);
    /// Writes "rdam: ", the line and \n to stderr in one write.
    void print();
    std::string_view text() const { return {buffer_, size_}; }

  private:
    char buffer_[1024] = {'r', 'd', 'a', 'm', ':', ' '};
    std::size_t size_ = 6;
};

/// What happens to a program that cannot be recorded, as the end of a line that says why.
std::string_view unrecorded_fate();

/// The value of an environment variable as it was when the program started, or empty and `found` false.
struct Variable {
    std::string_view value;
    bool found = false;
};
Variable environment_variable(const char* const* environment, std::string_view name);

// Private memory for threads under a system call filter (filter.h), mapped before they are.

/// Once for a process and its fork children. Pages that are not touched cost nothing.
void reserve_memory();

/// All zeros; nullptr: there is none left.
void* take_reserved(std::size_t size);

/// Memory of take_reserved(), or any that a thread under a filter can no longer unmap.
void keep_reserved(void* memory, std::size_t size);

/// Whether it is from the memory that was reserved.
bool is_reserved(const void* memory);

}  // namespace rdam::probe
