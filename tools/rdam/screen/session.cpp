#include "tools/rdam/screen/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/report/bars.h"
#include "analyzer/report/regroup.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/report/scores.h"
#include "analyzer/sequences/keys.h"
#include "analyzer/settings/settings.h"
#include "tools/rdam/screen/rule_changes.h"
#include "tools/trace/clock.h"

namespace rdam::feedback {
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
};

std::unique_ptr<Scored> score_threads(std::shared_ptr<const Kept> kept, score::ResolvedSettings settings) {
    auto scored = std::make_unique<Scored>(std::move(kept));
    const Kept& from = *scored->kept;
    settings.most_sampled = from.settings.most_sampled;
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
    calls::Absences off_cpu;
    Progress progress;
    score::Settings settings = {};
    std::unique_ptr<Scored> scored = nullptr;
    std::shared_ptr<const Kept> previous = nullptr;  ///< what the last reading replaced: undo() asks for it
    std::vector<Step> steps = {};
    rules::Rules saved = {};

    const trace::TraceInfo& info() const { return reader.info(); }

    Result<std::shared_ptr<const Kept>> read(const score::Settings& with, score::ResolvedSettings resolved) {
        resolved = score::with_samples(info(), score::with_candidates(info(), std::move(resolved)));
        auto trace = score::read_trace(reader, off_cpu, resolved, with.selection, with.jobs, progress);
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
    const bool by_result = std::ranges::any_of(keys, &mining::KeyWord::is_result);
    if (by_result || (!function.result.empty() && function.result[0].key))
        choices.push_back({.name = mining::kResultName, .parameter = mining::kResultKey});
    choices.push_back({.name = "caller", .parameter = mining::kCallerKey});
    for (KeyChoice& choice : choices)
        choice.is_key = std::ranges::find(keys, choice.parameter, &mining::KeyWord::parameter) != keys.end();
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
    auto off_cpu = calls::Absences::of(reader);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    auto model = std::make_unique<Model>(
        Model{.reader = reader, .off_cpu = std::move(*off_cpu), .progress = std::move(progress)});
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
    page.hints = std::move(hints::find_hints(info(), report).front());
    page.row = std::move(report.functions.front());
    page.keys = model_->key_choices(function, page.hints.explained);
    page.bars = score::bars_of(scores.durations(function), trace::nanoseconds_per_tick(info().clock), bars);
    return page;
}

Result<Effect> Session::set_key(std::uint32_t function, std::uint16_t parameter, bool is_key) {
    score::Settings to = settings();
    feedback::set_key(info(), function, parameter, is_key, to.rules);
    const trace::FunctionInfo& named = info().functions[function];
    const std::string key = parameter == mining::kCallerKey   ? std::string{"its caller"}
                            : parameter == mining::kResultKey ? std::string{mining::kResultName}
                                                              : named.parameters[parameter].name;
    return model_->change(
        to, fmt::format("{}{} as a key of {}", is_key ? "" : "no longer ", key, rule_name(info(), function)));
}

Result<Effect> Session::set_ignored(std::uint32_t function, bool ignored) {
    score::Settings to = settings();
    feedback::set_ignored(info(), function, ignored, to.rules);
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

}  // namespace rdam::feedback
