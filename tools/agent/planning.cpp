#include "tools/agent/planning.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "libprobe/format/plan.h"
#include "tools/agent/answers.h"
#include "tools/agent/process_facts.h"
#include "wrappers/support/printable.h"

namespace rdam::agent {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

std::string rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (std::string value = variable(name); !value.empty()) return value;
    return "0";
}

/// A program that a recorded one starts is not what the user has named, unless the starter is there for
/// nothing else (a shell, env, mpirun).
void place_in_tree(std::uint32_t pid, Wishes& wishes) {
    const auto stat = read_stat(pid);
    wishes.top = !stat || !is_recorded(stat->parent);
    wishes.first = wishes.top || Catalogue::builtin().is_launcher(program_name(stat->parent));
}

std::string expand(std::string_view pattern, std::uint32_t pid) {
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        char host[256] = "localhost";
        switch (next) {
            case 'p':
                path += std::to_string(pid);
                ++i;
                break;
            case 'h':
                gethostname(host, sizeof host - 1);
                path += host;
                ++i;
                break;
            case 'r':
                path += rank();
                ++i;
                break;
            case '%':
                path += '%';
                ++i;
                break;
            default:
                path += pattern[i];
        }
    }
    return path;
}

FunctionList default_list() {
    FunctionList list;
    for (const CatalogueFunction& function : Catalogue::builtin().functions())
        if (function.in_default_list)
            list.entries.push_back({function.name, "", function.name, "the default list", true});
    return list;
}

std::uint64_t ask_ifunc(const SharedMemory& shared, std::uint64_t resolver) {
    constexpr int kTries = 50;
    shm::Control& control = shared.control();
    control.ifunc_resolver = resolver;
    const std::uint32_t asked = control.ifunc_asked.load() + 1;
    control.ifunc_asked.store(asked);
    shared.announce(shm::AgentState::ask_ifunc);
    for (int i = 0; i < kTries && control.ifunc_answered_futex.load() != asked; ++i)
        futex_wait(control.ifunc_answered_futex, asked - 1, 100);
    const bool answered = control.ifunc_answered_futex.load() == asked;
    shared.announce(shm::AgentState::starting);
    return answered ? control.ifunc_target : 0;
}

/// Appends to the plan area; what does not fit makes `full` true.
class Area {
  public:
    explicit Area(std::span<std::uint8_t> bytes) : bytes_(bytes), used_(sizeof(shm::PlanReply)) {}

    shm::Text add(const void* data, std::size_t size) {
        const std::size_t at = (used_ + 7) & ~std::size_t{7};
        if (at > bytes_.size() || size > bytes_.size() - at) {
            full_ = true;
            return {};
        }
        if (size > 0) std::memcpy(bytes_.data() + at, data, size);
        used_ = at + size;
        return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size)};
    }
    bool full() const { return full_; }
    shm::PlanReply& reply() { return *reinterpret_cast<shm::PlanReply*>(bytes_.data()); }

  private:
    std::span<std::uint8_t> bytes_;
    std::size_t used_;
    bool full_ = false;
};

shm::PlannedFunction encode(const PlannedFunction& function, const ProcessDescription& process, Area& area) {
    shm::PlannedFunction out;
    out.base = process.objects[function.object].base;
    out.address = out.base + function.address;
    out.object = static_cast<std::uint32_t>(function.object);
    out.stack_bytes = function.stack_bytes;
    out.recording = function.recording;
    out.frame = function.frame;
    const auto& prologue = function.prologue;
    out.jump_before = prologue.jump_before;
    out.original_size =
        static_cast<std::uint8_t>(std::min<std::size_t>(prologue.original.size(), sizeof out.original));
    std::memcpy(out.original, prologue.original.data(), out.original_size);
    out.code = area.add(prologue.code.data(), prologue.code.size());
    out.fixups = area.add(prologue.fixups.data(), prologue.fixups.size() * sizeof(plan::Fixup));
    return out;
}

bool write_plan(const SharedMemory& shared, const ProcessDescription& process, const Plan& plan,
                const std::string& message) {
    Area area(shared.plan_area());
    std::vector<shm::PlannedFunction> functions;
    functions.reserve(plan.functions.size());
    for (const PlannedFunction& function : plan.functions)
        functions.push_back(encode(function, process, area));
    shm::PlanReply reply;
    reply.functions = area.add(functions.data(), functions.size() * sizeof functions[0]);
    reply.message = area.add(message.data(), message.size());
    area.reply() = reply;
    return !area.full();
}

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

trace::ParameterInfo describe(const Parameter& parameter) {
    return {parameter.name, static_cast<std::uint8_t>(parameter.kind),
            parameter.size, parameter.word,
            parameter.key,  parameter.type};
}

trace::FunctionInfo describe(const PlannedFunction& function, const ProcessDescription& process) {
    trace::FunctionInfo info;
    info.name = function.name;
    info.linkage_name = function.linkage_name;
    info.module = file_name(process.objects[function.object].path);
    info.source = function.source;
    info.object = static_cast<std::uint32_t>(function.object);
    info.address = function.address;
    info.size = function.size;
    const plan::Recording& recording = function.recording;
    info.enter_words = static_cast<std::uint16_t>(recording.integer_registers + recording.vector_registers +
                                                  recording.stack_words);
    info.leave_words = recording.return_value == plan::ReturnValue::none ? 0 : 1;
    info.inlined_copies = function.inlined_copies;
    for (const Parameter& parameter : function.parameters)
        info.parameters.push_back(describe(parameter));
    if (function.result.has_value()) info.result.push_back(describe(*function.result));
    return info;
}

void describe(const Plan& plan, const ProcessDescription& process, trace::TraceInfo& info) {
    for (const ProcessObject& object : process.objects)
        info.objects.push_back({object.path, object.build_id, object.base, object.end});
    for (const PlannedFunction& function : plan.functions)
        info.functions.push_back(describe(function, process));
    for (const Answer& answer : plan.answers)
        info.answers.push_back(
            {answer.entry.text, static_cast<std::uint8_t>(answer.verdict), answer.function, explain(answer)});
}

bool is_recorder(const std::string& path) {
    return file_name(path) == "librdam.so";
}

Result<FunctionList> wanted(const Wishes& wishes) {
    return wishes.functions ? load_function_list(*wishes.functions) : Result<FunctionList>{default_list()};
}

/// More than the recorder has stubs for: the first ones are kept.
void limit(Plan& plan, trace::TraceInfo& info) {
    constexpr std::size_t kMost = shm::kEmptyFunction;
    if (plan.functions.size() <= kMost) return;
    info.remarks.push_back(fmt::format("{} of {} functions were left alone: a process can have {} wrapped",
                                       plan.functions.size() - kMost, plan.functions.size(), kMost));
    plan.functions.resize(kMost);
}

}  // namespace

Wishes read_wishes(std::uint32_t pid) {
    Wishes wishes;
    if (const char* functions = std::getenv("RDAM_FUNCTIONS"); functions != nullptr)
        wishes.functions = functions;
    const std::string output = variable("RDAM_OUTPUT");
    wishes.output = expand(output.empty() ? "trace.bin" : output, pid);
    wishes.run = variable("RDAM_RUN");
    wishes.arguments = variable("RDAM_ARGS") != "0";
    wishes.verbose = variable("RDAM_VERBOSE") == "1";
    place_in_tree(pid, wishes);
    if (const std::string period = variable("RDAM_STACK_PERIOD"); !period.empty())
        wishes.stack_period = static_cast<std::uint32_t>(std::strtoul(period.c_str(), nullptr, 10));
    return wishes;
}

Result<Plan> plan_process(const SharedMemory& shared, const ProcessDescription& process, const Wishes& wishes,
                          trace::TraceInfo& info) {
    auto list = wanted(wishes);
    if (!list) return fail("rdam: {}\n", printable(list.error().message));
    PlanRequest request;
    request.list = std::move(*list);
    for (const ProcessObject& object : process.objects) {
        request.objects.push_back({object.path, object.build_id, object.base});
        if (is_recorder(object.path)) request.own_objects.push_back(object.path);
    }
    request.own_objects.push_back(process.own_path);
    request.record_arguments = wishes.arguments;
    request.resolve_ifunc = [&](std::uint64_t resolver) { return ask_ifunc(shared, resolver); };
    Plan plan = make_plan(request, Catalogue::builtin());
    limit(plan, info);
    describe(plan, process, info);
    std::string message = answer_text(plan, process, wishes);
    for (const std::string& remark : info.remarks)
        message += "rdam: " + remark + "\n";
    if (plan.functions.empty()) return fail("{}", message);
    if (!write_plan(shared, process, plan, message))
        return fail("rdam: the plan for {} functions is too large: shorten the list\n",
                    plan.functions.size());
    return plan;
}

void refuse(const SharedMemory& shared, const std::string& text) {
    Area area(shared.plan_area());
    shm::PlanReply reply;
    reply.message = area.add(text.data(), text.size());
    area.reply() = reply;
    shared.announce(shm::AgentState::refused);
}

}  // namespace rdam::agent
