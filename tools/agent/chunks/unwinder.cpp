#include "tools/agent/chunks/unwinder.h"

#include <libunwind.h>

#include <algorithm>
#include <cstring>

#include "tools/agent/memory/image.h"

// Exported by libunwind, declared by none of its headers: the search in a binary table of unwind entries that
// lies in another process's memory (perf uses it the same way).
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t* info,
                                                  unw_proc_info_t* procedure, int need_unwind_info,
                                                  void* argument);

namespace rdam::agent {
namespace {

constexpr std::size_t kMaxFrames = 256;
/// The recorder's own frames included: those of a stack that makes no sense may go round in circles.
constexpr std::size_t kMaxSteps = 4 * kMaxFrames;

}  // namespace

struct UnwindState {
    std::vector<Image> images;
    std::size_t recorder = SIZE_MAX;  ///< index of librdam.so's image; SIZE_MAX: none
    std::size_t first_later = 0;      ///< image of an object that was loaded later
    unw_addr_space_t space = nullptr;

    // The stack being unwound.
    std::uint64_t start_ip = 0;
    shm::EntryRegisters start;
    const shm::StackCopy* copy = nullptr;
    std::span<const std::uint8_t> stack;
    bool ran_out = false;
    std::size_t last_found = 0;  ///< by find()

    /// libunwind reads unwind tables byte by byte.
    const Image* find(std::uint64_t address) {
        if (last_found < images.size() && images[last_found].contains(address)) return &images[last_found];
        for (std::size_t i = images.size(); i-- > 0;)
            if (images[i].contains(address)) return &images[last_found = i];
        return nullptr;
    }

    bool read(std::uint64_t address, std::uint64_t& value) {
        const auto within = [&](std::uint64_t begin, std::span<const std::uint8_t> bytes) {
            if (address < begin || bytes.size() < 8 || address - begin > bytes.size() - 8) return false;
            std::memcpy(&value, bytes.data() + (address - begin), 8);
            return true;
        };
        if (within(copy->registers.rsp, stack)) return true;
        const Image* image = find(address);
        if (image != nullptr) {
            // The last bytes of a segment: libunwind reads whole words even where a byte is meant.
            value = 0;
            for (std::size_t size = 8; size > 0; --size)
                if (image->read(address, &value, size)) return true;
        }
        const std::uint64_t stack_end = copy->registers.rsp + stack.size();
        if (address >= stack_end && address < stack_end + (std::uint64_t{64} << 20)) ran_out = true;
        return false;
    }

    std::uint64_t start_register(unw_regnum_t number) const {
        const shm::EntryRegisters& registers = start;
        switch (number) {
            case UNW_X86_64_RIP:
                return start_ip;
            case UNW_X86_64_RSP:
                return registers.rsp;
            case UNW_X86_64_RBP:
                return registers.rbp;
            case UNW_X86_64_RBX:
                return registers.rbx;
            case UNW_X86_64_R12:
                return registers.r12;
            case UNW_X86_64_R13:
                return registers.r13;
            case UNW_X86_64_R14:
                return registers.r14;
            case UNW_X86_64_R15:
                return registers.r15;
            default:
                return 0;
        }
    }

    bool is_recorder(std::uint64_t ip) const {
        return recorder < images.size() && images[recorder].contains(ip);
    }

    void walk(std::vector<std::uint64_t>& frames);
};

void UnwindState::walk(std::vector<std::uint64_t>& frames) {
    unw_cursor_t cursor;
    if (space == nullptr || unw_init_remote(&cursor, space, this) != 0) return;
    for (std::size_t steps = 0; steps < kMaxSteps && frames.size() < kMaxFrames && unw_step(&cursor) > 0;
         ++steps) {
        unw_word_t ip = 0;
        if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0) return;
        if (!is_recorder(ip)) frames.push_back(ip);
    }
}

namespace {

UnwindState& state_of(void* argument) {
    return *static_cast<UnwindState*>(argument);
}

int find_procedure(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* procedure, int need,
                   void* argument) {
    const Image* image = state_of(argument).find(ip);
    unw_dyn_info_t info;
    if (image == nullptr || !image->describe_table(info)) return -UNW_ENOINFO;
    return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &info, procedure, need, argument);
}

int access_memory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
    std::uint64_t word = 0;
    if (write != 0 || !state_of(argument).read(address, word)) return -UNW_EINVAL;
    *value = word;
    return 0;
}

int access_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
    if (write != 0) return -UNW_EREADONLYREG;
    *value = state_of(argument).start_register(number);
    return 0;
}

unw_accessors_t make_accessors() {
    unw_accessors_t accessors{};
    accessors.find_proc_info = find_procedure;
    accessors.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
    accessors.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; };
    accessors.access_mem = access_memory;
    accessors.access_reg = access_register;
    accessors.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
        return -UNW_EINVAL;
    };
    accessors.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
    accessors.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) {
        return -UNW_ENOINFO;
    };
    return accessors;
}

}  // namespace

Unwinder::Unwinder(const ProcessDescription& process) : state_(std::make_unique<UnwindState>()) {
    for (std::size_t i = 0; i < process.objects.size(); ++i) {
        state_->images.emplace_back(process.objects[i]);
        if (process.objects[i].path == process.own_path) state_->recorder = i;
    }
    state_->first_later = state_->images.size();
    static unw_accessors_t accessors = make_accessors();
    state_->space = unw_create_addr_space(&accessors, 0);
    if (state_->space != nullptr) unw_set_caching_policy(state_->space, UNW_CACHE_GLOBAL);
}

void Unwinder::add(const ProcessObject& object) {
    std::vector<Image>& images = state_->images;
    const auto is_hidden = [&](const Image& image) { return image.lies_in(object.base, object.end); };
    images.erase(std::remove_if(images.begin() + static_cast<std::ptrdiff_t>(state_->first_later),
                                images.end(), is_hidden),
                 images.end());
    images.emplace_back(object);
    if (state_->space != nullptr) unw_flush_cache(state_->space, 0, 0);
}

Unwinder::~Unwinder() {
    if (state_->space != nullptr) unw_destroy_addr_space(state_->space);
}

UnwoundStack Unwinder::unwind(std::uint64_t entry, const shm::StackCopy& copy,
                              std::span<const std::uint8_t> stack) {
    UnwindState& state = *state_;
    UnwoundStack result;
    state.copy = &copy;
    state.stack = stack;
    state.ran_out = false;
    state.start = copy.registers;
    state.start_ip = entry;
    state.walk(result.frames);
    if (result.frames.empty()) result.frames.push_back(copy.caller);
    result.truncated = state.ran_out || result.frames.size() == kMaxFrames;
    return result;
}

}  // namespace rdam::agent
