// A program that is recorded and writes into the recorder's memory what its agent would believe if it trusted
// a sum that anybody can put right:
//
//   attacks KIND
//
// KIND: `index` and `far` are thread indices in the chunks' headers, 2^32 − 1 and 2^21; `thread` the former
// where the thread itself is described; `stack` the sizes in a call stack's copy.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "libprobe/format/events.h"
#include "libprobe/format/shared.h"

namespace {

using namespace rdam;

/// A second mapping of some of the shared memory, to read and write.
struct Alias {
    std::uint8_t* memory = nullptr;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;

    template <class T>
    T* at(std::uint64_t place) const {
        const bool inside = place >= offset && place + sizeof(T) <= offset + size;
        return inside ? reinterpret_cast<T*>(memory + (place - offset)) : nullptr;
    }
};

std::vector<Alias> open_aliases() {
    std::vector<std::string> lines;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.ends_with("/memfd:rdam (deleted)")) lines.push_back(line);
    std::vector<Alias> aliases;
    for (const std::string& line : lines) {
        std::uint64_t begin = 0, end = 0, offset = 0;
        char rights[8] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx", &begin, &end, rights, &offset) != 4) continue;
        if (rights[0] != 'r') continue;
        void* memory = mremap(reinterpret_cast<void*>(begin), 0, end - begin, MREMAP_MAYMOVE);
        if (memory == MAP_FAILED || mprotect(memory, end - begin, PROT_READ | PROT_WRITE) != 0) continue;
        aliases.push_back({static_cast<std::uint8_t*>(memory), end - begin, offset});
    }
    return aliases;
}

bool rename_owner(shm::ChunkHeader& header, std::uint32_t index) {
    if (header.owner_check != shm::check_of(&header.owner, sizeof header.owner, 0)) return false;
    header.owner.thread = index;
    header.owner_check = shm::check_of(&header.owner, sizeof header.owner, 0);
    return true;
}

bool lengthen_stacks(shm::ChunkHeader& header) {
    if (header.owner.kind != shm::ChunkKind::packed) return false;
    auto* const chunk = reinterpret_cast<std::uint8_t*>(&header);
    bool any = false;
    for (std::uint32_t at = shm::kChunkHeader; at + sizeof(shm::PackHeader) <= header.used.load().value;) {
        auto& record = *reinterpret_cast<shm::PackHeader*>(chunk + at);
        if (record.size < sizeof record) break;
        if (record.kind == shm::PackKind::stack) {
            auto& copy = *reinterpret_cast<shm::StackCopy*>(&record + 1);
            copy.stack_bytes = 0xfffffff8;
            record.check = shm::check_of_pack(&record, record.size);
            any = true;
        }
        at += record.size;
    }
    return any;
}

bool rename_threads(shm::Control& control) {
    bool any = false;
    for (shm::ThreadSlot& slot : control.threads) {
        if (slot.begin.index != 0 || slot.begin.tid == 0) continue;
        slot.begin.index = 0xffffffff;
        slot.begin_check = shm::check_of(&slot.begin, sizeof slot.begin, 0);
        any = true;
    }
    return any;
}

bool attack(const Alias& alias, std::string_view kind) {
    if (kind == "thread") {
        auto* const control = alias.at<shm::Control>(0);
        return control != nullptr && rename_threads(*control);
    }
    bool any = false;
    const std::uint64_t first = std::max<std::uint64_t>(alias.offset, shm::kChunksOffset);
    for (std::uint64_t place = first; place + shm::kChunkSize <= alias.offset + alias.size;
         place += shm::kChunkSize) {
        auto& header = *alias.at<shm::ChunkHeader>(place);
        const bool hit = kind == "stack"   ? lengthen_stacks(header)
                         : kind == "index" ? rename_owner(header, 0xffffffff)
                                           : rename_owner(header, 0x200000);
        any = any || hit;
    }
    return any;
}

}  // namespace

extern "C" __attribute__((noinline)) std::uint64_t counted(std::uint64_t i) {
    asm volatile("" : "+r"(i));
    return i;
}

int main(int count, char** arguments) {
    constexpr std::uint64_t kCalls = 20000;
    if (count != 2) return 2;
    for (std::uint64_t i = 0; i < kCalls; ++i)
        counted(i);
    bool any = false;
    for (const Alias& alias : open_aliases())
        any = attack(alias, arguments[1]) || any;
    return any ? 0 : 3;
}
