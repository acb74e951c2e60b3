#include "libprobe/agent/request.h"

#include <elf.h>
#include <sys/mman.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

constexpr std::uint32_t kMaxObjects = 4096;

constinit Arena arena;
constinit shm::RequestedObject objects[kMaxObjects] = {};
/// The bytes that an object loaded later has for its path and for its build ID.
struct Room {
    std::uint32_t path;
    std::uint32_t build_id;
};
constinit Room rooms[kMaxObjects] = {};
std::uint32_t object_count = 0;
std::uint32_t initial_objects = 0;  ///< those that were there at the start stay to the end

shm::Text find_build_id(Arena& to, const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info.dlpi_phdr[i];
        if (header.p_type != PT_NOTE) continue;
        const char* at = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
        const char* end = at + header.p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* name = at + sizeof *note;
            const char* description = name + ((note->n_namesz + 3u) & ~3u);
            if (description + note->n_descsz > end) break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && name[0] == 'G' && name[1] == 'N' &&
                name[2] == 'U')
                return to.add(description, note->n_descsz);
            at = description + ((note->n_descsz + 3u) & ~3u);
        }
    }
    return {};
}

bool contains(const dl_phdr_info& info, const void* address, std::uint64_t& end) {
    bool found = false;
    end = info.dlpi_addr;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info.dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        const std::uint64_t from = info.dlpi_addr + header.p_vaddr;
        const std::uint64_t to = from + header.p_memsz;
        if (to > end) end = to;
        const auto at = reinterpret_cast<std::uint64_t>(address);
        if (at >= from && at < to) found = true;
    }
    return found;
}

int add_object(dl_phdr_info* info, std::size_t, void* data) {
    auto& request = *static_cast<shm::Request*>(data);
    if (object_count == kMaxObjects) return 1;
    shm::RequestedObject& object = objects[object_count];
    object = describe_object(arena, *info);
    if (object_count == 0) object.path = request.executable;
    std::uint64_t end = 0;
    if (contains(*info, rdam_trampolines_begin, end)) request.own_path = object.path;
    ++object_count;
    return 0;
}

bool same_text(shm::Text mine, const Arena& other, shm::Text text) {
    if (mine.size != text.size) return false;
    for (std::uint32_t i = 0; i < mine.size; ++i)
        if (arena.base[mine.offset + i] != other.base[text.offset + i]) return false;
    return true;
}

/// An empty text with room for `wanted` bytes and some more: names that programs make up have similar
/// lengths. `room`: how much there is, 0 if the arena is full.
shm::Text reserve_text(std::uint32_t wanted, std::uint32_t& room) {
    const std::uint32_t begin = (arena.used + 7u) & ~7u;
    room = (wanted + 63u) & ~63u;
    if (std::uint64_t{begin} + room + 1 > shm::kRequestSize) {
        room = 0;
        return {};
    }
    arena.used = begin + room + 1;
    return {begin, 0};
}

/// There is none afterwards if it does not fit.
void put_text(shm::Text& place, std::uint32_t room, const Arena& other, shm::Text text) {
    place.size = text.size <= room ? text.size : 0;
    if (room == 0) return;
    copy_bytes(arena.base + place.offset, other.base + text.offset, place.size);
    arena.base[place.offset + place.size] = '\0';
}

/// A place for the object in the list; that of a vanished one that had the same file, or one as long, if
/// there is one.
shm::RequestedObject* place_for(const Arena& other, const shm::RequestedObject& object) {
    shm::RequestedObject* place = nullptr;
    for (std::uint32_t i = 0; i < object_count; ++i) {
        if (objects[i].end != 0) continue;
        if (same_text(objects[i].path, other, object.path) &&
            same_text(objects[i].build_id, other, object.build_id))
            return &objects[i];
        if (place == nullptr && object.path.size <= rooms[i].path &&
            object.build_id.size <= rooms[i].build_id)
            place = &objects[i];
    }
    if (place == nullptr) {
        if (object_count == kMaxObjects) return nullptr;
        place = &objects[object_count];
        Room& room = rooms[object_count++];
        place->path = reserve_text(object.path.size, room.path);
        place->build_id = reserve_text(object.build_id.size, room.build_id);
    }
    const Room& room = rooms[place - objects];
    put_text(place->path, room.path, other, object.path);
    put_text(place->build_id, room.build_id, other, object.build_id);
    return place;
}

/// The path with which the kernel started the program, known even without /proc. The auxiliary vector follows
/// the environment.
const char* started_as() {
    char** entry = globals.settings.environment;
    while (*entry != nullptr)
        ++entry;
    const auto* pair = reinterpret_cast<const ElfW(auxv_t)*>(entry + 1);
    for (; pair->a_type != AT_NULL; ++pair)
        if (pair->a_type == AT_EXECFN) return reinterpret_cast<const char*>(pair->a_un.a_val);
    return "";
}

shm::Text read_executable() {
    static char path[8192];
    const long size = sys::call(SYS_readlink, sys::word("/proc/self/exe"), sys::word(path), sizeof path - 1);
    if (size > 0) return arena.add(path, static_cast<std::size_t>(size));
    const char* started = started_as();
    std::size_t used = 0;
    if (started[0] != '/') {
        const long folder = sys::call(SYS_getcwd, sys::word(path), sizeof path / 2);
        if (folder <= 1) return {};
        used = static_cast<std::size_t>(folder);  // the \0 is counted, and becomes the slash
        path[used - 1] = '/';
    }
    const std::size_t length = text_size(started);
    if (length > sizeof path - used) return {};
    copy_bytes(path + used, started, length);
    return arena.add(path, used + length);
}

shm::Text join_arguments(int argc, char** argv) {
    shm::Text all{arena.used, 0};
    for (int i = 0; i < argc; ++i) {
        const std::size_t size = text_size(argv[i]) + 1;
        if (arena.used + size + 65536 > shm::kRequestSize)
            break;  // the objects matter more than a long command line
        copy_bytes(arena.base + arena.used, argv[i], size);
        arena.used += static_cast<std::uint32_t>(size);
        all.size += static_cast<std::uint32_t>(size);
    }
    return all;
}

}  // namespace

shm::Text Arena::add(const void* data, std::size_t size) {
    const std::size_t aligned = (used + 7) & ~std::size_t{7};
    if (aligned + size + 1 > shm::kRequestSize) return {};
    copy_bytes(base + aligned, data, size);
    base[aligned + size] = '\0';
    used = static_cast<std::uint32_t>(aligned + size + 1);
    return {static_cast<std::uint32_t>(aligned), static_cast<std::uint32_t>(size)};
}

shm::RequestedObject describe_object(Arena& to, const dl_phdr_info& info) {
    shm::RequestedObject object;
    contains(info, nullptr, object.end);
    object.base = info.dlpi_addr;
    object.build_id = find_build_id(to, info);
    object.path = to.add(info.dlpi_name, text_size(info.dlpi_name));
    return object;
}

bool is_loaded(std::uint64_t base) {
    for (std::uint32_t i = 0; i < object_count; ++i)
        if (objects[i].end != 0 && objects[i].base == base) return true;
    return false;
}

void note_loaded(const Arena& other, const shm::RequestedObject& object) {
    shm::RequestedObject* place = place_for(other, object);
    if (place == nullptr) return;
    place->base = object.base;
    place->end = object.end;
}

void note_unloaded(bool (*still_there)(std::uint64_t base), void (*gone)(const shm::RequestedObject&)) {
    for (std::uint32_t i = initial_objects; i < object_count; ++i) {
        if (objects[i].end == 0 || still_there(objects[i].base)) continue;
        gone(objects[i]);
        objects[i].end = 0;
    }
}

bool gather_request(int argc, char** argv) {
    const long address = sys::mmap(0, shm::kRequestSize, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sys::failed(address)) return false;
    arena.base = reinterpret_cast<char*>(address);
    arena.used = sizeof(shm::Request);
    shm::Request request;
    request.executable = read_executable();
    // The program may have one of its own that does not work before its constructors (ThreadSanitizer).
    using Iterate = int(int (*)(dl_phdr_info*, std::size_t, void*), void*);
    auto* iterate = reinterpret_cast<Iterate*>(find_next("dl_iterate_phdr"));
    if (iterate == nullptr) return false;
    iterate(add_object, &request);
    initial_objects = object_count;
    request.objects = arena.add(objects, object_count * sizeof objects[0]);
    request.command = join_arguments(argc, argv);
    copy_bytes(arena.base, &request, sizeof request);
    return request.objects.size != 0 && request.own_path.size != 0;
}

void publish_request(const Arena& area, shm::Request request, std::uint32_t serial) {
    request.serial = serial;
    request.bytes = (area.used + 7u) & ~7u;
    copy_bytes(area.base, &request, sizeof request);
    request.check = shm::check_of_request(area.base, request.bytes, serial);
    copy_bytes(area.base, &request, sizeof request);
}

void hand_over_request(void* area, bool fork_child) {
    copy_bytes(area, arena.base, arena.used);
    Arena shared{static_cast<char*>(area), arena.used};
    shm::Request request = *reinterpret_cast<const shm::Request*>(arena.base);
    if (fork_child) {
        request.objects = shared.add(objects, object_count * sizeof objects[0]);
        const Knowledge& known = globals.inherited.knowledge;
        request.inherited = {0, known.size};
        request.inherited_check = shm::check_of(known.bytes, known.size, 0);
    }
    publish_request(shared, request, 0);
}

const char* own_path() {
    return arena.base + reinterpret_cast<const shm::Request*>(arena.base)->own_path.offset;
}

}  // namespace rdam::probe
