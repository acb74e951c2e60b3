#include "analyzer/feedback/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/feedback/rule_changes.h"
#include "analyzer/hints/hints.h"
#include "analyzer/hints/off_times.h"
#include "analyzer/mining/keys.h"
#include "analyzer/score/analyze.h"

namespace rdam::feedback {

struct Session::Model {
    const trace::TraceReader& reader;
    Progress progress;
    score::Settings settings;
    score::Report report = {};
    std::vector<std::pair<score::Settings, std::string>> steps = {};
    std::size_t saved = 0;
    bool beyond = false;

    Result<void> read(const score::Settings& with) {
        score::Settings all = with;
        all.threshold = 0;
        auto read = score::analyze(reader, all, {.samples = true, .progress = progress});
        if (!read) return tl::unexpected{read.error()};
        if (auto known = hints::add_off_times(reader, *read); !known) return known;
        hints::add_hints(reader.info(), *read);
        read->threshold = with.threshold;
        report = std::move(*read);
        settings = with;
        return {};
    }
    Result<Effect> change(score::Settings to, std::string what) {
        score::Settings before = settings;
        if (auto done = read(to); !done) return tl::unexpected{done.error()};
        steps.emplace_back(std::move(before), std::move(what));
        return Effect::reread;
    }
};

Session::Session(std::unique_ptr<Model> model) : model_(std::move(model)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(const trace::TraceReader& reader, score::Settings settings,
                                               Progress progress) {
    if (auto resolved = score::resolve(reader.info(), settings); !resolved)
        return tl::unexpected{resolved.error()};
    settings.rules = combined_rules(reader.info(), settings);
    settings.keys.clear();
    settings.no_keys.clear();
    settings.split_by_context.clear();
    settings.ignore.clear();
    settings.patterns = false;
    auto model =
        std::make_unique<Model>(Model{.reader = reader, .progress = std::move(progress), .settings = {}});
    if (auto done = model->read(settings); !done) return tl::unexpected{done.error()};
    return std::unique_ptr<Session>{new Session{std::move(model)}};
}

const trace::TraceInfo& Session::info() const {
    return model_->reader.info();
}
const score::Report& Session::report() const {
    return model_->report;
}
const score::Settings& Session::settings() const {
    return model_->settings;
}

std::vector<std::uint32_t> Session::ignored() const {
    std::vector<std::uint32_t> functions;
    const auto resolved = score::resolve(info(), settings());
    for (std::uint32_t f = 0; resolved && f < resolved->ignored.size(); ++f)
        if (resolved->ignored[f]) functions.push_back(f);
    return functions;
}

FunctionPage Session::page(std::uint32_t function, std::size_t bars) {
    FunctionPage page;
    for (const score::FunctionRow& row : report().functions)
        if (row.function == function) page.row = row;
    const auto resolved = score::resolve(info(), settings());
    const auto is_key = [&](std::uint16_t parameter) {
        return std::ranges::any_of(resolved->keys[function],
                                   [&](const auto& key) { return key.parameter == parameter; });
    };
    const auto add = [&](const std::string& name, std::uint16_t parameter) {
        KeyChoice choice{.name = name, .parameter = parameter, .is_key = is_key(parameter)};
        for (const score::Hint& hint : page.row.hints) {
            if (hint.parameter != name) continue;
            choice.explains = hint.explains;
            choice.rdam_with_key = hint.rdam_with_key;
        }
        page.keys.push_back(std::move(choice));
    };
    const trace::FunctionInfo& named = info().functions[function];
    for (std::size_t p = 0; p < named.parameters.size(); ++p)
        add(named.parameters[p].name, static_cast<std::uint16_t>(p));
    add("caller", mining::kCallerKey);
    const double low = std::max(page.row.min_ns, 1.0), high = std::max(page.row.max_ns, low) * 1.0001;
    for (std::size_t i = 0; i <= bars; ++i) {
        const double edge = low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(bars));
        if (i > 0) page.bars.back().to_ns = edge;
        if (i < bars) page.bars.push_back({edge, 0, 0});
    }
    for (const score::SampledCall& call : page.row.sample.calls)
        for (Bar& bar : page.bars)
            if (call.duration_ns >= bar.from_ns && call.duration_ns < bar.to_ns)
                bar.calls += static_cast<std::uint64_t>(call.weight);
    return page;
}

Result<Effect> Session::set_key(std::uint32_t function, std::uint16_t parameter, bool is_key) {
    score::Settings to = settings();
    feedback::set_key(info(), function, parameter, is_key, to.rules);
    return model_->change(std::move(to), "key");
}
Result<Effect> Session::set_ignored(std::uint32_t function, bool ignored) {
    score::Settings to = settings();
    feedback::set_ignored(info(), function, ignored, to.rules);
    return model_->change(std::move(to), "ignore");
}
Result<Effect> Session::set_fold_loops(bool fold) {
    score::Settings to = settings();
    to.sequences.fold_loops = fold;
    return model_->change(std::move(to), "fold loops");
}
Result<Effect> Session::set_deep_keys(bool deep) {
    score::Settings to = settings();
    to.sequences.deep_keys = deep;
    return model_->change(std::move(to), "deep keys");
}
Result<Effect> Session::set_baseline(score::Baseline baseline) {
    score::Settings to = settings();
    to.baseline = baseline;
    return model_->change(std::move(to), "baseline");
}
Result<Effect> Session::set_threshold(double threshold) {
    score::Settings to = settings();
    to.threshold = threshold;
    return model_->change(std::move(to), "threshold");
}

Result<Effect> Session::undo() {
    if (model_->steps.empty()) return Effect::nothing;
    if (auto done = model_->read(model_->steps.back().first); !done) return tl::unexpected{done.error()};
    model_->steps.pop_back();
    return Effect::reread;
}
std::string Session::last_change() const {
    return model_->steps.empty() ? std::string{} : model_->steps.back().second;
}
bool Session::has_unsaved_changes() const {
    return model_->steps.size() != model_->saved;
}
void Session::mark_saved() {
    model_->saved = model_->steps.size();
}

rules::Rules Session::rules() const {
    rules::Rules rules{.named = settings().rules};
    if (settings().sequences.deep_keys) rules.deep_keys = true;
    if (settings().sequences.fold_loops) rules.fold_loops = true;
    return rules;
}

}  // namespace rdam::feedback
