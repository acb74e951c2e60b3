#include "tools/base/interruption.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

namespace rdam {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A handler can reach nothing else.
volatile std::sig_atomic_t noted = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::array<struct sigaction, kSignals.size()>
    before;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

int living = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void note(int signal) {
    noted = signal;
}

}  // namespace

Interruption::Interruption(Told told) : told_(told) {
    if (living++ > 0) return;
    noted = 0;
    struct sigaction action {};
    action.sa_handler = note;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], nullptr, &before[i]);
        // What the caller wants ignored (nohup) stays so.
        if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
}

Interruption::~Interruption() {
    if (--living > 0) return;
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &before[i], nullptr);
    if (noted == 0) return;
    // Where nobody reads it there is nobody to tell.
    constexpr std::string_view kLine = "rdam: interrupted\n";
    if (told_ == Told::here) static_cast<void>(!write(STDERR_FILENO, kLine.data(), kLine.size()));
    std::raise(noted);
}

bool Interruption::came() {
    return noted != 0;
}

}  // namespace rdam
