#include "wrappers/object/executable_facts.h"

#include <endian.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/base/files.h"
#include "wrappers/object/elf_image.h"
#include "wrappers/object/symbol_reader.h"

namespace rdam {
namespace {

/// The first line of a script without "#!", cut to its first word.
std::string interpreter_of_script(std::string_view text) {
    text.remove_prefix(2);
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    return std::string{text.substr(0, text.find_first_of(std::string_view{" \t\r\n\0", 5}))};
}

/// Whether the file's capabilities make the dynamic linker ignore LD_PRELOAD. Those that become effective do
/// so even where the process has given up new privileges and gets none of them.
bool has_effect(const std::string& path, bool gives_rights) {
    vfs_ns_cap_data capabilities{};
    const auto size = ::getxattr(path.c_str(), "security.capability", &capabilities, sizeof capabilities);
    if (size < static_cast<ssize_t>(sizeof capabilities.magic_etc)) return false;
    if ((le32toh(capabilities.magic_etc) & VFS_CAP_FLAGS_EFFECTIVE) != 0) return true;
    return gives_rights && (capabilities.data[0].permitted != 0 || capabilities.data[1].permitted != 0);
}

/// The rights of a process that executes the file become others than its user's: then the dynamic linker
/// ignores LD_PRELOAD. The kernel pays no heed to the file's bits where the process has given up new
/// privileges or the file system is mounted nosuid, and they give a user nothing that it is already.
void read_rights(const std::string& path, const struct stat& status, ExecutableFacts& facts) {
    struct statvfs place {};
    if (::statvfs(path.c_str(), &place) == 0 && (place.f_flag & ST_NOSUID) != 0) return;
    const bool gives_rights = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
    facts.has_capabilities = ::getuid() != 0 && has_effect(path, gives_rights);
    if (!gives_rights) return;
    facts.set_user_id = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid();
    facts.set_group_id =
        (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != ::getgid();
}

bool is_of_glibc(std::string_view soname) {
    return soname.starts_with("ld-linux-x86-64.so");
}

std::string name_of_libc(std::string_view linker) {
    const std::string_view name = file_name(linker);
    if (name.starts_with("ld-musl")) return "musl";
    if (name.starts_with("linker64")) return "Android's C library";
    return "another C library than glibc";
}

void read_elf_facts(const ElfImage& image, ExecutableFacts& facts) {
    facts.is_elf = true;
    facts.is_64_bit = image.header().e_ident[EI_CLASS] == ELFCLASS64;
    facts.is_x86_64 = image.header().e_machine == EM_X86_64 && facts.is_64_bit;
    for (const GElf_Phdr& segment : read_segments(image)) {
        if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > 4096) continue;
        facts.is_dynamic = true;
        const Elf_Data* data = elf_getdata_rawchunk(
            image.handle(), static_cast<std::int64_t>(segment.p_offset), segment.p_filesz, ELF_T_BYTE);
        if (data == nullptr || data->d_buf == nullptr) continue;
        facts.interpreter = string_at({static_cast<const std::uint8_t*>(data->d_buf), data->d_size}, 0);
    }
    facts.is_shared_object = image.header().e_type == ET_DYN && !facts.is_dynamic;
    facts.is_library = facts.is_shared_object && image.header().e_entry == 0;
    facts.is_dynamic_linker = facts.is_shared_object && is_of_glibc(read_soname(image));
    for (const std::string& library : read_dynamic_strings(image, DT_NEEDED))
        if (library.starts_with("libasan.so") || library.starts_with("libclang_rt.asan"))
            facts.sanitizer = library;
    for (const ElfSection& section : read_sections(image)) {
        if (section.name == ".gopclntab" || section.name == ".go.buildinfo") facts.is_go = true;
    }
}

/// The program may want another C library than the one that the recorder is made for.
void look_at_linker(ExecutableFacts& facts) {
    struct stat status {};
    facts.lacks_linker = ::stat(facts.interpreter.c_str(), &status) != 0 && errno == ENOENT;
    if (facts.lacks_linker || !facts.is_x86_64) return;
    const auto linker = ElfImage::open(facts.interpreter);
    if (linker && !is_of_glibc(read_soname(*linker))) facts.other_libc = name_of_libc(facts.interpreter);
}

}  // namespace

Result<ExecutableFacts> inspect_executable(const std::string& path, bool given_to_linker) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail("{}: {}", path, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return fail("{}: is a directory: name a program", path);
    if (!S_ISREG(status.st_mode)) return fail("{}: is not a regular file: name a program", path);
    if (!given_to_linker && ::access(path.c_str(), X_OK) != 0) {
        return fail("{}: may not be executed: {} (chmod +x?)", path, std::strerror(errno));
    }
    ExecutableFacts facts;
    facts.path = path;
    if (!given_to_linker) read_rights(path, status, facts);
    const auto head = read_beginning(path, 256);
    if (!head) return tl::unexpected{head.error()};
    if (head->starts_with("#!")) {
        facts.is_script = true;
        facts.interpreter = interpreter_of_script(*head);
        return facts;
    }
    if (!head->starts_with(ELFMAG)) return facts;
    const auto image = ElfImage::open(path);
    if (!image) return tl::unexpected{image.error()};
    read_elf_facts(*image, facts);
    if (facts.is_dynamic) look_at_linker(facts);
    return facts;
}

std::string why_not_recordable(const ExecutableFacts& facts) {
    if (facts.is_script) return {};
    if (!facts.is_elf) {
        return fmt::format("{}: is neither an ELF program nor a script with #!: name a program", facts.path);
    }
    if (!facts.is_64_bit) {
        return fmt::format(
            "{}: is a 32-bit program: rdam records 64-bit x86 programs only, build it with -m64", facts.path);
    }
    if (!facts.is_x86_64) {
        return fmt::format("{}: is not for x86-64: rdam records 64-bit x86 programs only", facts.path);
    }
    if (facts.is_go) {
        return fmt::format("{}: is a Go program, whose stacks move: rdam cannot wrap its functions",
                           facts.path);
    }
    if (facts.is_dynamic_linker) {
        return fmt::format("{}: is the dynamic linker, and no program to start is among its arguments",
                           facts.path);
    }
    if (facts.is_shared_object && file_name(facts.path).starts_with("ld-musl")) {
        return fmt::format("{}: is the dynamic linker of musl: rdam records programs of glibc only",
                           facts.path);
    }
    if (facts.is_library) {
        return fmt::format("{}: is a library, not a program: name a program", facts.path);
    }
    if (!facts.is_dynamic) {
        return fmt::format(
            "{}: is statically linked, so no library can be loaded into it: link it dynamically", facts.path);
    }
    if (facts.lacks_linker) {
        return fmt::format("{}: cannot start: its dynamic linker {} does not exist: install it", facts.path,
                           facts.interpreter);
    }
    if (!facts.other_libc.empty()) {
        return fmt::format(
            "{}: is linked with {} (its dynamic linker is {}), in which the recorder cannot be loaded: build "
            "it with glibc",
            facts.path, facts.other_libc, facts.interpreter);
    }
    if (facts.set_user_id || facts.set_group_id) {
        return fmt::format(
            "{}: runs with another {}'s rights (set{}id), which excludes LD_PRELOAD: record a copy without "
            "that bit",
            facts.path, facts.set_user_id ? "user" : "group", facts.set_user_id ? "u" : "g");
    }
    if (facts.has_capabilities) {
        return fmt::format("{}: has file capabilities, which exclude LD_PRELOAD: record a copy without them",
                           facts.path);
    }
    return {};
}

}  // namespace rdam
