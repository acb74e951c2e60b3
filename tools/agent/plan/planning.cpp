#include "tools/agent/plan/planning.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "libprobe/format/plan.h"
#include "tools/agent/chunks/output_file.h"
#include "tools/agent/memory/call_counts.h"
#include "tools/agent/memory/image.h"
#include "tools/agent/plan/answers.h"
#include "tools/agent/plan/copied_stacks.h"
#include "tools/agent/plan/plan_area.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/process/shown_messages.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/trace/event.h"
#include "wrappers/plan/cached_plan.h"

namespace rdam::agent {
namespace {

constexpr std::size_t kMaxFunctions = FunctionNumbers::kAll;

FunctionList default_list() {
    FunctionList list;
    for (const CatalogueFunction& function : Catalogue::builtin().functions())
        if (function.in_default_list)
            list.entries.push_back({.text = function.name,
                                    .scope = {},
                                    .name = function.name,
                                    .origin = "the default list",
                                    .added_wait = true,
                                    .unless_found = {}});
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

trace::ParameterInfo describe(const Parameter& parameter) {
    return {.name = parameter.name,
            .kind = static_cast<std::uint8_t>(parameter.kind),
            .size = parameter.size,
            .word = parameter.word,
            .key = parameter.key,
            .type = parameter.type,
            .by_size = parameter.by_size};
}

trace::AnswerInfo describe(const Answer& answer) {
    return {answer.entry.text, static_cast<std::uint8_t>(answer.verdict), answer.function, explain(answer)};
}

trace::ObjectInfo describe(const ProcessObject& object) {
    return {object.path, object.build_id, object.base, object.end};
}

template <class To, class From>
void describe_all(const std::vector<From>& from, std::vector<To>& to) {
    for (const From& each : from)
        to.push_back(describe(each));
}

trace::FunctionInfo describe(const FunctionPlan& function, const ProcessDescription& process, bool budget) {
    trace::FunctionInfo info;
    info.name = function.name;
    // Without a budget all calls are recorded.
    if (function.waiters.mask != 0 && budget) info.name += trace::kWaking;
    info.linkage_name = function.linkage_name;
    info.module = file_name(process.objects[function.object].path);
    info.source = function.source;
    info.object = static_cast<std::uint32_t>(function.object);
    info.address = function.address;
    info.size = function.size;
    const plan::Recording& recording = function.recording;
    info.enter_words = static_cast<std::uint16_t>(recording.enter_words());
    info.leave_words = recording.return_value == plan::ReturnValue::none ? 0 : 1;
    info.inlined_copies = function.inlined_copies;
    info.waits = function.waits;
    info.busy_waits = function.busy_waits;
    info.sampled = function.sampled;
    info.wait_of = function.wait_of;
    info.wakes = function.wakes;
    info.partner = function.partner;
    describe_all(function.parameters, info.parameters);
    if (function.result.has_value()) info.result.push_back(describe(*function.result));
    return info;
}

bool is_recorder(const std::string& path) {
    return file_name(path) == "librdam.so";
}

Result<FunctionList> wanted(const Configuration& configuration) {
    auto list = configuration.functions ? load_function_list(*configuration.functions, kFunctionsVariable)
                                        : Result<FunctionList>{default_list()};
    if (list && configuration.all_calls)
        for (ListEntry& entry : list->entries)
            entry.sampled = false;
    return list;
}

/// More than the recorder has stubs for: the first ones are kept.
std::vector<std::string> limit(Plan& plan) {
    const std::size_t all = plan.functions.size();
    if (all <= kMaxFunctions) return {};
    plan.functions.resize(kMaxFunctions);
    return {
        fmt::format("{} of {}{}{} in a process", all - kMaxFunctions, all, trace::kTooMany, kMaxFunctions)};
}

/// Under a shell that is recorded as well, what is typed next is another run.
std::string key_of_run(const trace::ProcessInfo& process) {
    const bool named = !process.run.empty();
    return fmt::format("{} {}", name_of_run(process), named ? 0 : getpgid(static_cast<pid_t>(process.pid)));
}

}  // namespace

Planning::Planning(const SharedMemory& shared, ProcessDescription& process,
                   const Configuration& configuration, trace::TraceInfo& info, std::function<bool()> unwanted)
    : shared_(shared),
      process_(process),
      configuration_(configuration),
      info_(info),
      store_(plan_folder()),
      loaded_(process.objects.size(), true),
      unwanted_(std::move(unwanted)),
      run_(key_of_run(info.process)) {
    for (std::size_t i = 0; i < process.objects.size(); ++i) {
        ProcessObject& object = process.objects[i];
        object.open_at = way_to(process.pid, object.path, object.base, i == 0);
    }
}

Plan Planning::plan_objects(std::size_t first, bool late) {
    PlanRequest request;
    request.list = list_;
    request.has_executable = !late;
    for (std::size_t i = first; i < process_.objects.size(); ++i) {
        const ProcessObject& object = process_.objects[i];
        request.objects.push_back({object.path, object.build_id, object.base, object.open_at});
        if (is_recorder(object.path)) request.own_objects.push_back(object.path);
    }
    request.own_objects.push_back(process_.own_path);
    request.record_arguments = configuration_.arguments;
    request.unwanted = unwanted_;
    // An object that is being loaded has not been relocated: its resolvers cannot run.
    if (!late) request.resolve_ifunc = [&](std::uint64_t resolver) { return ask_ifunc(shared_, resolver); };
    Plan plan =
        make_cached_plan(request, Catalogue::builtin_fingerprint(), store_,
                         [](const PlanRequest& asked) { return make_plan(asked, Catalogue::builtin()); });
    for (FunctionPlan& function : plan.functions)
        function.object += first;
    return plan;
}

bool Planning::is_new(const std::string& fact) const {
    return !new_in_run(fact, run_, plan_folder()).empty();
}

std::string Planning::unsaid(const std::string& text) const {
    return configuration_.verbose ? text : new_in_run(text, run_, plan_folder());
}

/// Nobody has named a place for the traces, and an earlier program of the run began in another folder: what
/// it has turned into does not know where that was.
bool Planning::has_strayed() const {
    if (has_variable(process_.pid, "RDAM_OUTPUT=")) return false;
    const bool begins = is_new("a program of the run is recorded");
    const bool elsewhere = is_new(std::filesystem::path(configuration_.output).parent_path().string());
    return !begins && elsewhere;
}

Result<void> Planning::start() {
    auto list = wanted(configuration_);
    if (!list) return fail("{}", unsaid(fmt::format("rdam: {}\n", printable(list.error().message))));
    list_ = std::move(*list);
    Plan plan = plan_objects(0, false);
    remarks_ = limit(plan);
    info_.remarks.insert(info_.remarks.end(), remarks_.begin(), remarks_.end());
    describe_all(process_.objects, info_.objects);
    for (const FunctionPlan& function : plan.functions)
        info_.functions.push_back(describe(function, process_, info_.process.max_overhead > 0));
    describe_all(plan.answers, info_.answers);
    note_copied_stacks(0, plan);
    await(plan);
    std::string message =
        variables_text(process_, configuration_) + answer_text(plan, process_, configuration_);
    for (const std::string& remark : info_.remarks)
        message += "rdam: " + remark + "\n";
    message = unsaid(message);
    const auto promising = [](const Answer& answer) {
        return answer.awaits_module || answer.verdict == ListVerdict::wrapped;
    };
    if (plan.functions.empty() && std::ranges::none_of(plan.answers, promising)) return fail("{}", message);
    if (has_strayed())
        message += fmt::format(
            "rdam: the trace goes to {}: the program changed to that directory, and RDAM_OUTPUT is not an "
            "absolute path\n",
            printable(configuration_.output));
    std::vector<NumberedFunction> numbered;
    for (const FunctionPlan& function : plan.functions) {
        const auto number = static_cast<std::uint32_t>(numbered.size());
        process_.numbers.set(number, number);
        note_file(number);
        numbered.push_back({number, &function});
    }
    PlanTexts with = texts(std::move(message), everything());
    with.wrapped = unsaid(wrapped_text(plan, process_, configuration_));
    with.list = list_path();
    if (!write_plan(shared_, process_, numbered, with, 0))
        return fail("rdam: the plan for {} functions is too large: shorten the list\n",
                    plan.functions.size());
    return {};
}

std::string Planning::list_path() const {
    if (!configuration_.functions || !is_list_file(*configuration_.functions)) return {};
    const std::filesystem::path path(*configuration_.functions);
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    return path.is_absolute() || error ? std::string{} : whole.string();
}

/// What the process keeps for its children would grow with every library that comes and goes.
PlanTexts Planning::texts(std::string message, Knowledge news) {
    constexpr std::size_t kAnyway = 1 << 16;
    PlanTexts with{.message = std::move(message), .known = encode(std::move(news))};
    if (told_ == 0 || told_ + with.known.size() > 2 * told_anew_ + kAnyway) {
        with.known = encode(everything());
        with.anew = true;
        told_ = 0;
        told_anew_ = with.known.size();
    }
    told_ += with.known.size();
    return with;
}

std::vector<AwaitedEntry> Planning::awaited() const {
    std::vector<AwaitedEntry> all;
    for (const auto& [entry, module] : awaited_)
        all.push_back({entry, module});
    return all;
}

Knowledge Planning::everything() const {
    Knowledge all{.list = list_.entries,
                  .gone = {},
                  .objects = {},
                  .functions = {},
                  .answers = info_.answers,
                  .awaited = awaited(),
                  .remarks = remarks_};
    std::vector<std::uint32_t> places(info_.objects.size());
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
        if (!loaded_[i]) continue;
        places[i] = static_cast<std::uint32_t>(all.objects.size());
        all.objects.push_back(info_.objects[i]);
    }
    for (std::uint32_t number = 0; number < process_.numbers.end(); ++number) {
        const std::uint32_t function = process_.numbers.function(number);
        if (function == FunctionNumbers::kNone || !is_loaded(function)) continue;
        all.functions.push_back({number, info_.functions[function]});
        all.functions.back().info.object = places[info_.functions[function].object];
    }
    return all;
}

void Planning::learn(const Knowledge& knowledge) {
    list_.entries.insert(list_.entries.end(), knowledge.list.begin(), knowledge.list.end());
    unload(knowledge.gone);
    const auto first = static_cast<std::uint32_t>(info_.objects.size());
    for (const trace::ObjectInfo& object : knowledge.objects)
        add_object({object.path, object.build_id, object.base, object.end});
    for (const auto& [number, function] : knowledge.functions) {
        if (number >= kMaxFunctions || function.object >= knowledge.objects.size()) continue;
        const auto index = static_cast<std::uint32_t>(info_.functions.size());
        info_.functions.push_back(function);
        info_.functions.back().object = first + function.object;
        process_.numbers.set(number, index);
        note_file(index);
    }
    note_answers(knowledge.answers);
    awaited_.clear();
    for (const auto& [entry, module] : knowledge.awaited)
        awaited_.emplace(entry, module);
    remarks_.insert(remarks_.end(), knowledge.remarks.begin(), knowledge.remarks.end());
}

/// The parent's agent may have been gone when libraries were loaded or unloaded.
void Planning::match_objects(const std::vector<ProcessObject>& current) {
    const auto is_in = [](const std::vector<ProcessObject>& objects, const ProcessObject& object) {
        return std::ranges::any_of(objects,
                                   [&](const ProcessObject& each) { return each.base == object.base; });
    };
    for (std::size_t i = 0; i < loaded_.size(); ++i)
        loaded_[i] = loaded_[i] && is_in(current, process_.objects[i]);
    const std::vector<ProcessObject> known = process_.objects;
    for (const ProcessObject& object : current)
        if (!is_in(known, object)) add_object(object);
}

void Planning::add_object(const ProcessObject& object) {
    info_.objects.push_back(describe(object));
    process_.objects.push_back(object);
    loaded_.push_back(true);
}

/// Lines for stderr.
std::string Planning::note_replaced() {
    std::string text;
    for (std::size_t i = 0; i < process_.objects.size(); ++i) {
        const ProcessObject& object = process_.objects[i];
        if (!loaded_[i] || !is_replaced(object)) continue;
        info_.remarks.push_back(
            fmt::format("{}{}in processes that were forked after that, call stacks end at its functions",
                        object.path, trace::kReplaced));
        text += fmt::format("rdam: {}\n", printable(info_.remarks.back()));
    }
    return text;
}

Result<void> Planning::resume() {
    const auto inherited = decode_knowledge(process_.inherited);
    if (!inherited)
        return fail(
            "rdam: the forked process {} is not recorded: the data from its parent's recorder was "
            "overwritten\n",
            process_.pid);
    const std::vector<ProcessObject> current = std::exchange(process_.objects, {});
    loaded_.clear();
    for (const Knowledge& knowledge : *inherited)
        learn(knowledge);
    match_objects(current);
    process_.numbers.use_up();
    note_copied_stacks(0, {});
    info_.remarks.insert(info_.remarks.end(), remarks_.begin(), remarks_.end());
    told_ = told_anew_ = process_.inherited.size();
    const std::string said = unsaid(note_replaced());
    if (!write_plan(shared_, process_, {}, {.message = said}, 0))
        return fail("rdam: the plan area is too small\n");
    return {};
}

bool Planning::is_loaded(std::uint32_t function) const {
    return loaded_[info_.functions[function].object];
}

void Planning::note_file(std::uint32_t function) {
    const trace::FunctionInfo& info = info_.functions[function];
    const ProcessObject& object = process_.objects[info.object];
    if (!object.build_id.empty())
        by_file_.emplace(std::pair(object.path + '\0' + object.build_id, info.address), function);
}

/// The function as it was before its object was unloaded; kNone: it was never there, or still is.
std::uint32_t Planning::known_function(const FunctionPlan& function) const {
    const ProcessObject& object = process_.objects[function.object];
    const auto [begin, end] = by_file_.equal_range({object.path + '\0' + object.build_id, function.address});
    for (auto known = begin; known != end; ++known)
        if (!is_loaded(known->second)) return known->second;
    return FunctionNumbers::kNone;
}

/// What is unread is about the function that had the number when it was recorded.
void Planning::recycle(const FunctionsLeft& left) {
    const auto counted = counted_numbers(shared_.control());
    if (!counted) return;
    FunctionNumbers& numbers = process_.numbers;
    for (std::uint32_t number = 0; number < numbers.end(); ++number) {
        const std::uint32_t function = numbers.function(number);
        if (left.has(number) || (function != FunctionNumbers::kNone && is_loaded(function))) continue;
        // A counter's function does not change.
        if (std::ranges::find(*counted, number) != counted->end()) continue;
        numbers.release(number);
        released_.push_back(number);
    }
}

/// Nothing: it is skipped.
std::optional<FunctionNumbers::Given> Planning::number_for(const FunctionPlan& function,
                                                           const Unread& unread) {
    FunctionNumbers& numbers = process_.numbers;
    const std::uint32_t known = known_function(function);
    const bool is_new = known == FunctionNumbers::kNone;
    const auto index = is_new ? static_cast<std::uint32_t>(info_.functions.size()) : known;
    std::optional<FunctionNumbers::Given> given;
    if (const std::uint32_t before = numbers.number(index); before != FunctionNumbers::kNone)
        given = {.number = before, .anew = false};
    else
        given = numbers.give(index);
    if (!given && !std::exchange(recycled_, true)) {
        recycle(unread());
        given = numbers.give(index);
    }
    if (!given) {
        if (!std::exchange(said_full_, true))
            info_.remarks.push_back(fmt::format(
                "functions of libraries loaded later were skipped: rdam can wrap {} in a process at a time",
                kMaxFunctions));
        return {};
    }
    if (is_new) {
        info_.functions.push_back(describe(function, process_, info_.process.max_overhead > 0));
        note_file(index);
    }
    info_.functions[index].object = static_cast<std::uint32_t>(function.object);
    return given;
}

void Planning::note_answers(const std::vector<trace::AnswerInfo>& answers) {
    const auto is = [](const trace::AnswerInfo& answer, ListVerdict verdict) {
        return answer.verdict == static_cast<std::uint8_t>(verdict);
    };
    for (const trace::AnswerInfo& answer : answers) {
        std::erase_if(info_.answers, [&](const trace::AnswerInfo& before) {
            return before.entry == answer.entry && is(before, ListVerdict::not_found);
        });
        // That a library has what another had is no news, and there may be thousands.
        const auto is_same = [&](const trace::AnswerInfo& before) {
            return before.entry == answer.entry && is(before, ListVerdict::wrapped);
        };
        if (!is(answer, ListVerdict::wrapped) || std::ranges::none_of(info_.answers, is_same))
            info_.answers.push_back(answer);
    }
}

void Planning::await(const Plan& plan) {
    for (const Answer& answer : plan.answers)
        if (answer.awaits_module && !names_any_module(answer.entry.scope))
            awaited_.emplace(answer.entry.text, answer.entry.scope);
}

/// What a library does not have is news when it is the one that an entry has waited for.
void Planning::drop_known_misses(Plan& plan) {
    std::set<std::string> come;
    for (const Answer& answer : plan.answers)
        if (!answer.awaits_module && awaited_.erase(answer.entry.text) > 0) come.insert(answer.entry.text);
    std::erase_if(plan.answers, [&](const Answer& answer) {
        return answer.verdict == ListVerdict::not_found && !come.contains(answer.entry.text);
    });
}

/// Looks at the objects from `first` on.
void Planning::note_copied_stacks(std::size_t first, const Plan& plan) {
    std::string& library = info_.process.copied_stacks;
    for (std::size_t i = first; i < process_.objects.size() && library.empty(); ++i)
        library = stacks_copied_by_object(process_.objects[i].path);
    for (const FunctionPlan& function : plan.functions)
        if (library.empty()) library = stacks_copied_by_function(function.name);
}

void Planning::unload(const std::vector<std::uint64_t>& bases) {
    for (std::size_t i = 0; i < process_.objects.size(); ++i)
        if (std::ranges::find(bases, process_.objects[i].base) != bases.end()) loaded_[i] = false;
}

bool Planning::replaces_objects(const ObjectChange& change) const {
    return !change.gone.empty() || !std::ranges::all_of(loaded_, std::identity{});
}

std::vector<ProcessObject> Planning::change(ObjectChange change, std::uint32_t serial, const Unread& unread) {
    Knowledge news;
    news.gone = change.gone;
    unload(change.gone);
    recycled_ = false;
    const std::size_t first = process_.objects.size();
    for (ProcessObject& object : change.added) {
        object.path = absolute_path(process_.pid, object.path, object.base);
        object.open_at = way_to(process_.pid, object.path, object.base, false);
        add_object(object);
    }
    Plan plan = plan_objects(first, true);
    note_copied_stacks(first, plan);
    drop_known_misses(plan);
    const std::size_t known = info_.functions.size();
    std::vector<NumberedFunction> numbered;
    for (const FunctionPlan& function : plan.functions)
        if (const auto given = number_for(function, unread))
            numbered.push_back({given->number, &function, given->anew});
    news.objects.assign(info_.objects.begin() + static_cast<std::ptrdiff_t>(first), info_.objects.end());
    for (const NumberedFunction& function : numbered) {
        news.functions.push_back(
            {function.number, info_.functions[process_.numbers.function(function.number)]});
        news.functions.back().info.object -= static_cast<std::uint32_t>(first);
    }
    describe_all(plan.answers, news.answers);
    news.awaited = awaited();
    note_answers(news.answers);
    // A library that comes back is no news.
    const bool is_new = configuration_.verbose || plan.functions.empty() || info_.functions.size() > known;
    auto [message, wrapped] = is_new ? late_texts(plan) : std::pair<std::string, std::string>{};
    PlanTexts with = texts(std::move(message), std::move(news));
    with.wrapped = std::move(wrapped);
    write_plan(shared_, process_, numbered, with, serial);
    return std::move(change.added);
}

/// What became of the list in libraries that were loaded later, and how many functions are wrapped. A program
/// that generates libraries loads thousands.
std::pair<std::string, std::string> Planning::late_texts(const Plan& plan) {
    constexpr std::size_t kMost = 20;
    if (late_ > kMost && !configuration_.verbose) return {};
    std::string answers = late_answer_text(plan, configuration_);
    std::string wrapped = late_wrapped_text(plan, process_, configuration_);
    if (answers.empty() && wrapped.empty()) return {};
    if (++late_ > kMost && !configuration_.verbose) return {further_libraries_text(configuration_), {}};
    return {unsaid(answers), unsaid(wrapped)};
}

std::string Planning::awaited_text() const {
    if (awaited_.empty() || (!configuration_.first && !configuration_.verbose)) return {};
    // For many processes of one program, such as the ranks of a job, one line is enough.
    if (!configuration_.verbose && !is_new("libraries never loaded by " + process_.executable)) return {};
    return never_loaded_text(awaited_, process_);
}

void Planning::refuse_change(std::uint32_t serial) {
    write_plan(shared_, process_, {},
               {.message = "rdam: libraries that have just been loaded are not recorded: the program wrote "
                           "into the recorder's memory\n"},
               serial);
}

}  // namespace rdam::agent
