#!/usr/bin/python3
"""The statistics of rdam study against published examples and what R 4.2.2 prints for its own data sets."""

import math
import os
import pathlib
import subprocess
import sys
import unittest

from pythons import MODULE

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True

import numpy  # noqa: E402
from rdam.study import causes, results, series, verdicts  # noqa: E402
from rdam.study.verdicts import OneSided, Runs  # noqa: E402

BENCH = pathlib.Path(os.environ["SOURCE_ROOT"]) / "microbench/verdicts"

# R's data sets. Student's sleep: hours of additional sleep (10 are added: ratios need positive values, and none of the tests an origin).
SLEEP = numpy.array([[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]]) + 10
DIST = numpy.array([2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40, 32, 40, 50, 42, 56,
                    76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85])  # cars$dist
NILE = numpy.array([
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260,
    1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845,
    864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
    744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740])
SPRAYS = {"A": [10, 7, 20, 14, 14, 12, 10, 23, 17, 20, 14, 13], "B": [11, 17, 21, 11, 16, 14, 17, 17, 19, 21, 7, 13],
          "C": [0, 1, 7, 2, 3, 1, 2, 1, 3, 0, 1, 4], "D": [3, 5, 12, 6, 4, 3, 5, 5, 5, 5, 2, 4],
          "F": [11, 9, 15, 22, 15, 16, 13, 10, 26, 26, 24, 13]}  # InsectSprays$count
ERUPTIONS = numpy.array([
    3.6, 1.8, 3.333, 2.283, 4.533, 2.883, 4.7, 3.6, 1.95, 4.35, 1.833, 3.917, 4.2, 1.75, 4.7, 2.167, 1.75, 4.8, 1.6, 4.25, 1.8, 1.75, 3.45, 3.067,
    4.533, 3.6, 1.967, 4.083, 3.85, 4.433, 4.3, 4.467, 3.367, 4.033, 3.833, 2.017, 1.867, 4.833, 1.833, 4.783, 4.35, 1.883, 4.567, 1.75, 4.533,
    3.317, 3.833, 2.1, 4.633, 2, 4.8, 4.716, 1.833, 4.833, 1.733, 4.883, 3.717, 1.667, 4.567, 4.317])  # the first 60 of faithful$eruptions
SWISS = {
    "Fertility": [80.2, 83.1, 92.5, 85.8, 76.9, 76.1, 83.8, 92.4, 82.4, 82.9, 87.1, 64.1, 66.9, 68.9, 61.7, 68.3, 71.7, 55.7, 54.3, 65.1, 65.5, 65,
                  56.6, 57.4, 72.5, 74.2, 72, 60.5, 58.3, 65.4, 75.5, 69.3, 77.3, 70.5, 79.4, 65, 92.2, 79.3, 70.4, 65.7, 72.7, 64.4, 77.6, 67.6,
                  35, 44.7, 42.8],
    "Education": [12, 9, 5, 7, 15, 7, 7, 8, 7, 13, 6, 12, 7, 12, 5, 2, 8, 28, 20, 9, 10, 3, 12, 6, 1, 8, 3, 10, 19, 8, 2, 6, 2, 6, 3, 9, 3, 13, 12,
                  11, 13, 32, 7, 7, 53, 29, 29],
    "Catholic": [9.96, 84.84, 93.4, 33.77, 5.16, 90.57, 92.85, 97.16, 97.67, 91.38, 98.61, 8.52, 2.27, 4.43, 2.82, 24.2, 3.3, 12.11, 2.15, 2.84,
                 5.23, 4.52, 15.14, 4.2, 2.4, 5.23, 2.56, 7.72, 18.46, 6.1, 99.71, 99.68, 100, 98.96, 98.22, 99.06, 99.46, 96.83, 5.62, 13.79,
                 11.22, 16.92, 4.97, 8.65, 42.34, 50.43, 58.33],
    "Infant.Mortality": [22.2, 22.2, 20.2, 20.3, 20.6, 26.6, 23.6, 24.9, 21, 24.4, 24.5, 16.5, 19.1, 22.7, 18.7, 21.2, 20, 20.2, 10.8, 20, 18,
                         22.4, 16.7, 15.3, 21, 23.8, 18, 16.3, 20.9, 22.5, 15.1, 19.8, 18.3, 19.4, 20.2, 17.8, 16.3, 18.1, 20.3, 20.5, 18.9, 23,
                         20, 19.5, 18, 18.2, 19.3]}


def drawn(seed: int, count: int, spread: float = 0.02) -> numpy.ndarray:
    return 1 + spread * numpy.random.default_rng(seed).standard_normal(count)


def judged(first, second, **options) -> verdicts.Verdict:
    rounds = numpy.arange(len(first))
    return verdicts.study([(Runs(numpy.asarray(first, dtype=float), rounds), Runs(numpy.asarray(second, dtype=float), rounds))], **options)[0]


class OneSetting(unittest.TestCase):
    def test_summary_is_what_r_prints(self):
        # t.test, quantile, var, sd / mean, shapiro.test; skewness type 2 of Joanes, Gill 1998
        found = series.summarize(DIST)
        self.assertEqual((found.runs, found.least, found.greatest, found.median.value, found.quartiles), (50, 2, 120, 36, (26, 56)))
        for value, of_r in ((found.mean.value, 42.98), (found.mean.low, 35.6564239487), (found.mean.high, 50.3035760513),
                            (found.variance, 664.060816327), (found.variation, 0.599566716892), (found.skewness, 0.806894960167),
                            (found.shapiro, 0.9514384785), (found.shapiro_p, 0.0390996837)):
            self.assertAlmostEqual(value, of_r, places=5)
        self.assertAlmostEqual(found.least_to_mean, 2 / 42.98)
        self.assertAlmostEqual(found.greatest_to_mean, 120 / 42.98)

    def test_median_interval_is_that_of_order_statistics(self):
        # qbinom(.025, 50, .5) is 18: the 18th and 33rd run; 1 - 2 pbinom(17, 50, .5) is their confidence
        found = series.summarize(DIST).median
        self.assertEqual((found.low, found.high), (28, 50))
        self.assertAlmostEqual(found.confidence, 0.967160862436)

    def test_few_runs_have_no_median_interval(self):
        found = series.summarize([1.0, 1.1, 1.2, 1.3, 1.4]).median  # the extremes have a confidence of 1 - 2 / 32
        self.assertTrue(math.isnan(found.low) and math.isnan(found.high))
        found = series.summarize([1.0, 1.1, 1.2, 1.3, 1.4, 1.5]).median
        self.assertEqual((found.low, found.high, found.confidence), (1.0, 1.5, 1 - 2 / 64))

    def test_equal_runs(self):
        found = series.summarize([2.0] * 9)
        self.assertEqual((found.variation, found.mean.low, found.mean.high, found.skewness), (0, 2, 2, 0))
        self.assertTrue(math.isnan(found.shapiro_p))
        self.assertFalse(series.modes([2.0] * 9).bimodal)
        self.assertEqual(series.order_of_time([2.0] * 12).changes, ())

    def test_what_has_no_statistics_is_refused(self):
        for times in ([1.0, 2.0], [1.0, 2.0, math.nan]):
            with self.assertRaises(ValueError):
                series.summarize(times)


class OrderOfTime(unittest.TestCase):
    def test_nile(self):
        # The flow fell in 1899, after 28 years (Cobb, Biometrika 65, 1978); cor.test(method = "kendall") on the years: p 3.611e-05
        found = series.order_of_time(NILE)
        self.assertEqual(found.changes[0].at, 28)
        self.assertEqual((found.changes[0].before, found.changes[0].after), (float(numpy.median(NILE[:28])), float(numpy.median(NILE[28:]))))
        self.assertAlmostEqual(found.drift_p, 3.61117991948e-05, delta=1e-8)
        self.assertTrue(found.drifts)
        self.assertLess(found.drift.high, 0)

    def test_drift_is_that_of_the_line(self):
        found = series.order_of_time(10 + 0.01 * numpy.arange(51))
        self.assertAlmostEqual(found.drift.value, 50 * 0.01 / 10.25)
        self.assertTrue(found.drifts)

    def test_serial_correlation(self):
        found = series.order_of_time(1 + 0.01 * (numpy.arange(40) % 2) + drawn(3, 40, 0.001))
        self.assertTrue(found.correlated)
        self.assertLess(found.serial, -0.5)
        self.assertFalse(series.order_of_time(drawn(1, 40)).correlated)

    def test_several_changes(self):
        for levels in ((1, 2, 1.5), (1, 1.5, 3), (3, 1.5, 1)):
            times = numpy.concatenate([level * drawn(seed, length) for seed, (level, length) in enumerate(zip(levels, (12, 12, 24), strict=True))])
            self.assertEqual([change.at for change in series.change_points(times)], [12, 24])

    def test_series_without_change_have_none(self):
        changed = sum(bool(series.change_points(drawn(seed, 40))) for seed in range(30))
        self.assertLessEqual(changed, 6)  # P(more) is 0.003 at a risk of 5 %


class Modes(unittest.TestCase):
    def test_old_faithful(self):
        # Azzalini, Bowman, Applied Statistics 39 (1990): short eruptions of about 2 and long ones of about 4.3 minutes, a third short
        found = series.modes(ERUPTIONS)
        self.assertTrue(found.bimodal)
        self.assertAlmostEqual(found.share, 0.65, delta=0.05)
        self.assertAlmostEqual(found.medians[0], 1.9, delta=0.15)
        self.assertAlmostEqual(found.medians[1], 4.3, delta=0.15)
        self.assertEqual(found.slow.tolist(), (ERUPTIONS > 2.7).tolist())

    def test_skewed_and_rounded_runs_have_one(self):
        for seed in range(5):
            for times in (drawn(seed, 31), numpy.exp(drawn(seed, 31, 0.5)), numpy.round(0.25 * drawn(seed, 31), 2)):
                self.assertFalse(series.modes(times).bimodal)

    def test_a_tail_is_no_mode(self):
        found = series.modes(1 + 0.05 * numpy.random.default_rng(20).exponential(size=31))
        self.assertGreater(found.gain, series.LEAST_GAIN)
        self.assertGreater(found.separation, series.LEAST_SEPARATION)
        self.assertFalse(found.bimodal)


class Tests(unittest.TestCase):
    def check(self, found: OneSided, less: float, places: int = 7):
        self.assertAlmostEqual(found.less, less, places=places)

    def test_means_and_variances_of_sleep(self):
        # t.test(var.equal = TRUE, alternative = "less") 0.0395934; var.test 0.7427199; exact swaps: all differences but one zero go one way
        found = judged(*SLEEP).comparison
        self.assertEqual(found.t_test, "Student")
        self.assertAlmostEqual(found.means.greater, 0.039593357108)
        self.assertAlmostEqual(found.fisher_p, 0.742719931726)
        self.assertEqual(found.spread_test, "Fisher")
        self.assertEqual(found.means_by_swaps, OneSided(1.0, 1 / 2**9))

    def test_welch(self):
        # t.test(alternative = "less"), sleep with the second group's differences from its mean taken three times, and 2 more
        second = SLEEP[1].mean() + 3 * (SLEEP[1] - SLEEP[1].mean())
        found = judged(SLEEP[0], second + 2).comparison
        self.assertEqual(found.t_test, "Welch")
        self.assertAlmostEqual(found.means.greater, 0.049675864050791, places=9)

    def test_darwin_by_fisher(self):
        # Fisher, The Design of Experiments, §21: of 32,768 swaps of Darwin's 15 pairs of maize, 863 have a sum of 314 or more
        pairs = numpy.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
        self.check(verdicts.by_swaps(pairs), 863 / 32768)
        self.assertEqual(verdicts.by_swaps(-pairs).greater, 863 / 32768)

    def test_random_swaps_are_near_the_normal_law(self):
        differences = drawn(5, 40) - 0.997
        expected = 0.5 * math.erfc(differences.sum() / math.sqrt(2 * (differences**2).sum()))
        self.assertAlmostEqual(verdicts.by_swaps(differences).less, expected, delta=0.01)
        self.assertEqual(verdicts.by_swaps(differences), verdicts.by_swaps(differences))

    def test_interval_of_the_ratio_of_means_is_what_swaps_do_not_reject(self):
        one, two = drawn(1, 12), drawn(2, 12)
        found = verdicts.mean_ratio_by_swaps(one, two)
        inside = 1e-6
        self.assertGreater(verdicts.by_swaps(one - (found.low + inside) * two).less, 0.025)
        self.assertLessEqual(verdicts.by_swaps(one - (found.low - inside) * two).less, 0.025)
        self.assertGreater(verdicts.by_swaps(one - (found.high - inside) * two).greater, 0.025)
        self.assertLessEqual(verdicts.by_swaps(one - (found.high + inside) * two).greater, 0.025)
        self.assertTrue(math.isnan(verdicts.mean_ratio_by_swaps(one[:5], two[:5]).low))  # 2 / 32 is above 5 %

    def test_swaps_are_those_of_scipy(self):
        from scipy import stats

        one, two = drawn(1, 9), drawn(2, 9)
        found = verdicts.by_swaps(one - two)
        for side, p in (("greater", found.less), ("less", found.greater)):
            of_scipy = stats.permutation_test((one, two), lambda x, y, axis: (x - y).sum(axis=axis), permutation_type="samples", vectorized=True,
                                              alternative=side, n_resamples=numpy.inf)
            self.assertAlmostEqual(p, of_scipy.pvalue)

    def test_signed_ranks(self):
        # R's example of wilcox.test: Hollander, Wolfe, depression: exact, one-sided 0.01953
        from scipy import stats

        before = numpy.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
        after = numpy.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
        apart = before - after
        self.check(verdicts.by_swaps(numpy.sign(apart) * stats.rankdata(numpy.abs(apart))), 0.01953125)
        rounds = numpy.arange(9.0)
        found = judged(before + rounds, after + rounds).comparison  # the rounds differ more than the settings
        self.assertEqual(found.rank_sum, "signed ranks")
        self.assertGreater(found.alike, 0.8)
        self.check(found.ranks_by_swaps, 0.01953125)

    def test_ranks(self):
        # R's example of wilcox.test: Hollander, Wolfe, permeability: exact, one-sided 0.1272
        term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
        found = verdicts.compare(Runs(numpy.array(term)), Runs(numpy.array([1.15, 0.88, 0.90, 0.74, 1.21])))
        self.check(found.ranks, 0.127206127206)
        self.assertEqual(found.first_slower, 35 / 50)  # W = 35
        self.assertIsNone(found.ranks_by_swaps)
        # ties: wilcox.test(C, D, exact = FALSE, alternative = "less"), InsectSprays
        found = judged(numpy.array(SPRAYS["C"]) + 10, numpy.array(SPRAYS["D"]) + 10).comparison
        self.assertAlmostEqual(found.ranks.greater, 0.00132554077999)

    def test_shapes_with_ties(self):
        # ks.test(exact = TRUE), which counts ties as they are; without ties all are as in scipy
        from scipy import stats

        sprays = {name: numpy.array(counts) for name, counts in SPRAYS.items()}
        self.assertAlmostEqual(verdicts.shapes(sprays["C"], sprays["D"]), 0.0194914790419)
        self.assertAlmostEqual(verdicts.shapes(sprays["A"], sprays["F"]), 0.81668217366158)
        self.assertGreater(stats.ks_2samp(sprays["C"], sprays["D"], method="exact").pvalue, 0.03)
        for seed in range(5):
            one, two = drawn(seed, 20), drawn(100 + seed, 31)
            self.assertAlmostEqual(verdicts.shapes(one, two), stats.ks_2samp(one, two, method="exact").pvalue)

    def test_brown_forsythe(self):
        # anova(lm(abs(count - median) ~ spray)), InsectSprays A and C: p 0.0427893, C varies less
        found = judged(numpy.array(SPRAYS["A"]) + 1, numpy.array(SPRAYS["C"]) + 1).comparison
        self.assertAlmostEqual(found.brown_forsythe.less, 0.042789300142 / 2)
        self.assertAlmostEqual(found.brown_forsythe.greater, 1 - 0.042789300142 / 2)
        self.assertEqual(found.spread_test, "Brown-Forsythe")  # Shapiro-Wilk rejects C

    def test_holm(self):
        # p.adjust(method = "holm")
        numpy.testing.assert_allclose(verdicts.holm([0.01, 0.02, 0.03, 0.04, 0.005]), [0.04, 0.06, 0.06, 0.06, 0.025])


class Verdicts(unittest.TestCase):
    def test_faster_and_slower(self):
        first = drawn(1, 31)
        second = drawn(2, 31) / 1.13
        found = judged(first, second)
        self.assertEqual((found.mean, found.median, found.stability), (1, 1, 0))
        ratio = numpy.median(first) / numpy.median(second)
        self.assertEqual(verdicts.sentence(found), f"faster, median × {ratio:.3g}, confidence 95 %")
        self.assertLess(found.comparison.median_ratio.low, 1.13)
        self.assertGreater(found.comparison.median_ratio.high, 1.13)
        found = judged(second, first, risk=0.01)
        self.assertEqual((found.mean, found.median), (-1, -1))
        self.assertEqual(verdicts.sentence(found, of_times=False), f"more, median × {ratio:.3g}, confidence 99 %")

    def test_stability(self):
        found = judged(drawn(1, 31, 0.05), drawn(2, 31, 0.01))
        self.assertEqual((found.mean, found.median, found.stability), (0, 0, 1))
        self.assertIn(f"; more stable, variance × {1 / found.comparison.variance_ratio:.3g}, confidence 95 %", verdicts.sentence(found))
        self.assertLess(found.comparison.variance_ratio**-1, 0.2)

    def test_no_difference_says_what_more_runs_would_show(self):
        found = judged(drawn(1, 31), drawn(2, 31))
        self.assertFalse(found.declared)
        comparison = found.comparison
        self.assertEqual(verdicts.sentence(found),
                         f"no difference shown; {comparison.more} more runs would show {100 * comparison.target:.3g} %")
        self.assertLess(comparison.target, comparison.smallest)
        self.assertGreater(comparison.more, 0)

    def test_more_runs_are_those_of_the_formulas(self):
        # Normal runs: by means n = (z_α + z_β)² 2 CV² / δ²; by ranks nearly that over 3 / π (Noether 1987)
        from scipy import stats

        random = numpy.random.default_rng(1)
        first, second = 1 + 0.03 * random.standard_normal((2, 1000))
        power = verdicts.Power(first, second, False, False, 0.05 / 6, 0.9)
        demand = (stats.norm.isf(0.05 / 6) + stats.norm.ppf(0.9))**2
        self.assertAlmostEqual(power.runs_for(0.01) / (demand * 2 * 0.03**2 / 0.01**2), 1, delta=0.06)
        power.deviation = math.inf
        self.assertAlmostEqual(power.runs_for(0.01) / (demand * 2 * 0.03**2 / 0.01**2), math.pi / 3, delta=0.08)

    def test_few_runs_that_are_not_normal(self):
        skewed = 1.5**numpy.arange(20)
        found = judged(skewed, skewed + 3000)
        self.assertEqual(found.mean, 0)
        self.assertEqual(found.mean_p, 1)
        self.assertEqual(found.median, -1)
        self.assertIn("the mean's test needs more than 30 runs: Shapiro-Wilk rejects normality", found.notes)

    def test_minimum_that_tells_another_story(self):
        first = drawn(1, 31)
        second = drawn(2, 31) / 1.05
        first[4] = 0.5
        found = judged(first, second)
        self.assertEqual(found.median, 1)
        self.assertTrue(any(note.startswith("minimum and median disagree: by the minimum the second is slower") for note in found.notes))

    def test_comparisons_count_together(self):
        one, two = drawn(1, 31), drawn(2, 31) / 1.013
        rounds = numpy.arange(31)
        pair = (Runs(one, rounds), Runs(two, rounds))
        alone = verdicts.study([pair])[0]
        among = verdicts.study([pair, *[(Runs(drawn(seed, 31), rounds), Runs(drawn(seed + 50, 31), rounds)) for seed in range(3, 22)]])[0]
        self.assertGreater(among.median_p, 5 * alone.median_p)
        raw = alone.comparison.deciding()
        least = min(p for tests in raw for p in (tests.less, tests.greater))
        self.assertAlmostEqual(min(alone.mean_p, alone.median_p, alone.stability_p), 6 * least)

    def test_rounds_that_only_one_setting_has(self):
        first = Runs(drawn(1, 20), numpy.arange(20))
        second = Runs(drawn(2, 18), numpy.arange(5, 23))
        self.assertEqual(verdicts.compare(first, second).rounds, 15)
        self.assertEqual(verdicts.compare(first, Runs(drawn(2, 18))).rounds, 0)

    def test_runs_that_do_not_vary(self):
        found = judged([3.0] * 20, [2.0] * 20)
        self.assertEqual(verdicts.sentence(found), "faster, median × 1.5, confidence 95 %")
        self.assertEqual(verdicts.sentence(judged([3.0] * 20, [3.0] * 20)), "no difference shown")

    def test_values_without_ratios_are_refused(self):
        with self.assertRaises(ValueError):
            judged([1.0, 2.0, 0.0], [1.0, 2.0, 3.0])

    def test_two_runs_in_a_round_are_refused(self):
        with self.assertRaises(ValueError):
            verdicts.compare(Runs(drawn(1, 3), numpy.array([0, 1, 1])), Runs(drawn(2, 3), numpy.arange(3)))

    def test_overall(self):
        # two programs: (10 + 100) / (8 + 100) by means and medians; one declared faster; exact interval: binom.test(1, 2)
        rounds = numpy.arange(31)
        wiggle = (numpy.arange(31) - 15) * 0.01
        long = 100 + 10 * wiggle
        pairs = [(Runs(10 + wiggle, rounds), Runs(8 + wiggle, rounds)), (Runs(long, rounds), Runs(long[::-1], rounds))]
        row = verdicts.overall([(*pair, verdict) for pair, verdict in zip(pairs, verdicts.study(pairs), strict=True)])
        self.assertAlmostEqual(row.means, 110 / 108)
        self.assertAlmostEqual(row.medians, 110 / 108)
        self.assertAlmostEqual(row.gain_of_means, 2 / 110)
        self.assertAlmostEqual(row.least_variance, numpy.var(wiggle, ddof=1))
        self.assertAlmostEqual(row.greatest_variance, 100 * numpy.var(wiggle, ddof=1))
        self.assertEqual((row.programs, row.faster, row.slower, row.more_stable, row.less_stable), (2, 1, 0, 0, 0))
        self.assertAlmostEqual(row.faster_share.low, 0.01257911709)

    def test_how_many_rounds_can_show_anything(self):
        # 2^-7 < 0.05 / 6 < 2^-6; 1 / 20,000 is enough for 166 comparisons
        self.assertEqual([verdicts.rounds_needed(count) for count in (1, 2, 166)], [7, 8, 15])
        self.assertTrue(verdicts.can_show(31, 166))
        self.assertFalse(verdicts.can_show(31, 167))
        self.assertIsNone(verdicts.rounds_needed(300))


class Causes(unittest.TestCase):
    def test_shares_of_swiss(self):
        # R² of lm(Fertility ~ …), 0.662543817438, averaged over the six orders
        found = causes.explain(SWISS["Fertility"], {name: values for name, values in SWISS.items() if name != "Fertility"})
        shares = {cause.name: cause.share.value for cause in found.causes}
        self.assertEqual(list(shares), ["Education", "Catholic", "Infant.Mortality"])
        for name, of_r in (("Education", 0.382540580282), ("Catholic", 0.152804540747), ("Infant.Mortality", 0.127198696409)):
            self.assertAlmostEqual(shares[name], of_r)
        self.assertAlmostEqual(found.rest, 1 - 0.662543817438)
        for cause in found.causes:
            self.assertLess(cause.share.low, cause.share.value)
            self.assertGreater(cause.share.high, cause.share.value)

    def planted(self, runs: int):
        random = numpy.random.default_rng(4)
        lost = numpy.where(numpy.arange(runs) % 3 == 0, 0.2, 0.0) + 0.01 * random.random(runs)
        candidates = {f"function{index}": random.lognormal(size=runs) for index in range(60)}
        return 1 + 0.02 * random.standard_normal(runs) + lost, {**candidates, "lock": lost, "same lock": 2 * lost, "constant": numpy.ones(runs)}

    def test_planted_cause(self):
        times, candidates = self.planted(31)
        found = causes.explain(times, candidates)
        self.assertEqual([(cause.name, cause.instead) for cause in found.causes], [("lock", ("same lock",))])
        self.assertAlmostEqual(found.causes[0].share.value, candidates["lock"].var() / times.var(), delta=0.1)
        self.assertEqual(found.candidates, 62)
        groups = series.modes(times)
        self.assertTrue(groups.bimodal)
        separated = causes.separators(times, groups.slow, candidates)
        self.assertEqual({cause.name for cause in separated[:2]}, {"lock", "same lock"})
        self.assertEqual(separated[0].area, 1)
        lines = causes.sentences(found, separated)
        self.assertRegex(lines[0], r"^\d\d % of the spread between runs is lock "
                                   r"\(95 % interval \d\d to \d\d %; these runs cannot tell it from same lock\)$")
        self.assertEqual(lines[1], "slow runs have more lock than fast ones in 100 % of pairs")

    def test_exact_p_of_ties(self):
        # 4 slow of 12 have 1, all others 0: one of 12! / (4! 8!) = 495 choices, two-sided as scipy doubles it
        slow = numpy.arange(12) < 4
        found = causes.separators(1 + slow, slow, {"migrations": slow.astype(float)})
        self.assertAlmostEqual(found[0].p, 2 / 495)

    def test_separators_count_together(self):
        # 4 of 8 runs: the best that ranks can do is 2 of 70 choices, enough alone, not among three candidates
        slow = numpy.arange(8) < 4
        columns = {str(index): numpy.arange(8.0) ** (index + 1) for index in range(3)}
        self.assertAlmostEqual(causes.separators(1 + slow, slow, {"0": columns["0"]})[0].p, 2 / 70)
        self.assertEqual(causes.separators(1 + slow, slow, columns), ())

    def test_nothing_is_named_without_reason(self):
        times, candidates = self.planted(31)
        del candidates["lock"], candidates["same lock"]
        found = causes.explain(times, candidates)
        self.assertEqual(found.causes, ())
        self.assertEqual(causes.sentences(found), ["no cause is named: none of 60 goes with the spread between 31 recorded runs"])

    def test_never_more_than_the_runs_carry(self):
        times, candidates = self.planted(9)
        self.assertEqual(causes.sentences(causes.explain(times, candidates)),
                         ["no cause is named: 9 recorded runs carry none, at least 10 are needed"])
        random = numpy.random.default_rng(1)
        many = random.standard_normal((5, 29))
        found = causes.explain(20 + many.sum(axis=0), {str(index): column for index, column in enumerate(many)})
        self.assertLessEqual(len(found.causes), 2)

    def test_another_length_is_refused(self):
        with self.assertRaisesRegex(ValueError, "cause x: 2 values for 3 runs"):
            causes.explain([1, 2, 3], {"x": [1, 2]})


class LostTime(unittest.TestCase):
    """Recorded runs, with what functions lost in each thread."""

    def sentences(self, times: numpy.ndarray, lost: dict[str, list[numpy.ndarray]]) -> list[str]:
        """`lost` has an array for each thread."""
        def row(name: str, each: list[float]) -> dict:
            return {"name": name, "lost_ns": sum(each), "threads": {str(thread): value for thread, value in enumerate(each)}}

        lines = [{"round": run, "wall_ns": time, "program_ns": time,
                  "functions": [row(name, [float(each[run]) for each in threads]) for name, threads in lost.items()]}
                 for run, time in enumerate(times)]
        return causes.sentences(*results.SettingRuns("", [], [], lines).explanation(recorded=True))

    def setUp(self):
        random = numpy.random.default_rng(5)
        self.waits = 30 * random.random(40)
        self.times = 100 + self.waits + random.standard_normal(40)
        self.other = random.random(40)

    def test_the_thread_in_which_most_of_it_is(self):
        part = r"^9\d % of the spread between runs is time lost in lock"
        rest = r" \(95 % interval 9\d to (9\d|100) %\)$"
        third = self.waits / 3
        for threads, where in (([self.waits], ""), ([self.other, self.other[::-1], self.waits], ", (99|100) % of that in thread 2"),
                               ([0.8 * self.waits, 0.2 * self.waits], ", 80 % of that in the main thread"), ([third, third, third], "")):
            self.assertRegex(self.sentences(self.times, {"lock": threads})[0], part + where + rest)

    def test_the_same_share_of_each_run_is_no_cause(self):
        idle = self.times * (0.9 + 0.001 * self.other)
        self.assertEqual(self.sentences(self.times, {"idle": [self.other, idle]}),
                         ["no cause is named: none of 1 goes with the spread between 40 recorded runs"])
        self.assertRegex(self.sentences(self.times, {"idle": [self.other, idle], "lock": [self.waits]})[0], "is time lost in lock")

    def test_nor_are_many_together(self):
        # Each of 40 functions loses a tenth of each run, more or less: of 20 studies more than 3 name one with a probability of 1.6 %.
        random = numpy.random.default_rng(7)
        named = 0
        for _ in range(20):
            times = 100 + 30 * random.random(30)
            lost = {f"f{index}": [times * (0.1 + 0.01 * random.standard_normal(30))] for index in range(40)}
            named += not self.sentences(times, lost)[0].startswith("no cause is named")
        self.assertLessEqual(named, 3)


class Interrupted(unittest.TestCase):
    """Runs whose interrupts come for this reason or that one."""

    @staticmethod
    def setting(seconds, **counts) -> results.SettingRuns:
        """Of runs with so many interrupts from each source."""
        lines = [{"wall_ns": 1e9 * time, "interrupts": {name: int(column[run]) for name, column in counts.items() if column[run]}, "softirqs": {}}
                 for run, time in enumerate(seconds)]
        return results.SettingRuns("as it is", [], lines, [])

    def named(self, seconds, **counts) -> list[tuple[str, float]]:
        explanation, separated = self.setting(seconds, **counts).explanation(False)
        return [(cause.name, cause.share.value) for cause in explanation.causes] + [(each.name, each.area) for each in separated]

    def test_what_grows_with_a_runs_length_is_no_cause(self):
        """Devices that interrupt all the time, those that do it as often in each run, and clocks that tick while a processor is busy."""
        named = as_counts = 0
        for seed in range(40):
            random = numpy.random.default_rng(seed)
            busy = 0.2 + 0.05 * random.random(31) + numpy.where(random.random(31) < 0.4, 0.3, 0)
            seconds = 0.5 + busy  # it always waits as long, and computes for longer or shorter
            phase = random.random(31)
            steady = {"always": random.poisson(400 * seconds), "exactly": numpy.floor(1000 * seconds + phase), "each": 200 + random.poisson(2, 31)}
            named += bool(self.named(seconds, LOC=numpy.floor(250 * busy + phase), TIMER=numpy.floor(100 * busy + phase), **steady))
            as_counts += bool(causes.explain(seconds, steady).causes)
        self.assertLessEqual(named, 6)  # P(more) is 0.003 at a risk of 5 %
        self.assertEqual(as_counts, 40)

    def test_what_makes_a_run_longer_is_named(self):
        for seed in range(10):
            random = numpy.random.default_rng(seed)
            storms = random.poisson(numpy.where(random.random(31) < 0.4, 3000, 300))
            quiet = 0.5 + 0.01 * random.standard_normal(31)
            seconds = quiet + 20e-6 * storms
            found = self.named(seconds, eth0=storms, disk=random.poisson(400 * seconds))
            self.assertEqual({name for name, _ in found}, {"eth0 interrupts a second"})
            self.assertAlmostEqual(found[0][1], numpy.corrcoef(storms, seconds)[0, 1] ** 2, delta=0.05)

    def test_a_rate_that_falls_is_not_named_beside_the_cause(self):
        """A source that interrupts as often in each run has a rate that goes with the cause the other way."""
        random = numpy.random.default_rng(1)
        seconds = 1 + random.random(31)
        explanation = causes.explain(seconds, {"lock": seconds - 1, "disk": 1000 / seconds}, towards={"disk": 1})
        self.assertEqual([(cause.name, cause.instead) for cause in explanation.causes], [("lock", ())])

    def test_runs_of_a_machine_that_counts_none(self):
        lines = [{"wall_ns": 1e9 + run, "interrupts": None} for run in range(12)]
        self.assertEqual(results.SettingRuns("as it is", [], lines, []).explanation(False)[0].candidates, 0)


class Rates(unittest.TestCase):
    def test_promised_rates(self):
        """A few studies of each kind: microbench/verdicts says how often 1,000 of them are right."""
        done = subprocess.run([sys.executable, BENCH, "--studies", "12", "--check"], capture_output=True, text=True, check=False, timeout=240)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("drift and bursts", done.stdout)


if __name__ == "__main__":
    unittest.main()
