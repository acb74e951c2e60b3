#include "libprobe/start/late_objects.h"

#include <link.h>

#include "libprobe/agent/agent_link.h"
#include "libprobe/agent/inheritance.h"
#include "libprobe/agent/request.h"
#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/settled.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"
#include "libprobe/code/code_memory.h"
#include "libprobe/code/patch.h"
#include "libprobe/event/call_sites.h"
#include "libprobe/event/slow.h"

// Another C library than glibc has none, and the recorder does not start there (init.cpp).
#pragma weak _r_debug

extern "C" {
void rdam_link_map_hook();
void rdam_link_map_changed();
}

namespace rdam::probe {
namespace {

constexpr std::uint32_t kMaxNew = 1024;  ///< in one change

/// glibc's `struct r_debug_extended`: one for each namespace, from r_version 2 on.
struct Namespace {
    r_debug debug;
    Namespace* next;
};

const Namespace* namespaces() {
    return reinterpret_cast<const Namespace*>(&_r_debug);
}

const Namespace* next_of(const Namespace* one) {
    return one->debug.r_version >= 2 ? one->next : nullptr;
}

bool is_consistent() {
    for (const Namespace* one = namespaces(); one != nullptr; one = next_of(one))
        if (one->debug.r_state != r_debug::RT_CONSISTENT) return false;
    return true;
}

bool still_there(std::uint64_t base) {
    for (const Namespace* one = namespaces(); one != nullptr; one = next_of(one))
        for (const link_map* map = one->debug.r_map; map != nullptr; map = map->l_next)
            if (map->l_addr == base) return true;
    return false;
}

/// The object's own headers in memory; false for what does not begin with them.
bool find_headers(const link_map& map, dl_phdr_info& info) {
    ElfW(Ehdr) header;
    if (read_memory(&header, map.l_addr, sizeof header) != sizeof header) return false;
    const auto* magic = reinterpret_cast<const char*>(header.e_ident);
    if (magic[0] != ELFMAG0 || magic[1] != ELFMAG1 || magic[2] != ELFMAG2 || magic[3] != ELFMAG3)
        return false;
    info.dlpi_addr = map.l_addr;
    info.dlpi_name = map.l_name;
    info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(map.l_addr + header.e_phoff);
    info.dlpi_phnum = header.e_phnum;
    return true;
}

/// What one change of the list is made of.
struct Change {
    Arena arena;
    shm::RequestedObject added[kMaxNew];
    std::uint32_t added_count;
    std::uint64_t gone[kMaxNew];
    std::uint32_t gone_count;
};
constinit Change change = {};

void note_gone(const shm::RequestedObject& object) {
    forget_call_sites(object.base, object.end);
    forget_moved_code(object.base, object.end);
    if (change.gone_count < kMaxNew) change.gone[change.gone_count++] = object.base;
    for (std::uint32_t i = 0; i < globals.functions; ++i)
        if (globals.addresses[i] >= object.base && globals.addresses[i] < object.end)
            globals.addresses[i] = 0;
}

void note_new() {
    for (const Namespace* one = namespaces(); one != nullptr; one = next_of(one)) {
        for (const link_map* map = one->debug.r_map; map != nullptr; map = map->l_next) {
            dl_phdr_info info{};
            if (change.added_count == kMaxNew || is_loaded(map->l_addr) || !find_headers(*map, info))
                continue;
            shm::RequestedObject& object = change.added[change.added_count++];
            object = describe_object(change.arena, info);
            note_loaded(change.arena, object);
        }
    }
}

void ask_and_apply() {
    const std::uint32_t serial = ++globals.late_asked;
    shm::Request request;
    request.objects = change.arena.add(change.added, change.added_count * sizeof change.added[0]);
    request.gone = change.arena.add(change.gone, change.gone_count * sizeof change.gone[0]);
    publish_request(change.arena, request, serial);
    if (!ask_for_late_plan(serial)) return;
    const PlanCopy plan(serial);
    const OpenTable table;
    if (plan.whole() && table.writable()) {
        const PatchResult result = apply_plan(plan.area(), plan.reply());
        if (!result.none_took()) plan.print_wrapped();
        report(result);
        return plan.keep_knowledge();
    }
    Line line;
    (line << "libraries that have just been loaded are not recorded: their plan was overwritten").print();
}

/// Whether there is an object that has not been seen.
bool is_list_changed() {
    for (const Namespace* one = namespaces(); one != nullptr; one = next_of(one))
        for (const link_map* map = one->debug.r_map; map != nullptr; map = map->l_next)
            if (map->l_addr != 0 && !is_loaded(map->l_addr)) return true;
    return false;
}

/// Four bytes or more that do nothing, as assemblers put them between functions.
bool is_long_nop(const std::uint8_t* code) {
    std::uint32_t at = 0;
    while (at < 3 && (code[at] == 0x66 || code[at] == 0x2e))
        ++at;
    return code[at] == 0x0f && code[at + 1] == 0x1f && code[at + 2] >= 0x40;
}

/// One that returns at once, with room for a jump before the next begins.
bool is_empty_function(const std::uint8_t* code) {
    constexpr std::uint8_t kMarked[5] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};  // endbr64; ret
    bool marked = true;
    for (std::uint32_t i = 0; i < sizeof kMarked; ++i)
        marked = marked && code[i] == kMarked[i];
    return marked || (code[0] == 0xc3 && is_long_nop(code + 1));
}

}  // namespace

void watch_libraries() {
    const auto entry = static_cast<std::uint64_t>(_r_debug.r_brk);
    const auto* code = reinterpret_cast<const std::uint8_t*>(entry);
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(rdam_link_map_hook) - (entry + 5);
    const auto displacement = static_cast<std::int32_t>(distance);
    std::uint8_t jump[5] = {0xe9};
    copy_bytes(jump + 1, &displacement, sizeof displacement);
    if (entry != 0 && is_empty_function(code) &&
        static_cast<std::uint64_t>(std::int64_t{displacement}) == distance &&
        write_code(entry, jump, sizeof jump))
        return;
    Line line;
    (line << "libraries that are loaded later will not be recorded: this dynamic linker is unknown").print();
}

}  // namespace rdam::probe

/// Runs under the dynamic linker's lock, in the thread that called dlopen or dlclose.
void rdam_link_map_changed() {
    using namespace rdam::probe;
    if (globals.control == nullptr || !is_consistent() || in_shared_child(rdam_thread)) return;
    const rdam::sys::BlockSignals blocked;
    if (is_filtered()) {
        // Nobody can be asked, and no code can be changed.
        if (rdam_guard.active() && is_list_changed()) globals.control->filtered_changes.add(1);
        return;
    }
    // A fork child that has called nothing yet: its libraries are as much its own as those of its parent
    // were.
    if (!rdam_guard.active() && !start_in_fork_child()) return;
    if (!open_request_area(*globals.control, true)) return;
    change.arena = {reinterpret_cast<char*>(globals.control) + rdam::shm::kRequestOffset,
                    sizeof(rdam::shm::Request)};
    change.added_count = 0;
    change.gone_count = 0;
    note_unloaded(still_there, note_gone);
    note_new();
    if (change.added_count + change.gone_count > 0) ask_and_apply();
    open_request_area(*globals.control, false);
}
