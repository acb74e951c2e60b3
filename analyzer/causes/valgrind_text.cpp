#include <algorithm>
#include <optional>

#include "analyzer/causes/readers.h"
#include "analyzer/causes/thread_errors.h"
#include "tools/base/text_lines.h"

namespace rdam::causes {
namespace {

constexpr std::string_view kDrd = "drd, a thread error detector";
constexpr std::string_view kHelgrind = "Helgrind, a thread error detector";

/// Deeper stacks than valgrind ever prints (--num-callers is at most 500) belong to no error.
constexpr std::size_t kDeepest = 500;

/// The text after `==PID== `; nullopt: the line is the program's own.
std::optional<std::string_view> message_in(std::string_view line) {
    if (!line.starts_with("==")) return std::nullopt;
    const auto end = line.find("==", 2);
    if (end == std::string_view::npos || !number_in<std::uint64_t>(line.substr(2, end - 2)))
        return std::nullopt;
    line.remove_prefix(end + 2);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
}

/// `   at 0x1092E6: work (cont.c:10)`, `   by 0x484DD34: ??? (in /usr/lib/x.so)`
std::optional<ErrorFrame> frame_in(std::string_view message) {
    const auto words = words_of(message, 3);
    if (words.size() < 3 || (words[0] != "at" && words[0] != "by") || !words[1].starts_with("0x") ||
        !words[1].ends_with(':') || !message.starts_with(' '))
        return std::nullopt;
    ErrorFrame frame;
    auto name = words[2];
    const auto open = name.ends_with(')') ? name.rfind(" (") : std::string_view::npos;
    if (open != std::string_view::npos) {
        const auto where = name.substr(open + 2, name.size() - open - 3);
        if (where.starts_with("in ")) {
            frame.object = where.substr(3);
        } else if (const auto place = place_in(where)) {
            frame.file = place->file;
            frame.line = place->line;
        }
        // Else it is the end of the name: parameters.
        if (!frame.object.empty() || !frame.file.empty()) name = name.substr(0, open);
    }
    if (name != "???") frame.function = name;
    return frame;
}

/// "3 errors in context 1 of 8:" → 3: before an error that is printed once more at the end (-s, -v).
std::optional<double> repetitions_in(std::string_view message) {
    const auto words = words_of(message, 4);
    if (words.size() < 4 || !words[1].starts_with("error") || words[2] != "in" ||
        !words[3].starts_with("context "))
        return std::nullopt;
    const auto times = number_in<std::uint32_t>(words[0]);
    return times ? std::optional{static_cast<double>(*times)} : std::nullopt;
}

enum class Heading {
    conflict,  ///< begins an error
    held,      ///< begins an error, or follows `acquired`
    acquired,  ///< a stack that belongs to the `held` that follows
    more,      ///< a further stack of a conflict
    other,
};

Heading heading_of(std::string_view message) {
    if (message.starts_with("Conflicting ") || message.starts_with("Possible data race during "))
        return Heading::conflict;
    if (message.starts_with("This conflicts with a previous ")) return Heading::more;
    if (message.starts_with("Acquired at:")) return Heading::acquired;
    if (held_milliseconds(message) >= 0) return Heading::held;
    return Heading::other;
}

class ValgrindReader {
  public:
    explicit ValgrindReader(std::string_view origin, bool drd)
        : origin_(origin), errors_(drd ? "DRD" : "Helgrind") {}

    CauseReports read(std::string_view text) {
        TextLines lines{text};
        std::string_view line;
        while (lines.next(line)) {
            const auto message = message_in(line);
            if (!message) continue;
            if (message->starts_with("ERROR SUMMARY: ")) ended_ = true;
            if (auto frame = frame_in(*message)) {
                if (collecting_ && stacks_.back().size() < kDeepest)
                    stacks_.back().push_back(std::move(*frame));
            } else {
                take(*message);
            }
        }
        finish();
        if (!ended_)
            return fail(
                "{}: ends without valgrind's ERROR SUMMARY; let the program run to its end and keep all of "
                "the log",
                origin_);
        return errors_.reports();
    }

  private:
    void take(std::string_view message) {
        if (const auto times = repetitions_in(message)) {
            finish();
            times_ = std::max(0.0, *times - 1);  // one was counted when it was printed first
            return;
        }
        const Heading heading = heading_of(message);
        // Helgrind says which locks were held before it prints a stack.
        if (collecting_ && heading == Heading::other && message.starts_with("Locks held")) return;
        collecting_ = false;
        if (heading == Heading::other) {
            if (message.empty() && kind_ == Heading::held) finish();
            return;
        }
        if (heading == Heading::conflict || heading == Heading::acquired) finish();
        if (heading == Heading::held) {
            if (kind_ != Heading::acquired) finish();
            amount_ = held_milliseconds(message);
        }
        if (heading != Heading::more) kind_ = heading;
        stacks_.emplace_back();
        collecting_ = true;
    }

    void finish() {
        if (kind_ == Heading::conflict) errors_.add_conflict(stacks_, times_);
        if (kind_ == Heading::held) errors_.add_hold(stacks_, times_ * amount_);
        if (kind_ == Heading::conflict || kind_ == Heading::held) times_ = 1;
        kind_ = Heading::other;
        collecting_ = false;
        stacks_.clear();
    }

    std::string_view origin_;
    ThreadErrors errors_;
    bool ended_ = false;
    Heading kind_ = Heading::other;  // of the error that is being read
    bool collecting_ = false;
    double amount_ = 0;
    double times_ = 1;
    std::vector<ErrorStack> stacks_;
};

bool begins_with(std::string_view text, std::string_view greeting) {
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line)) {
        const auto message = message_in(line);
        if (message && *message == greeting) return true;
    }
    return false;
}

}  // namespace

bool is_valgrind_text(std::string_view text) {
    return begins_with(text, kDrd) || begins_with(text, kHelgrind);
}

CauseReports parse_valgrind_text(std::string_view text, std::string_view origin) {
    return ValgrindReader{origin, begins_with(text, kDrd)}.read(text);
}

}  // namespace rdam::causes
