// The kinds of hints. A new one: a function here, in a file of its own, and a line in `kKinds` (hints.cpp).
#pragma once

#include <optional>

#include "analyzer/hints/loss_part.h"
#include "analyzer/report/report.h"

namespace rdam::hints {

/// `parameter`: the time goes with a parameter, the caller or the return value; `parameter_or_time`: the
/// same, but the variable cannot be distinguished from the time of the run; `early_return`: the return value
/// separates fast calls from slow ones.
void find_parameters(const LossPart& loss, Hints& hints);
/// `parameter`, of two of them or of one and the number of calls so far: only where `hints` has none yet. Part of
/// find_parameters().
void find_pairs(const LossPart& loss, Hints& hints);
/// `first_touch`: calls that are given a page for the first time are the slow ones.
void find_first_touch(const LossPart& loss, Hints& hints);
/// `trend`: the loss grows, or falls, all through the run. Not where a parameter that goes with time says so.
void find_trend(const LossPart& loss, Hints& hints);
/// `two_times`: the calls take one of two times. For where nothing but time off the processor was found.
void find_two_times(const LossPart& loss, Hints& hints);

/// `warm_up`: the first calls of each thread; `phase`: the loss is confined to an interval of the run, where
/// `hints` has no `trend`.
void find_times(const LossPart& loss, Hints& hints);
/// `processor`: calls are slow on some processors; `migration`: calls that changed the processor.
void find_processors(const LossPart& loss, Hints& hints);

/// `more_work`, `busy_wait`: calls that lose time execute more instructions; `slower_work`: they take longer
/// for the same. Only where instructions were counted.
void find_instructions(const LossPart& loss, Hints& hints);

/// `concurrent`: a function that another thread is inside while calls are slow.
void find_concurrent_functions(const LossPart& loss, Hints& hints);
/// `waited`: waits that were recorded apart from the calls.
void find_waits(const LossPart& loss, Hints& hints);
/// `blocked`, `preempted`: the loss is time off the processor.
void find_off_processor(const LossPart& loss, Hints& hints);
/// `waits` or `no_parameter`: the variables that were examined and explain less than half. `hints`: the other
/// findings. Needs LossPart::explained, as the other finders filled it.
Hint unexplained(const LossPart& loss, const Hints& hints);
/// The part of the loss `whole` that was lost on processors, which is what `on` is about; 0…1.
double on_processor_share(const LossPart& whole, const LossPart& on);
/// How much of the loss was off the processors; nothing: too few calls during which context switches were
/// recorded.
std::optional<OffShare> off_share(const LossPart& loss);

}  // namespace rdam::hints
