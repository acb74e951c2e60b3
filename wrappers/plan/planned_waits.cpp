// Plans how to wrap the ways into the waits of a function, and out of them.
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "wrappers/entry/frame_description.h"
#include "wrappers/entry/moved_frames.h"
#include "wrappers/entry/wait_sites.h"
#include "wrappers/plan/function_planner.h"

namespace rdam {
namespace {

bool is_of_glibc(const ObjectFile& file, const FunctionPlan& function,
                 std::initializer_list<std::string_view> names) {
    const bool glibc = file.soname() == "libc.so.6" || file.soname() == "libpthread.so.0";
    return glibc && std::ranges::find(names, function.linkage_name) != names.end();
}

/// Not the function for robust and other mutexes, which calls more than what waits.
bool is_mutex_lock(const ObjectFile& file, const FunctionPlan& function) {
    return is_of_glibc(file, function,
                       {"pthread_mutex_lock", "__pthread_mutex_lock", "___pthread_mutex_lock"});
}

bool is_join(const ObjectFile& file, const FunctionPlan& function) {
    return is_of_glibc(file, function,
                       {"pthread_join", "__pthread_join", "___pthread_join", "pthread_timedjoin_np",
                        "pthread_clockjoin_np", "__pthread_clockjoin_ex"});
}

/// What is behind the name of the ways of robust and priority-inheriting mutexes.
constexpr const char* kOtherKinds = " (robust or inheriting)";

Parameter mutex_parameter() {
    return {.name = "mutex", .kind = ValueKind::pointer, .word = 0, .type = "pthread_mutex_t*"};
}

/// What the mutex says of its owner when a wait for it begins.
void record_owner(FunctionPlan& wait) {
    wait.recording = {.integer_registers = 1, .owner = 1};
    wait.parameters = {mutex_parameter(),
                       {.name = plan::kOwnerName,
                        .kind = ValueKind::signed_integer,
                        .size = sizeof(std::int32_t),
                        .word = 1,
                        .type = "pid_t"}};
}

/// A join waits for as long as the word that the kernel clears as the thread ends is the thread's id
/// (nptl/pthread_join_common.c: the word and that id are the first arguments of what waits).
void record_joined(FunctionPlan& wait) {
    wait.recording = {.integer_registers = 2};
    wait.parameters = {{.name = "word", .kind = ValueKind::pointer, .word = 0, .type = "pid_t*"},
                       {.name = plan::kJoinedName,
                        .kind = ValueKind::signed_integer,
                        .size = sizeof(std::int32_t),
                        .word = 1,
                        .type = "pid_t"}};
}

/// Which word of the stack, behind what the call at `site` pushes, is the return address of the function that the site is in.
/// Nothing: the unwind tables do not say it, or it is too far away.
std::optional<std::uint16_t> return_word(const ObjectFile& file, const WaitSite& site) {
    constexpr std::int64_t kWord = 8;
    const StackRows rows{file};
    if (!site.call || !rows.exist()) return std::nullopt;
    const StackRow row = rows.at(site.address);
    if (!row.known || row.base != kDwarfRsp || row.offset % kWord != 0) return std::nullopt;
    const std::int64_t word = row.offset / kWord - 1;
    if (word < 0 || word >= plan::kMaxStackWords) return std::nullopt;
    return static_cast<std::uint16_t>(word);
}

std::optional<CodeRange> mutex_unlock_in(const ObjectFile& file) {
    for (const std::uint32_t index : file.named("pthread_mutex_unlock"))
        if (const auto extent = file.extent(file.symbols()[index].address)) return extent;
    return std::nullopt;
}

/// To wrap the call or jump at `site`, as a function that begins there.
FunctionPlan plan_site(const ObjectFile& file, const WaitSite& site) {
    constexpr std::uint8_t kJump = 0xe9;
    FunctionPlan plan;
    plan.address = site.address;
    plan.size = plan::kPatchSize;
    // It is on few calls' way, and nothing is known of what the flags mean there.
    plan.takes_flags = true;
    MovedPrologue& moved = plan.prologue;
    const auto original = file.code(site.address, plan::kPatchSize);
    moved.original.assign(original.begin(), original.end());
    moved.code = {kJump, 0, 0, 0, 0};
    moved.fixups = {
        {.code_offset = 1, .kind = plan::FixupKind::rel32, .target = static_cast<std::int64_t>(site.target)}};
    moved.call = site.call;
    moved.steps = {{.code = 0, .original = 0, .pushed = 0}};
    moved.executed = plan::kPatchSize;
    // The frame is that with which the function that it leads to begins.
    describe_frames(file, site.target, moved);
    return plan;
}

}  // namespace

std::vector<FunctionPlan> FunctionPlanner::plan_waits(const FunctionPlan& function) {
    const ObjectFile& file = *objects_.file(function.object);
    const auto reads = return_address_reads_.try_emplace(function.object, file).first;
    const auto fits = [&](const WaitSite& site) {
        const auto target = file.extent(site.target);
        return target && !reads->second.first_in(*target) && !unwinds_by_stack_pointer();
    };
    const auto name = [&](FunctionPlan& plan, const std::string& text, const std::string& linkage_name) {
        plan.name = text;
        plan.linkage_name = linkage_name;
        plan.source = function.source;
        plan.object = function.object;
        plan.wait_of = function.address;
    };
    std::vector<FunctionPlan> waits;
    const bool joins = is_join(file, function);
    const CodeRange body{function.address, function.address + function.size};
    for (const WaitSite& site : joins ? wait_sites_behind_jump(file, body) : wait_sites(file, body)) {
        if (site.address - function.address < function.prologue.original.size() || !fits(site)) continue;
        const auto around = file.frames().find(site.address);
        // Who has joined frees the thread's memory, which has a lock: that wait is no join.
        if (joins && (!around || !is_in_loop(file, {around->begin, around->end}, site))) continue;
        FunctionPlan wait = plan_site(file, site);
        // What all joins have in common is behind pthread_join, and before others.
        const bool behind = site.address > function.address;
        name(wait, function.name + " (waiting)",
             fmt::format("{}{}{:#x}", function.linkage_name, behind ? '+' : '-',
                         behind ? site.address - function.address : function.address - site.address));
        if (joins) record_joined(wait);
        // It gets the mutex's address, where glibc's mutex begins with the word that is waited for
        // (nptl/pthread_mutex_lock.c: __lll_lock_wait gets &mutex->__data.__lock).
        if (is_mutex_lock(file, function) && reads_first_argument(file, site.target)) record_owner(wait);
        waits.push_back(std::move(wait));
    }
    const auto unlock = mutex_unlock_in(file);
    if (!unlock ||
        std::ranges::none_of(waits, [](const FunctionPlan& wait) { return wait.recording.owner != 0; }))
        return waits;
    const auto add_wake = [&](const WaitSite& site, const std::string& text) -> FunctionPlan& {
        FunctionPlan& wake = waits.emplace_back(plan_site(file, site));
        name(wake, text, text);
        wake.wakes = true;
        wake.recording = {.integer_registers = 1};
        wake.parameters = {mutex_parameter()};
        // What a call leads to returns into the library: who gives the mutex back is one frame further.
        if (const auto word = return_word(file, site)) {
            wake.recording.stack_words = static_cast<std::uint8_t>(*word + 1);
            wake.parameters.push_back({.name = plan::kCallerName,
                                       .kind = ValueKind::pointer,
                                       .word = static_cast<std::uint16_t>(*word + 1),
                                       .type = "void*"});
        }
        return wake;
    };
    // Where pthread_mutex_unlock wakes who waits: it has given the mutex back, at the same address, right before.
    for (const WaitSite& site : wait_sites_behind_jump(file, *unlock))
        if (fits(site)) add_wake(site, "pthread_mutex_unlock (waking)");
    // Robust mutexes, and others that name their owner in the word that is waited for, are locked and unlocked by functions
    // that enter the kernel themselves, so that there is no way into their waits alone. Every call of these is recorded, as
    // far as the budget goes: a gate reads no flag that means anything where one function jumps to another.
    const auto lock_site = way_of_other_kinds(file, body), unlock_site = way_of_other_kinds(file, *unlock);
    const auto gets_mutex = [&](const WaitSite& site) {
        return fits(site) && reads_member(file, site.target, offsetof(pthread_mutex_t, __data.__kind));
    };
    if (!lock_site || !unlock_site || !gets_mutex(*lock_site) || !gets_mutex(*unlock_site) ||
        lock_site->address - function.address < function.prologue.original.size())
        return waits;
    FunctionPlan& lock = waits.emplace_back(plan_site(file, *lock_site));
    name(lock, function.name + kOtherKinds, function.linkage_name + kOtherKinds);
    record_owner(lock);
    add_wake(*unlock_site, std::string{"pthread_mutex_unlock"} + kOtherKinds);
    for (FunctionPlan& each : std::span{waits}.last(2)) {
        each.takes_flags = false;
        each.partner = true;
    }
    return waits;
}

}  // namespace rdam
