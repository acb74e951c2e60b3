#include "analyzer/output/symbols.h"

#include <fmt/format.h>

namespace rdam::output {
namespace {

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string frame_text(const SourceFrame& frame) {
    const std::string place = frame.module.empty() ? fmt::format("{:#x}", frame.offset)
                                                   : fmt::format("{}+{:#x}", frame.module, frame.offset);
    const char* inlined = frame.inlined ? " (inlined)" : "";
    if (frame.function.empty()) return place;
    if (frame.file.empty()) return fmt::format("{} ({}){}", frame.function, place, inlined);
    if (frame.line == 0) return fmt::format("{} at {}{}", frame.function, frame.file, inlined);
    return fmt::format("{} at {}:{}{}", frame.function, frame.file, frame.line, inlined);
}

const trace::ObjectInfo* TraceSymbols::object_at(std::uint64_t address) const {
    const trace::ObjectInfo* best = nullptr;
    for (const trace::ObjectInfo& object : info_.objects) {
        const bool inside = object.base <= address && address < object.end;
        if (inside && (best == nullptr || object.base > best->base)) best = &object;
    }
    return best;
}

std::vector<SourceFrame> TraceSymbols::frames(std::uint64_t return_address) {
    // The call stands before the address it returns to, which may already belong to the next line or
    // function.
    const std::uint64_t address = return_address > 0 ? return_address - 1 : 0;
    SourceFrame frame;
    const trace::ObjectInfo* object = object_at(address);
    if (object == nullptr) {
        frame.offset = return_address;
        return {frame};
    }
    frame.module = file_name(object->path);
    frame.offset = return_address - object->base;
    const std::uint64_t link_address = address - object->base;
    for (const trace::FunctionInfo& function : info_.functions) {
        const bool same_object =
            function.object < info_.objects.size() && &info_.objects[function.object] == object;
        if (same_object && link_address >= function.address &&
            link_address - function.address < function.size) {
            frame.function = function.name;
        }
    }
    return {frame};
}

std::unique_ptr<Symbols> make_symbols(const trace::TraceInfo& info) {
    return std::make_unique<TraceSymbols>(info);
}

}  // namespace rdam::output
