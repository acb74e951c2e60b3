// Where a lock, or another function that may have to wait, leaves its fast path.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/object/object_file.h"

namespace rdam {

/// A direct call, or a jump in place of one, to another function of the same object that may sleep: glibc's
/// pthread_mutex_lock calls __lll_lock_wait, libgomp's omp_set_lock jumps to gomp_mutex_lock_slow.
struct WaitSite {
    std::uint64_t address = 0;  ///< link-time, of an instruction of plan::kPatchSize bytes
    std::uint64_t target = 0;   ///< link-time, of the function that waits
    bool call = false;          ///< else a jump
};

/// The wait sites of `function` that it can get to behind an atomic instruction, which is how one tries to
/// get what may be taken: what it does for another kind of object (a robust mutex) is decided before. Code
/// alone tells them: slow paths are internal functions, and symbols are not installed everywhere. What waits
/// enters the kernel by futex(2), itself or in a function that it calls directly. What the object exports for
/// others is no slow path. In the order of addresses.
std::vector<WaitSite> wait_sites(const ObjectFile& file, const CodeRange& function);

/// Whether the function at `address` reads what its first argument points to before it does anything else: a
/// word that is waited for, as glibc's __lll_lock_wait does.
bool reads_first_argument(const ObjectFile& file, std::uint64_t address);

/// Whether the function at `address` reads a word `offset` bytes behind where its first argument points to, before it branches or
/// puts anything else into that register: its first argument is the address of an object with a member there.
bool reads_member(const ObjectFile& file, std::uint64_t address, std::int64_t offset);

/// Where the function at `address` looks before all else whether anybody waits for the object that is its first argument, as
/// glibc's pthread_cond_signal and pthread_cond_broadcast do (nptl/pthread_cond_signal.c: __wrefs >> 3). Nothing: it does not,
/// has changed something before, or does more than return if nobody waits.
std::optional<plan::Waiters> waiters_seen(const ObjectFile& file, std::uint64_t address);

/// Whether `function`, which the site is in, may come back to it: what it waits for may not have happened yet.
bool is_in_loop(const ObjectFile& file, const CodeRange& function, const WaitSite& site);

/// Likewise; if `function` has none, those of an internal function that it jumps to. Where pthread_mutex_unlock leaves its
/// fast path to wake a thread that waits, behind the atomic instruction that gives back what was taken: it only jumps to
/// the function that does this, which pthread_cond_wait calls as well. So does pthread_join to what all joins have in
/// common.
std::vector<WaitSite> wait_sites_behind_jump(const ObjectFile& file, const CodeRange& function);

/// The jump with which `function`, or the internal function that wait_sites_behind_jump() looks at, leaves for objects of
/// other kinds before it has tried anything: pthread_mutex_lock and pthread_mutex_unlock do so for robust, priority-inheriting
/// and priority-protecting mutexes. What it leads to enters the kernel by futex(2) itself. Nothing: there is none, or there
/// are several.
std::optional<WaitSite> way_of_other_kinds(const ObjectFile& file, const CodeRange& function);

}  // namespace rdam
