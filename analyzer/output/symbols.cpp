#include "analyzer/output/symbols.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "tools/base/demangle.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "wrappers/object/object_file.h"
#include "wrappers/object/symbolizer.h"

namespace rdam::output {
std::string frame_text(const StackFrame& frame) {
    std::string place = frame.module.empty() ? fmt::format("{:#x}", frame.offset)
                                             : fmt::format("{}+{:#x}", frame.module, frame.offset);
    const char* inlined = frame.inlined ? " (inlined)" : "";
    if (frame.function.empty()) return place;
    if (frame.file.empty()) return fmt::format("{} ({}){}", frame.function, place, inlined);
    if (frame.line == 0) return fmt::format("{} at {}{}", frame.function, frame.file, inlined);
    return fmt::format("{} at {}:{}{}", frame.function, frame.file, frame.line, inlined);
}

const trace::ObjectInfo* TraceSymbols::object_at(std::uint64_t address) const {
    return trace::object_at(info_, address);
}

std::vector<StackFrame> TraceSymbols::frames(std::uint64_t return_address) {
    // The call comes before the address it returns to, which may already belong to the next line or function.
    const std::uint64_t address = return_address > 0 ? return_address - 1 : 0;
    StackFrame frame;
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

namespace {

/// Opens each object once, when its first address is requested.
class FileSymbols : public Symbols {
  public:
    explicit FileSymbols(const trace::TraceInfo& info) : info_(info), trace_(info) {}

    std::vector<StackFrame> frames(std::uint64_t return_address) override {
        if (const trace::ObjectInfo* object = trace_.object_at(return_address - 1)) wanted_.insert(object);
        return known(return_address);
    }

    void prepare(std::uint64_t return_address) override { known(return_address); }

    std::vector<std::string> remarks() const override {
        std::vector<std::string> out;
        for (const auto& [object, remark] : remarks_) {
            if (wanted_.contains(object)) out.push_back(remark);
        }
        return out;
    }

  private:
    const std::vector<StackFrame>& known(std::uint64_t return_address) {
        const auto known = known_.find(return_address);
        if (known != known_.end()) return known->second;
        return known_.emplace(return_address, look_up(return_address)).first->second;
    }

    std::vector<StackFrame> look_up(std::uint64_t return_address) {
        std::vector<StackFrame> fallback = trace_.frames(return_address);
        const trace::ObjectInfo* object = trace_.object_at(return_address - 1);
        Symbolizer* symbolizer = object == nullptr ? nullptr : open(*object);
        if (symbolizer == nullptr) return fallback;

        const SourceLocation& location = symbolizer->locate(return_address - 1 - object->base);
        if (location.outermost.function.empty() && location.outermost.file.empty()) return fallback;
        std::vector<StackFrame> frames;
        for (const SourceFrame& inlined : location.inlined)
            frames.push_back(convert(inlined, fallback.front(), true));
        frames.push_back(convert(location.outermost, fallback.front(), false));
        return frames;
    }

    static StackFrame convert(const SourceFrame& from, const StackFrame& place, bool inlined) {
        return {.function = from.function.empty() ? place.function : from.function,
                .file = from.file,
                .line = from.line,
                .inlined = inlined,
                .module = place.module,
                .offset = place.offset};
    }

    Symbolizer* open(const trace::ObjectInfo& object) {
        const auto [entry, added] = symbolizers_.try_emplace(&object);
        if (added) {
            auto opened = Symbolizer::open(object.path, object.build_id);
            if (opened) {
                if (object.build_id.empty()) check_age(object);
                entry->second.emplace(std::move(*opened));
            } else if (object.path.starts_with('/')) {  // the kernel's own objects have no file
                remarks_.emplace(
                    &object,
                    fmt::format("{}; call stacks show offsets in it, until the file that ran is restored.",
                                opened.error().message));
            }
        }
        return entry->second ? &*entry->second : nullptr;
    }

    void check_age(const trace::ObjectInfo& object) {
        struct stat status = {};
        if (info_.clock.start_unix_ns == 0 || ::stat(object.path.c_str(), &status) != 0) return;
        const std::uint64_t seconds = info_.clock.start_unix_ns / 1'000'000'000;
        if (status.st_mtim.tv_sec < 0 || static_cast<std::uint64_t>(status.st_mtim.tv_sec) <= seconds) return;
        remarks_.emplace(
            &object,
            fmt::format(
                "{}: was modified after the recording started and has no build ID that identifies the file "
                "that ran; names and lines in call stacks may be wrong (link with -Wl,--build-id).",
                object.path));
    }

    const trace::TraceInfo& info_;
    TraceSymbols trace_;
    std::map<const trace::ObjectInfo*, std::optional<Symbolizer>> symbolizers_;  // none: not to be had
    std::map<std::uint64_t, std::vector<StackFrame>> known_;
    std::map<const trace::ObjectInfo*, std::string> remarks_;  // objects lie in the trace's order
    std::set<const trace::ObjectInfo*> wanted_;
};

}  // namespace

std::unique_ptr<Symbols> make_symbols(const trace::TraceInfo& info) {
    return std::make_unique<FileSymbols>(info);
}

namespace {

/// The objects' files, opened when they are first asked for.
class ObjectFiles {
  public:
    /// Null: it is not to be had any more, or is another one by now.
    const ObjectFile* open(const trace::ObjectInfo& object) {
        const auto [entry, is_new] = files_.try_emplace(&object);
        if (is_new && object.path.starts_with('/'))
            if (auto file = ObjectFile::open(object.path); file && file->build_id() == object.build_id)
                entry->second.emplace(std::move(*file));
        return entry->second ? &*entry->second : nullptr;
    }

  private:
    std::map<const trace::ObjectInfo*, std::optional<ObjectFile>> files_;
};

class Variables {
  public:
    explicit Variables(const trace::TraceInfo& info) : info_(info) {}

    const std::string& at(std::uint64_t address) {
        const auto [known, is_new] = known_.try_emplace(address);
        if (is_new) known->second = look_up(address);
        return known->second;
    }

  private:
    std::string look_up(std::uint64_t address) {
        const trace::ObjectInfo* object = trace::object_at(info_, address);
        const ObjectFile* file = object != nullptr ? files_.open(*object) : nullptr;
        if (file == nullptr) return {};
        const std::uint64_t place = address - object->base;
        const Symbol* found = nullptr;
        for (const Symbol& symbol : file->symbols())
            if (!symbol.is_code() && symbol.address <= place && place - symbol.address < symbol.size &&
                (found == nullptr || symbol.address > found->address))
                found = &symbol;
        if (found == nullptr) return {};
        const std::string name = display_name(found->name);
        return place == found->address ? name : fmt::format("{}+{:#x}", name, place - found->address);
    }

    const trace::TraceInfo& info_;
    ObjectFiles files_;
    std::map<std::uint64_t, std::string> known_;
};

}  // namespace

std::function<std::string(std::uint64_t)> variable_names(const trace::TraceInfo& info) {
    struct Shared {
        explicit Shared(const trace::TraceInfo& of) : variables{of} {}
        std::mutex lock;
        Variables variables;
    };
    return [shared = std::make_shared<Shared>(info)](std::uint64_t address) {
        const std::lock_guard guard{shared->lock};
        return shared->variables.at(address);
    };
}

namespace {

/// Who wonders why a thread sleeps does not ask which runtime sleeps for it.
bool is_runtimes(const StackFrame& frame) {
    constexpr std::string_view kModules[] = {"ld-linux",   "ld-musl",    "libc.so",  "libc++",
                                             "libgcc_s",   "libgomp",    "libiomp",  "libomp",
                                             "libpthread", "librdam.so", "librt.so", "libstdc++"};
    constexpr std::string_view kSources[] = {"/rustc/", "library/"};
    constexpr std::string_view kHeaders = "/include/c++/", kThreads = "/bits/gthr";
    const auto begins = [](const std::string& text) {
        return [&](std::string_view begin) { return text.starts_with(begin); };
    };
    constexpr std::string_view kNames[] = {"__gthread_", "std::", "__gnu_cxx::"};
    return std::ranges::any_of(kModules, begins(frame.module)) ||
           std::ranges::any_of(kNames, begins(frame.function)) ||
           std::ranges::any_of(kSources, begins(frame.file)) ||
           frame.file.find(kHeaders) != std::string::npos || frame.file.find(kThreads) != std::string::npos;
}

/// The run-time address of the function of the same object that the call before `return_address` leads to. Where a call returns to
/// that was not made there, this function has made it, by a jump in place of its last call. Nothing: it is not known, or the call
/// leads elsewhere.
std::optional<std::uint64_t> called_before(const trace::TraceInfo& info, ObjectFiles& files,
                                           std::uint64_t return_address) {
    constexpr std::uint64_t kCallSize = 5;
    constexpr std::uint8_t kCall = 0xe8;
    const trace::ObjectInfo* const object = trace::object_at(info, return_address - 1);
    const ObjectFile* const file = object != nullptr ? files.open(*object) : nullptr;
    if (file == nullptr || return_address < object->base + kCallSize) return std::nullopt;
    const auto code = file->code(return_address - object->base - kCallSize, kCallSize);
    if (code.size() != kCallSize || code[0] != kCall) return std::nullopt;
    std::int32_t distance = 0;
    std::memcpy(&distance, &code[1], sizeof distance);
    const std::uint64_t target = return_address - object->base + static_cast<std::uint64_t>(distance);
    // What other objects define is reached by a stub without a symbol, and calls of recorded functions are what is asked about.
    const auto is_recorded = [&](const trace::FunctionInfo& function) {
        return function.object < info.objects.size() && &info.objects[function.object] == object &&
               function.address == target;
    };
    if (std::ranges::none_of(file->at(target), &Symbol::is_code) ||
        std::ranges::any_of(info.functions, is_recorded))
        return std::nullopt;
    return object->base + target;
}

hints::CallerAt callers(const trace::TraceInfo& info) {
    struct Shared {
        std::mutex lock;
        ObjectFiles files;
        std::unique_ptr<Symbols> symbols;
    };
    return [&info, shared = std::make_shared<Shared>()](std::uint64_t return_address) {
        const std::lock_guard guard{shared->lock};
        if (shared->symbols == nullptr) shared->symbols = make_symbols(info);
        const auto jumped = called_before(info, shared->files, return_address);
        // Into this one the others were inlined.
        const StackFrame frame = shared->symbols->frames(jumped ? *jumped + 1 : return_address).back();
        return is_runtimes(frame) ? std::string{} : printable(frame_text(frame));
    };
}

}  // namespace

hints::AddressNames address_names(const trace::TraceInfo& info) {
    return {variable_names(info), callers(info)};
}

SymbolsAhead::SymbolsAhead(Symbols& symbols, const trace::TraceInfo& info) : symbols_{symbols}, info_{info} {
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (const std::system_error&) {
        // Then they are looked up when they are needed.
    }
}

SymbolsAhead::~SymbolsAhead() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
}

void SymbolsAhead::run() {
    constexpr std::size_t kStacks = 16;
    const std::size_t stacks = std::min(info_.stacks.size(), kStacks);
    for (std::size_t i = 0; i < stacks; ++i)
        for (const std::uint64_t address : info_.stacks[i].frames) {
            if (stop_) return;
            symbols_.prepare(address);
        }
}

}  // namespace rdam::output
