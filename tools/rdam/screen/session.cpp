#include "tools/rdam/screen/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/output/symbols.h"
#include "analyzer/report/function_row.h"
#include "analyzer/report/regroup.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/report/scores.h"
#include "analyzer/sequences/keys.h"
#include "tools/base/in_parallel.h"
#include "tools/trace/clock.h"

namespace rdam::screen {
namespace {

constexpr std::size_t kListedSequences = 1000;

/// What the trace came to when it was last read.
struct Kept {
    score::ResolvedSettings settings;
    score::AnalyzedTrace trace;
};

bool answers(const Kept& kept, const score::ResolvedSettings& wanted) {
    return score::same_groups(kept.settings, wanted) || score::can_regroup(kept.trace, kept.settings, wanted);
}

/// The scores with one choice of settings. Not movable: the scores refer to the rest.
struct Scored {
    explicit Scored(std::shared_ptr<const Kept> from) : kept(std::move(from)) {}

    std::shared_ptr<const Kept> kept;
    score::ResolvedSettings settings;
    score::ThreadList regrouped;  ///< empty: those that were kept are as they should be
    std::unique_ptr<score::Scores> scores;
    score::Report report;
    std::optional<hints::Analysis> analysis = {};
};

std::unique_ptr<Scored> score_threads(std::shared_ptr<const Kept> kept, score::ResolvedSettings settings) {
    auto scored = std::make_unique<Scored>(std::move(kept));
    const Kept& from = *scored->kept;
    settings.max_sampled = from.settings.max_sampled;
    scored->settings = std::move(settings);
    const bool as_kept = score::same_groups(from.settings, scored->settings);
    if (!as_kept) scored->regrouped = score::regroup(from.trace, from.settings, scored->settings);
    scored->scores =
        std::make_unique<score::Scores>(from.trace.facts(), scored->settings,
                                        as_kept ? from.trace.threads : scored->regrouped, kListedSequences);
    scored->report = score::leave_out(from.trace, scored->scores->report(0, false));
    return scored;
}

/// What is given becomes part of the rules, which is where changes go.
score::Settings all_in_rules(const trace::TraceInfo& info, score::Settings settings) {
    settings.rules = combined_rules(info, settings);
    settings.given = {};
    settings.patterns = false;
    return settings;
}

rules::Rules rules_of(const score::Settings& settings) {
    const score::Settings usual;
    rules::Rules rules{.named = settings.rules};
    if (settings.sequences.deep_keys) rules.deep_keys = true;
    if (settings.sequences.fold_loops) rules.fold_loops = true;
    if (settings.baseline != usual.baseline) rules.baseline = to_text(settings.baseline);
    if (settings.threshold != usual.threshold) rules.threshold = settings.threshold;
    return rules;
}

}  // namespace

struct Session::Model {
    /// What a change replaced.
    struct Step {
        score::Settings before;
        std::string change;
    };

    const trace::TraceReader& reader;
    Progress progress;
    hints::AddressNames names = output::address_names(reader.info());
    score::Settings settings = {};
    std::unique_ptr<Scored> scored = nullptr;
    std::shared_ptr<const Kept> previous = nullptr;  ///< what the last reading replaced: undo() asks for it
    std::vector<Step> steps = {};
    rules::Rules saved = {};

    const trace::TraceInfo& info() const { return reader.info(); }

    Result<std::shared_ptr<const Kept>> read(const score::Settings& with, score::ResolvedSettings resolved) {
        resolved = score::with_samples(info(), score::with_candidates(info(), std::move(resolved)));
        auto trace = score::read_trace(reader, resolved, with, progress);
        if (!trace) return tl::unexpected{trace.error()};
        return std::make_shared<const Kept>(Kept{std::move(resolved), std::move(*trace)});
    }

    Result<Effect> apply(const score::Settings& to) {
        auto wanted = score::resolve(info(), to);
        if (!wanted) return tl::unexpected{wanted.error()};
        if (scored && answers(*scored->kept, *wanted)) {
            scored = score_threads(scored->kept, std::move(*wanted));
        } else if (previous && answers(*previous, *wanted)) {
            previous.swap(scored->kept);
            scored = score_threads(scored->kept, std::move(*wanted));
        } else {
            auto kept = read(to, *wanted);
            if (!kept) return tl::unexpected{kept.error()};
            if (scored) previous = scored->kept;
            scored = score_threads(std::move(*kept), std::move(*wanted));
            settings = to;
            return Effect::reread;
        }
        settings = to;
        return Effect::rescored;
    }

    Result<Effect> change(const score::Settings& to, std::string what) {
        if (rules_of(to) == rules_of(settings)) return Effect::nothing;
        score::Settings before = settings;
        auto done = apply(to);
        if (done) steps.push_back({std::move(before), std::move(what)});
        return done;
    }

    std::vector<KeyChoice> key_choices(std::uint32_t number,
                                       const std::vector<hints::Explained>& explained) const;
};

std::vector<KeyChoice> Session::Model::key_choices(std::uint32_t number,
                                                   const std::vector<hints::Explained>& explained) const {
    const trace::FunctionInfo& function = info().functions[number];
    const auto& keys = scored->settings.keys[number];
    std::vector<KeyChoice> choices;
    for (std::size_t p = 0; p < function.parameters.size(); ++p)
        choices.push_back({.name = function.parameters[p].name, .parameter = static_cast<std::uint16_t>(p)});
    const bool by_result = std::ranges::any_of(keys, &sequences::KeyWord::is_result);
    if (by_result || (!function.result.empty() && function.result[0].key))
        choices.push_back({.name = sequences::kResultName, .parameter = sequences::kResultKey});
    choices.push_back({.name = "caller", .parameter = sequences::kCallerKey});
    for (KeyChoice& choice : choices)
        choice.is_key =
            std::ranges::find(keys, choice.parameter, &sequences::KeyWord::parameter) != keys.end();
    for (KeyChoice& choice : choices) {
        const auto asked = std::ranges::find(explained, choice.name, &hints::Explained::name);
        if (asked == explained.end() || choice.is_key) continue;
        choice.explains = asked->explains;
        choice.rdam_with_key = asked->rdam_with_key;
    }
    return choices;
}

Session::Session(std::unique_ptr<Model> model) : model_(std::move(model)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(const trace::TraceReader& reader, score::Settings settings,
                                               Progress progress) {
    if (auto resolved = score::resolve(reader.info(), settings); !resolved)
        return tl::unexpected{resolved.error()};
    auto model = std::make_unique<Model>(Model{.reader = reader, .progress = std::move(progress)});
    if (auto done = model->apply(all_in_rules(reader.info(), std::move(settings))); !done)
        return tl::unexpected{done.error()};
    model->saved = rules_of(model->settings);
    return std::unique_ptr<Session>{new Session{std::move(model)}};
}

const trace::TraceInfo& Session::info() const {
    return model_->info();
}
const score::Report& Session::report() const {
    return model_->scored->report;
}
const score::Settings& Session::settings() const {
    return model_->settings;
}

const hints::Analysis& Session::analysis() {
    Scored& scored = *model_->scored;
    if (!scored.analysis)
        scored.analysis =
            hints::explain(info(), score::leave_out(scored.kept->trace, scored.scores->report(0)),
                           model_->names, score::threads_for(settings().jobs));
    return *scored.analysis;
}
const hints::Analysis* Session::known_analysis() const {
    const auto& known = model_->scored->analysis;
    return known ? &*known : nullptr;
}

std::vector<std::uint32_t> Session::ignored() const {
    const std::vector<bool>& ignored = model_->scored->settings.ignored;
    std::vector<std::uint32_t> functions;
    for (std::uint32_t f = 0; f < ignored.size(); ++f)
        if (ignored[f]) functions.push_back(f);
    return functions;
}

Result<FunctionPage> Session::page(std::uint32_t function, std::size_t bars) {
    const score::Scores& scores = *model_->scored->scores;
    score::Report report = scores.report_on(function);
    if (report.functions.empty())
        return fail("{}: has no calls; choose a function of the ranking", info().functions[function].name);
    FunctionPage page;
    page.hints = std::move(hints::find_hints(info(), report, model_->names).front());
    page.row = std::move(report.functions.front());
    page.keys = model_->key_choices(function, page.hints.explained);
    page.bars = score::bars_of(scores.durations(function), trace::nanoseconds_per_tick(info().clock), bars);
    return page;
}

Result<Effect> Session::set_key(std::uint32_t function, std::uint16_t parameter, bool is_key) {
    score::Settings to = settings();
    screen::set_key(info(), function, parameter, is_key, to.rules);
    const trace::FunctionInfo& named = info().functions[function];
    const std::string key = parameter == sequences::kCallerKey   ? std::string{"its caller"}
                            : parameter == sequences::kResultKey ? std::string{sequences::kResultName}
                                                                 : named.parameters[parameter].name;
    return model_->change(
        to, fmt::format("{}{} as a key of {}", is_key ? "" : "no longer ", key, rule_name(info(), function)));
}

Result<Effect> Session::set_ignored(std::uint32_t function, bool ignored) {
    score::Settings to = settings();
    screen::set_ignored(info(), function, ignored, to.rules);
    return model_->change(to, (ignored ? "ignore " : "no longer ignore ") + rule_name(info(), function));
}

Result<Effect> Session::set_fold_loops(bool fold) {
    score::Settings to = settings();
    to.sequences.fold_loops = fold;
    return model_->change(to, fold ? "fold loops" : "unfold loops");
}

Result<Effect> Session::set_deep_keys(bool deep) {
    score::Settings to = settings();
    to.sequences.deep_keys = deep;
    return model_->change(to, deep ? "deep keys" : "no deep keys");
}

Result<Effect> Session::set_baseline(score::Baseline baseline) {
    score::Settings to = settings();
    to.baseline = baseline;
    return model_->change(to, "baseline " + to_text(baseline));
}

Result<Effect> Session::set_threshold(double threshold) {
    score::Settings to = settings();
    to.threshold = threshold;
    return model_->change(to, fmt::format("threshold {:.2f}", threshold));
}

Result<Effect> Session::undo() {
    if (model_->steps.empty()) return Effect::nothing;
    auto done = model_->apply(model_->steps.back().before);
    if (done) model_->steps.pop_back();
    return done;
}

std::string Session::last_change() const {
    return model_->steps.empty() ? std::string{} : model_->steps.back().change;
}

bool Session::has_unsaved_changes() const {
    return rules() != model_->saved;
}

void Session::mark_saved() {
    model_->saved = rules();
}

rules::Rules Session::rules() const {
    return rules_of(settings());
}

namespace {

using Functions = std::vector<std::uint32_t>;

Functions functions_called(const trace::TraceInfo& info, std::string_view name) {
    auto found = sequences::find_functions(info, name);
    return found ? std::move(*found) : Functions{};
}

/// The functions that cannot be distinguished from it by name.
Functions with_namesakes(const trace::TraceInfo& info, std::uint32_t function) {
    return functions_called(info, rule_name(info, function));
}

bool contains(const Functions& functions, std::uint32_t function) {
    return std::ranges::find(functions, function) != functions.end();
}

void add(std::vector<std::string>& list, std::string entry) {
    if (std::ranges::find(list, entry) == list.end()) list.push_back(std::move(entry));
}

std::string parameter_name(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter) {
    return rule_name(info, function) + ":" +
           (parameter == sequences::kResultKey ? sequences::kResultName
                                               : info.functions[function].parameters[parameter].name);
}

/// What an entry says of one function, or of one parameter of one.
struct Part {
    sequences::ParameterPlace place;
    std::string entry;
};
using Parts = std::function<std::vector<Part>(const std::string& entry)>;

/// Takes every entry out that is about a part that `concerns`, and puts its other parts in its place.
void remove(std::vector<std::string>& list, const Parts& parts,
            const std::function<bool(const Part&)>& concerns) {
    std::vector<std::string> changed;
    for (std::string& entry : list) {
        const std::vector<Part> all = parts(entry);
        if (std::ranges::none_of(all, concerns)) {
            add(changed, std::move(entry));
            continue;
        }
        for (const Part& part : all)
            if (!concerns(part)) add(changed, part.entry);
    }
    list = std::move(changed);
}

std::vector<Part> function_parts(const trace::TraceInfo& info, const std::string& entry) {
    std::vector<Part> parts;
    for (const std::uint32_t function : functions_called(info, entry))
        parts.push_back({{function, 0}, rule_name(info, function)});
    return parts;
}

std::vector<Part> key_parts(const trace::TraceInfo& info, const std::string& entry) {
    std::vector<Part> parts;
    const auto places = sequences::find_parameters(info, entry);
    if (!places) return parts;
    for (const sequences::ParameterPlace& place : *places)
        parts.push_back({place, parameter_name(info, place.function, place.parameter)});
    return parts;
}

void set_function(const trace::TraceInfo& info, std::uint32_t function, bool value,
                  std::vector<std::string>& list) {
    const Functions same = with_namesakes(info, function);
    remove(
        list, [&](const std::string& entry) { return function_parts(info, entry); },
        [&](const Part& part) { return contains(same, part.place.function); });
    if (value) add(list, rule_name(info, function));
}

bool is_key(const trace::TraceInfo& info, const score::NamedRules& rules, std::uint32_t function,
            std::uint16_t parameter) {
    const score::NamedRules known = score::known_rules(info, rules);
    const auto table = sequences::make_keys(info, {{known.keys, known.no_keys, known.split_by_context}});
    return table && std::ranges::any_of((*table)[function], [&](const sequences::KeyWord& key) {
               return key.parameter == parameter;
           });
}

void set_parameter(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter, bool value,
                   score::NamedRules& rules) {
    const std::string entry = parameter_name(info, function, parameter);
    for (std::vector<std::string>* list : {&rules.keys, &rules.no_keys})
        remove(
            *list, [&](const std::string& text) { return key_parts(info, text); },
            [&](const Part& part) { return part.entry == entry; });
    if (is_key(info, rules, function, parameter) == value) return;
    add(value ? rules.keys : rules.no_keys, entry);
}

}  // namespace

std::string rule_name(const trace::TraceInfo& info, std::uint32_t function) {
    const trace::FunctionInfo& named = info.functions[function];
    if (named.module.empty() || functions_called(info, named.name).size() == 1) return named.name;
    return named.module + ":" + named.name;
}

void set_key(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter, bool is_key,
             score::NamedRules& rules) {
    if (parameter == sequences::kCallerKey)
        set_function(info, function, is_key, rules.split_by_context);
    else
        set_parameter(info, function, parameter, is_key, rules);
}

void set_ignored(const trace::TraceInfo& info, std::uint32_t function, bool ignored,
                 score::NamedRules& rules) {
    set_function(info, function, ignored, rules.ignore);
}

score::NamedRules combined_rules(const trace::TraceInfo& info, const score::Settings& settings) {
    score::NamedRules rules = settings.rules;
    const auto set_keys = [&](const std::vector<std::string>& entries, bool value) {
        for (const std::string& entry : entries)
            for (const sequences::ParameterPlace& place :
                 sequences::find_parameters(info, entry).value_or(std::vector<sequences::ParameterPlace>{}))
                set_key(info, place.function, place.parameter, value, rules);
    };
    set_keys(settings.given.keys, true);
    set_keys(settings.given.no_keys, false);
    for (const std::string& name : settings.given.split_by_context)
        add(rules.split_by_context, name);
    for (const std::string& name : settings.given.ignore)
        add(rules.ignore, name);
    for (const std::string& partners : settings.given.given_back_by)
        add(rules.given_back_by, partners);
    for (const std::string& partners : settings.given.woken_by)
        add(rules.woken_by, partners);
    return rules;
}

}  // namespace rdam::screen
