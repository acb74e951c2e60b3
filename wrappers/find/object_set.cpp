#include "wrappers/find/object_set.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "tools/base/files.h"
#include "tools/base/glob.h"
#include "tools/base/name_text.h"

namespace rdam {

namespace {

bool is_same_file(const std::string& a, const std::string& b) {
    if (a == b) return true;
    std::error_code error;
    return std::filesystem::equivalent(a, b, error) && !error;
}

bool is_vdso(std::string_view path) {
    return path.empty() || path.front() == '[' || file_name(path).starts_with("linux-vdso");
}

}  // namespace

ObjectSet::ObjectSet(const PlanRequest& request) : request_{request}, entries_(request.objects.size()) {}

const LoadedObject& ObjectSet::loaded(std::size_t index) const {
    return request_.objects[index];
}

std::string ObjectSet::module_name(std::size_t index) const {
    std::string name{file_name(loaded(index).path)};
    return name.empty() ? "[vdso]" : name;
}

std::string ObjectSet::exclusion_by_path(std::size_t index) const {
    const std::string& path = loaded(index).path;
    if (is_vdso(path)) return "is part of the kernel's vdso, which cannot be patched";
    if (is_dynamic_linker(path)) return "belongs to the dynamic linker, which the recorder itself depends on";
    for (const std::string& own : request_.own_objects) {
        if (is_same_file(path, own)) return "belongs to the recorder itself";
    }
    return {};
}

std::string ObjectSet::exclusion_by_content(std::size_t index) const {
    const ObjectFile& file = *entries_[index].file;
    const LoadedObject& object = loaded(index);
    if (!object.build_id.empty() && object.build_id != file.build_id()) {
        return fmt::format(
            "{} is not the file that was loaded (build-id {}, loaded {}): start the program again",
            object.path, file.build_id().empty() ? "none" : file.build_id(), object.build_id);
    }
    // A library of Go code says which of its code that is; what cgo compiled lies behind it.
    if (file.is_go() && file.named("runtime.etext").empty())
        return "is Go code, whose stacks move: it cannot be wrapped";
    return {};
}

void ObjectSet::open(std::size_t index) {
    Entry& entry = entries_[index];
    if (entry.opened) return;
    entry.opened = true;
    entry.excluded = exclusion_by_path(index);
    if (is_vdso(loaded(index).path)) return;
    const LoadedObject& object = loaded(index);
    auto file = ObjectFile::open(object.open_at.empty() ? object.path : object.open_at);
    if (!file) {
        if (entry.excluded.empty()) entry.excluded = file.error().message;
        return;
    }
    entry.file = std::move(*file);
    if (entry.excluded.empty()) entry.excluded = exclusion_by_content(index);
}

const ObjectFile* ObjectSet::file(std::size_t index) {
    open(index);
    return entries_[index].file ? &*entries_[index].file : nullptr;
}

DwarfFile* ObjectSet::dwarf(std::size_t index) {
    Entry& entry = entries_[index];
    if (!entry.dwarf_opened && file(index) != nullptr) entry.dwarf = DwarfFile::open(*entry.file);
    entry.dwarf_opened = true;
    return entry.dwarf ? &*entry.dwarf : nullptr;
}

std::vector<std::string> ObjectSet::split_places() const {
    std::vector<std::string> places;
    for (const Entry& entry : entries_)
        if (entry.dwarf)
            places.insert(places.end(), entry.dwarf->split_places().begin(),
                          entry.dwarf->split_places().end());
    return places;
}

bool ObjectSet::may_describe(std::size_t index, std::string_view name) {
    Entry& entry = entries_[index];
    if (file(index) == nullptr) return false;
    if (entry.dwarf_opened) return true;
    if (!entry.strings) entry.strings.emplace(*entry.file);
    return entry.strings->may_name(name);
}

const std::string& ObjectSet::why_excluded(std::size_t index) {
    open(index);
    return entries_[index].excluded;
}

const std::string& ObjectSet::real_name(std::size_t index) {
    std::string& name = entries_[index].real_name;
    if (name.empty()) {
        std::error_code error;
        const auto real = std::filesystem::canonical(loaded(index).path, error);
        name = error ? module_name(index) : real.filename().string();
    }
    return name;
}

bool ObjectSet::is_named(std::size_t index, std::string_view scope) {
    const std::string& path = loaded(index).path;
    const bool glob = scope.find_first_of("*?[") != std::string_view::npos;
    if (glob_match(scope, path) || glob_match(scope, module_name(index))) return true;
    if (glob_match(scope, real_name(index))) return true;
    // A link's name (libfoo.so) is not that of the file it leads to (libfoo.so.1.2): the soname decides.
    const bool may_be_soname = glob || scope.find(".so") != std::string_view::npos;
    const ObjectFile* object = may_be_soname ? file(index) : nullptr;
    return object != nullptr && !object->soname().empty() && glob_match(scope, object->soname());
}

std::optional<ObjectSet::Place> ObjectSet::locate(std::uint64_t run_time_address) {
    for (std::size_t index = 0; index < size(); ++index) {
        const std::uint64_t base = loaded(index).base;
        if (run_time_address < base) continue;
        const ObjectFile* object = file(index);
        if (object != nullptr && object->code_section(run_time_address - base) != nullptr) {
            return Place{index, run_time_address - base};
        }
    }
    return std::nullopt;
}

namespace {

std::vector<std::string_view> constants_of(const ObjectFile& file) {
    std::vector<std::string_view> constants;
    for (const ElfSection& section : file.sections()) {
        const bool constant = section.header.sh_type == SHT_PROGBITS &&
                              (section.header.sh_flags & SHF_ALLOC) != 0 &&
                              (section.header.sh_flags & SHF_EXECINSTR) == 0;
        if (!constant) continue;
        const auto bytes = section_bytes(section);
        constants.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return constants;
}

bool hold(const std::vector<std::string_view>& constants, std::string_view text) {
    return std::ranges::any_of(
        constants, [&](std::string_view bytes) { return bytes.find(text) != std::string_view::npos; });
}

std::string terminated(std::string_view text) {
    return std::string{text} + '\0';
}

/// Fortran's constants have a length instead.
bool is_fortran(const ObjectFile& file) {
    return std::ranges::any_of(file.imports(),
                               [](const std::string& name) { return name.starts_with("_gfortran_"); });
}

}  // namespace

RegionNames::RegionNames(const ObjectFile& file) {
    auto constants = constants_of(file);
    // What rdam.h and rdam.f90 look up.
    if (!hold(constants, terminated("rdam_region_begin"))) return;
    constants_ = std::move(constants);
    terminated_ = !is_fortran(file);
    for (const std::string_view bytes : constants_)
        pieces_.add(bytes);
}

bool RegionNames::may_hold(std::string_view name) const {
    if (name.empty() || constants_.empty() || !pieces_.may_contain(name)) return false;
    return hold(constants_, terminated_ ? terminated(name) : std::string{name});
}

bool RegionNames::may_match(std::string_view pattern) const {
    // Where a name ends is not known: its beginning must do.
    if (!terminated_) return hold(constants_, pattern.substr(0, pattern.find_first_of("*?[")));
    return std::ranges::any_of(constants_, [&](std::string_view bytes) {
        for (std::size_t end = bytes.find('\0'); end != std::string_view::npos; end = bytes.find('\0')) {
            if (glob_match(pattern, bytes.substr(0, end))) return true;
            bytes.remove_prefix(end + 1);
        }
        return false;
    });
}

}  // namespace rdam
