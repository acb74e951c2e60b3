#include "wrappers/object/symbolizer.h"

#include <dwarf.h>

#include <optional>
#include <set>
#include <unordered_map>

#include "tools/base/demangle.h"
#include "wrappers/object/dwarf_file.h"
#include "wrappers/object/object_file.h"

namespace rdam {
namespace {

constexpr int kDeepestInlining = 256;

/// The inlined functions around an address within `function`, the outermost first.
std::vector<Dwarf_Die> inlined_at(Dwarf_Die function, std::uint64_t address) {
    std::vector<Dwarf_Die> found;
    Dwarf_Die scope = function;
    for (int depth = 0; depth < kDeepestInlining; ++depth) {
        Dwarf_Die child;
        if (dwarf_child(&scope, &child) != 0) break;
        bool entered = false;
        do {
            const int tag = dwarf_tag(&child);
            if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
            if (dwarf_haspc(&child, address) != 1) continue;
            if (tag == DW_TAG_inlined_subroutine) found.push_back(child);
            scope = child;
            entered = true;
            break;
        } while (dwarf_siblingof(&child, &child) == 0);
        if (!entered) break;
    }
    return found;
}

/// Where an inlined copy was called from: file and line within the function around it.
void set_call_site(Dwarf_Die inlined, Dwarf_Die unit, SourceFrame& frame) {
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line) == 0) {
        frame.line = static_cast<std::uint32_t>(line);
    }
    Dwarf_Word file = 0;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &file) != 0) return;
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) return;
    if (const char* name = dwarf_filesrc(files, file, nullptr, nullptr)) frame.file = name;
}

void set_line(Dwarf_Die unit, std::uint64_t address, SourceFrame& frame) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
    if (line == nullptr) return;
    int number = 0;
    if (dwarf_lineno(line, &number) == 0 && number > 0) frame.line = static_cast<std::uint32_t>(number);
    if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) frame.file = file;
}

}  // namespace

SourceLocation Symbolizer::look_up(std::uint64_t address) {
    SourceLocation location;
    // Between functions lies padding: no address of a call is there, whatever symbol precedes it.
    if (const Symbol* symbol = object_.covering(address)) {
        location.outermost.function = display_name(symbol->name);
        location.offset = address - symbol->address;
    }
    if (dwarf_) add_source(address, location);
    return location;
}

void Symbolizer::add_source(std::uint64_t address, SourceLocation& location) {
    const DwarfFile::Unit* unit = dwarf_->unit_at(address);
    if (unit == nullptr) return;
    SourceFrame innermost;
    set_line(unit->die, address, innermost);
    const DwarfFunction* function = dwarf_->function_at(address);
    if (function != nullptr && location.outermost.function.empty()) {
        location.outermost.function = display_name_of(function->die);
        location.offset = address - function->begin;
    }
    // Each copy's call site is the position within the function around it.
    for (Dwarf_Die inlined :
         function == nullptr ? std::vector<Dwarf_Die>{} : inlined_at(function->die, address)) {
        SourceFrame around;
        set_call_site(inlined, unit->die, around);
        SourceFrame& outer = location.inlined.empty() ? location.outermost : location.inlined.front();
        outer.file = around.file;
        outer.line = around.line;
        location.inlined.insert(location.inlined.begin(), SourceFrame{display_name_of(inlined), {}, 0});
    }
    SourceFrame& last = location.inlined.empty() ? location.outermost : location.inlined.front();
    last.file = innermost.file;
    last.line = innermost.line;
}

Result<Symbolizer> Symbolizer::open(const std::string& path, const std::string& build_id,
                                    const std::string& debug_root) {
    auto object = ObjectFile::open(path, debug_root);
    if (!object) return tl::unexpected{object.error()};
    if (!build_id.empty() && object->build_id() != build_id) {
        return fail(
            "{}: is not the file that was recorded (build-id {}, recorded {}): its symbols are not used",
            path, object->build_id().empty() ? "none" : object->build_id(), build_id);
    }
    return Symbolizer{std::move(*object)};
}

const SourceLocation& Symbolizer::locate(std::uint64_t address) {
    const auto [entry, is_new] = known_.try_emplace(address);
    if (is_new) entry->second = look_up(address);
    return entry->second;
}

std::vector<SourceLine> Symbolizer::lines_between(std::uint64_t begin, std::uint64_t end) {
    std::set<SourceLine> found;
    const DwarfFile::Unit* unit = dwarf_ ? dwarf_->unit_at(begin) : nullptr;
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    Dwarf_Die die = unit != nullptr ? unit->die : Dwarf_Die{};
    if (unit == nullptr || dwarf_getsrclines(&die, &lines, &count) != 0) return {};
    for (std::size_t i = 0; i < count; ++i) {
        Dwarf_Line* line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address = 0;
        int number = 0;
        bool behind_the_last = false;
        if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineno(line, &number) != 0 || number <= 0) continue;
        if (dwarf_lineendsequence(line, &behind_the_last) != 0 || behind_the_last) continue;
        const char* file = dwarf_linesrc(line, nullptr, nullptr);
        if (address >= begin && address < end && file != nullptr)
            found.insert({file, static_cast<std::uint32_t>(number)});
    }
    return {found.begin(), found.end()};
}

}  // namespace rdam
