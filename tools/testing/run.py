"""What `tools/test` does once the packages are installed."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUICK_BUILD = ROOT / "tools/quick-build.ini"


def run(command: list[str], **options) -> int:
    print("+", " ".join(str(word) for word in command), flush=True)
    return subprocess.run(command, cwd=ROOT, check=False, **options).returncode


# Whether warnings are errors is left as it is in a build that there is, such as tools/demo's: it would all be compiled again.
WHEN_NEW = {"werror"}


def configure(build: pathlib.Path, settings: dict[str, str], env: dict[str, str] | None = None) -> bool:
    """Sets `build` up as a quick build, or changes the settings that differ in the one that there is."""
    if not (build / "build.ninja").exists():
        words = [f"-D{name}={value}" for name, value in settings.items()]
        return run(["meson", "setup", str(build), "--native-file", str(QUICK_BUILD), *words], env=env) == 0
    known = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    values = {option["name"]: option["value"] for option in known}
    differing = [
        f"-D{name}={value}" for name, value in settings.items()
        if name not in WHEN_NEW and str(values.get(name, value)).lower() != value.lower()
    ]
    # `meson configure` would leave the list of tests as it was until the next ninja.
    return not differing or run(["meson", "setup", "--reconfigure", str(build), *differing], env=env) == 0


def tests_of(build: pathlib.Path) -> list[dict]:
    text = subprocess.run(
        ["meson", "introspect", "--tests", str(build)], cwd=ROOT, check=True, stdout=subprocess.PIPE
    ).stdout
    return json.loads(text)


def chosen_tests(build: pathlib.Path, wanted: dict[str, list[str]]) -> list[dict]:
    """Those whose program was built in one of these folders ("": wherever it is) and whose name contains one of the folder's
    words, if it has any."""
    def fits(test: dict, folder: str, words: list[str]) -> bool:
        return (pathlib.Path(test["cmd"][0]).is_relative_to(build / folder) or not folder) and (
            not words or any(word in test["name"] for word in words))

    return [test for test in tests_of(build) if any(fits(test, folder, words) for folder, words in wanted.items())]


def run_tests(build: pathlib.Path, settings: dict[str, str], wanted: dict[str, list[str]],
              env: dict[str, str] | None = None) -> results.Counts:
    """Builds and runs the tests of one build directory, or the `wanted` ones of some of its folders alone (see chosen_tests())."""
    stage = build.name
    if not configure(build, {"tests": "true", **settings}, env):
        return results.Counts(failed=1, failures=[f"{stage}: meson could not be configured"])
    tests = chosen_tests(build, wanted)
    if not tests:
        words = dict.fromkeys(word for words in wanted.values() for word in words)
        return results.Counts(failed=1, failures=[f"{stage}: no test's name contains {' or '.join(words)}"])
    # Since meson 1.7, `all` leaves out what only tests need.
    targets = [str(pathlib.Path(test["cmd"][0]).relative_to(build)) for test in tests] if "" not in wanted else ["all", "meson-test-prereq"]
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    if run(["ninja", "-C", str(build), *quiet, *targets]) != 0:
        return results.Counts(failed=1, failures=[f"{stage}: does not compile"])
    command = ["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs"]
    names = sorted({test["name"] for test in tests}) if wanted != {"": []} else []
    log = build / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    run([*command, *names], env=env)
    if not log.exists():
        return results.Counts(failed=1, failures=[f"{stage}: meson test wrote no log"])
    return results.count_log(str(log))


def plain(options: argparse.Namespace) -> results.Counts:
    return run_tests(ROOT / "build", {"werror": "true"}, {"": options.name})


def watched() -> dict[str, str]:
    """The environment of programs under sanitizers."""
    env = dict(os.environ)
    env.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    env.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    return env


def sanitized(sanitizers: str, options: argparse.Namespace) -> results.Counts:
    """Unit and fuzz tests only: the recorder itself cannot live inside a sanitizer's run time."""
    build = ROOT / ("build-sanitize-" + sanitizers.replace(",", "-"))
    # gcc's warnings are wrong more often in instrumented code; they are errors in the plain build.
    settings = {"werror": "false", "optimization": "1", "b_sanitize": sanitizers, "b_lundef": "false"}
    return run_tests(build, settings, {"tests/unit": options.name, "tests/fuzz": options.name}, watched())


def fuzzed(seconds: int, wanted: dict[str, list[str]]) -> results.Counts:
    """Looks for new inputs for some seconds a target. What is built for this is under sanitizers, too."""
    settings = {"fuzz": "true", "fuzz_seconds": str(seconds), "b_lundef": "false"}
    return run_tests(ROOT / "build-fuzz", settings, wanted, {**watched(), "CC": "clang", "CXX": "clang++"})


def lint(arguments: list[str]) -> results.Counts:
    if run(["tools/lint", *arguments]) == 0:
        return results.Counts(passed=1)
    return results.Counts(failed=1, failures=["lint"])


FUZZ_SECONDS = 6


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/test", description="Builds rdam and runs its tests; the last line says how many passed.",
        epilog="Without an option: all tests, in build/."
    )
    parser.add_argument("name", nargs="*", help="run only the tests whose name contains one of these")
    parser.add_argument("--sanitize", metavar="LIST", help="instead, unit tests under sanitizers (address,undefined)")
    parser.add_argument("--fuzz", action="store_true",
                        help="instead, look for inputs that break the readers, some seconds each (clang)")
    parser.add_argument("--fuzz-seconds", metavar="N", type=int, default=FUZZ_SECONDS,
                        help="for how long each target looks (default: %(default)s)")
    parser.add_argument("--lint", action="store_true", help="instead, formatting and static checks (tools/lint)")
    parser.add_argument("--all", action="store_true",
                        help="what continuous integration runs: all tests, those of the parsers under sanitizers, "
                             "some seconds of fuzzing, quick lint")
    return parser.parse_args()


# Of the tests that a sanitizer can watch, those of the code that reads or moves what strangers made. They are built with the
# fuzz targets, which need most of what they need, under the same sanitizers: an instrumented build of everything is
# `tools/test --sanitize address,undefined`.
UNDER_SANITIZERS = ["trace", "relocate", "analysis", "columns"]


def main() -> int:
    options = parse_arguments()
    total = results.Counts()
    if options.all:
        total.add(lint(["--quick"]))
    if options.all or not (options.sanitize or options.fuzz or options.lint):
        total.add(plain(options))
    if options.sanitize:
        total.add(sanitized(options.sanitize, options))
    if options.all:
        total.add(fuzzed(options.fuzz_seconds, {"tests/unit": UNDER_SANITIZERS, "tests/fuzz": []}))
    elif options.fuzz:
        total.add(fuzzed(options.fuzz_seconds, {"tests/fuzz": options.name}))
    if options.lint:
        total.add(lint([]))

    print()
    for reason in total.skipped:
        print("skipped:", reason)
    for failure in total.failures:
        print("failed:", failure)
    print(total.line(), flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
