#include "tools/agent/chunks/pack_finisher.h"

#include <libunwind.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/agent/memory/image.h"
#include "tools/agent/memory/regions.h"
#include "tools/agent/memory/shared_facts.h"

namespace rdam::agent {
namespace {

constexpr std::uint16_t kNoFunction = 0xffff;
/// A thread's call stacks whose enter event has not come yet. Further ones belong to abandoned calls.
constexpr std::size_t kMaxAwaited = 1024;

template <class T>
T load(std::span<const std::uint8_t> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <class T>
void store(std::span<std::uint8_t> bytes, std::size_t at, const T& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// Where a record may begin, from the start of its chunk, or the last one may end.
bool is_place(std::uint32_t offset) {
    return offset % sizeof(std::uint64_t) == 0 && offset >= shm::kChunkHeader && offset <= shm::kChunkSize;
}

/// Replaces a region whose description is damaged; its events cannot be decoded if it has values.
shm::Region unknown_region(std::uint32_t number) {
    shm::Region region{};
    fmt::format_to_n(region.name, sizeof region.name - 1, "region {}", number + 1);
    return region;
}

}  // namespace

PackFinisher::PackFinisher(const ProcessDescription& process, shm::Control& control, std::uint32_t step,
                           trace::TraceInfo& info)
    : numbers_of_process_(process.numbers),
      control_(control),
      info_(info),
      unwinder_(process),
      packer_(std::make_unique<pack::Packer>()) {
    packer_->prepare(step);
    read_rules();
}

void PackFinisher::read_rules() {
    rules_ = {};
    for (std::uint32_t number = 0; number < numbers_of_process_.end(); ++number) {
        const std::uint32_t index = index_of(number);
        const bool known = index < info_.functions.size();
        rules_.enter_words.push_back(known ? info_.functions[index].enter_words : kNoFunction);
        rules_.leave_words.push_back(known ? info_.functions[index].leave_words : kNoFunction);
    }
    if (regions_.empty()) return;
    // Numbers in between stand for nothing.
    rules_.enter_words.resize(shm::kFirstRegion, kNoFunction);
    rules_.leave_words.resize(shm::kFirstRegion, kNoFunction);
    for (const std::uint32_t index : regions_) {
        rules_.enter_words.push_back(info_.functions[index].enter_words);
        rules_.leave_words.push_back(0);
    }
}

void PackFinisher::note_regions() {
    const auto stored = control_.region_count.load();
    if (stored.intact && stored.value == regions_.size()) return;
    const std::size_t before = regions_.size();
    // If the count is damaged, the regions themselves show how many there are.
    const std::uint32_t count = stored.intact ? std::min(stored.value, shm::kMaxRegions) : shm::kMaxRegions;
    while (regions_.size() < count) {
        const auto number = static_cast<std::uint32_t>(regions_.size());
        const auto region = look_at_region(control_, number);
        if (!region && !stored.intact) break;
        if (!region) ++damaged_;
        regions_.push_back(static_cast<std::uint32_t>(info_.functions.size()));
        info_.functions.push_back(describe_region(region ? *region : unknown_region(number)));
    }
    if (regions_.size() != before) read_rules();
}

/// In info_.functions; FunctionNumbers::kNone: nothing has the number.
std::uint32_t PackFinisher::index_of(std::uint32_t number) const {
    if (number < shm::kFirstRegion) return numbers_of_process_.function(number);
    const std::uint32_t region = number - shm::kFirstRegion;
    return region < regions_.size() ? regions_[region] : FunctionNumbers::kNone;
}

void PackFinisher::add_objects(const std::vector<ProcessObject>& added) {
    read_rules();
    for (const ProcessObject& object : added)
        unwinder_.add(object);
}

PackFinisher::Packed PackFinisher::last_packed(std::uint32_t thread) const {
    const auto found = threads_.find(thread);
    return found != threads_.end() ? found->second.packed : Packed{};
}

bool PackFinisher::note_number(std::uint32_t thread, std::uint32_t number) {
    std::uint32_t& last = numbers_[thread];
    if (number <= last) {
        ++damaged_;
        return false;
    }
    if (number != last + 1) {
        ++damaged_;
        threads_[thread].gap = true;
    }
    last = number;
    return true;
}

void PackFinisher::note_end(std::uint32_t thread, std::uint32_t number) {
    if (numbers_[thread] != number) ++damaged_;
}

std::optional<shm::PackHeader> PackFinisher::next_header(std::span<const std::uint8_t> packed) {
    if (packed.size() < sizeof(shm::PackHeader)) return {};
    const auto header = load<shm::PackHeader>(packed, 0);
    if (header.size < sizeof header || header.size > packed.size() || header.size % 8 != 0 ||
        shm::check_of_pack(packed.data(), header.size) != header.check)
        return {};
    return header;
}

std::size_t PackFinisher::add_packed(std::uint32_t thread, std::span<const std::uint8_t> packed,
                                     trace::Packs& packs) {
    Thread& data = threads_[thread];
    const std::size_t all = packed.size();
    while (!packed.empty()) {
        const auto header = next_header(packed);
        if (!header) break;
        // A gap is before the first of a chunk's events.
        if (packs.events > 0 && header->number > numbers_[thread] + 1) return all - packed.size();
        if (note_number(thread, header->number)) {
            packs.gap = packs.gap || std::exchange(data.gap, false);
            const auto content = packed.subspan(sizeof *header, header->size - sizeof *header);
            bool good = false;
            if (header->kind == shm::PackKind::stack) good = add_stack(data, content);
            if (header->kind == shm::PackKind::pack && is_place(header->end))
                good = add_pack(data, content, packs);
            if (!good) break;
            if (header->kind == shm::PackKind::pack) data.packed = {header->sequence, header->end};
        }
        packed = packed.subspan(header->size);
    }
    if (packed.empty()) return all;
    ++damaged_;
    data.gap = true;
    return all;
}

bool PackFinisher::add_pack(Thread& thread, std::span<const std::uint8_t> bytes, trace::Packs& packs) {
    std::vector<std::uint8_t>& payload = packs.payload;
    const std::size_t before = payload.size();
    payload.insert(payload.end(), bytes.begin(), bytes.end());
    const auto copy = std::span(payload).subspan(before);
    const auto layout = trace::pack_layout(copy);
    if (!layout || layout->header.size != copy.size() || !finish_ops(copy, *layout, packs)) {
        payload.resize(before);
        return false;
    }
    finish_stacks(thread, copy, *layout);
    packs.count(layout->header);
    return true;
}

/// Gives the ops the functions' numbers in the trace; false: one is not possible.
bool PackFinisher::finish_ops(std::span<std::uint8_t> bytes, const trace::PackLayout& layout,
                              trace::Packs& packs) {
    for (std::uint32_t i = 0; i < layout.header.ops; ++i) {
        const std::size_t at = layout.ops + i * sizeof(pack::Op);
        auto op = load<pack::Op>(bytes, at);
        if (op.kind >= pack::Kind::count) return false;
        if (op.kind == pack::Kind::pause) continue;
        if (op.kind == pack::Kind::stack_switch) {
            packs.switches = true;
            continue;
        }
        if (op.kind == pack::Kind::unwound_leave && op.function == pack::kInnermost) {
            packs.innermost = true;
            continue;
        }
        op.function = index_of(op.function);
        if (op.function >= info_.functions.size()) return false;
        const trace::FunctionInfo& function = info_.functions[op.function];
        const bool enters = op.kind <= pack::Kind::tail_enter;
        if (op.words != (enters                         ? function.enter_words
                         : op.kind == pack::Kind::leave ? function.leave_words
                                                        : 0))
            return false;
        any_calls_ = any_calls_ || enters;
        store(bytes, at, op);
    }
    return true;
}

/// Call stacks get the numbers that they have in the trace.
void PackFinisher::finish_stacks(Thread& thread, std::span<std::uint8_t> bytes,
                                 const trace::PackLayout& layout) {
    const auto column = static_cast<std::size_t>(pack::Column::stacks);
    for (std::size_t at = 0; at + sizeof(pack::Mark) <= layout.header.bytes[column];
         at += sizeof(pack::Mark)) {
        auto mark = load<pack::Mark>(bytes, layout.columns[column] + at);
        const auto found = thread.stacks.find(mark.value);
        mark.value = found != thread.stacks.end() ? found->second : 0;
        if (found != thread.stacks.end()) thread.stacks.erase(found);
        store(bytes, layout.columns[column] + at, mark);
    }
}

bool PackFinisher::add_stack(Thread& thread, std::span<const std::uint8_t> bytes) {
    if (bytes.size() < sizeof(shm::StackCopy)) return false;
    const auto copy = load<shm::StackCopy>(bytes, 0);
    bytes = bytes.subspan(sizeof copy);
    const std::uint32_t index = index_of(copy.function);
    if (index >= info_.functions.size() || copy.stack_bytes > bytes.size()) return false;
    const trace::FunctionInfo& function = info_.functions[index];
    if (function.object >= info_.objects.size()) return false;
    const std::uint64_t entry = info_.objects[function.object].base + function.address;
    const UnwoundStack stack = unwinder_.unwind(entry, copy, bytes.first(copy.stack_bytes));
    std::vector<std::uint64_t> key{index, copy.caller};
    key.insert(key.end(), stack.frames.begin(), stack.frames.end());
    const auto [known, added] =
        stacks_.try_emplace(std::move(key), static_cast<std::uint32_t>(info_.stacks.size()) + 1);
    if (added) info_.stacks.push_back({index, copy.caller, stack.frames, stack.truncated});
    if (thread.stacks.size() >= kMaxAwaited) thread.stacks.clear();
    thread.stacks[copy.number] = known->second;
    return true;
}

void PackFinisher::add_record(std::uint32_t thread, std::span<const std::uint64_t> record,
                              trace::Packs& packs) {
    pack::PendingStacks& pending = threads_[thread].pending;
    const std::uint64_t* at = record.data();
    const pack::Stop stop = packer_->run(at, at + record.size(), pending);
    if (stop == pack::Stop::unwritten) ++damaged_;
    if (stop != pack::Stop::full) return;
    flush(thread, packs);
    if (packer_->run(at, record.data() + record.size(), pending) != pack::Stop::end) ++damaged_;
}

void PackFinisher::flush(std::uint32_t thread, trace::Packs& packs) {
    if (packer_->events() == 0) return packer_->clear();
    packer_->for_each_entered([this](std::uint32_t function, std::uint32_t calls) {
        if (function < shm::kMaxFunctions)
            control_.calls[function].fetch_add(calls, std::memory_order_relaxed);
    });
    std::vector<std::uint8_t> bytes(packer_->size());
    packer_->write(bytes.data());
    packer_->clear();
    if (!add_pack(threads_[thread], bytes, packs)) ++damaged_;
}

}  // namespace rdam::agent

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
