#include "wrappers/perf/sample_header.h"

#include <algorithm>
#include <vector>

#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool is_number(std::string_view word) {
    return !word.empty() && word.find_first_not_of(kDigits) == std::string_view::npos;
}

/// Splits at the first `mark` into two numbers.
bool are_numbers(std::string_view word, char mark) {
    const auto at = word.find(mark);
    return at != std::string_view::npos && is_number(word.substr(0, at)) && is_number(word.substr(at + 1));
}

/// "868.028088:"
bool is_time(std::string_view word) {
    return word.ends_with(':') && are_numbers(word.substr(0, word.size() - 1), '.');
}

/// "[001]"
bool is_processor(std::string_view word) {
    return word.size() > 2 && word.front() == '[' && word.back() == ']' &&
           is_number(word.substr(1, word.size() - 2));
}

/// Cuts off the first word.
std::string_view take_word(std::string_view& text) {
    text = trim_blanks(text);
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

/// "12", "12/34"
void set_ids(std::string_view word, SampleHeader& header) {
    const auto slash = word.find('/');
    header.pid = number_in<std::int64_t>(word.substr(0, slash)).value_or(-1);
    header.tid = slash == std::string_view::npos
                     ? header.pid
                     : number_in<std::int64_t>(word.substr(slash + 1)).value_or(-1);
}

/// What stands in front of the processor, the time or the event: "my name 12", "12/34", "".
void set_thread(std::string_view text, SampleHeader& header) {
    text = trim_blanks(text);
    const auto blank = text.find_last_of(" \t");
    const auto last = blank == std::string_view::npos ? text : text.substr(blank + 1);
    if (!is_number(last) && !are_numbers(last, '/')) {
        header.command = text;
        return;
    }
    set_ids(last, header);
    header.command = trim_blanks(text.substr(0, text.size() - last.size()));
}

/// "250000 cpu-clock:u: rest"
bool set_event(std::string_view text, SampleHeader& header) {
    text = trim_blanks(text);
    auto rest = text;
    if (const auto period = number_in<std::uint64_t>(take_word(rest))) {
        header.period = static_cast<double>(*period);
        text = trim_blanks(rest);
    }
    const auto end = std::min(text.find(": "), text.size());
    header.event = text.substr(0, end);
    if (header.event.ends_with(':')) header.event.remove_suffix(1);
    if (header.event.empty() || header.event.find_first_of(" \t") != std::string_view::npos) return false;
    header.rest = end < text.size() ? text.substr(end + 1) : std::string_view{};
    return end < text.size() || text.ends_with(':');
}

using Words = std::vector<std::string_view>;

/// How many words say which thread it is, if neither a time nor both of its numbers follow its name: of two
/// numbers in front of the event the second is the period, and so is one that stands alone.
std::size_t thread_words(const Words& words) {
    const auto event = static_cast<std::size_t>(
        std::ranges::find_if(words, [](std::string_view word) { return word.ends_with(':'); }) -
        words.begin());
    const auto number_at = [&](std::size_t index) { return index < event && is_number(words[index]); };
    if (event >= 2 && number_at(event - 1)) return event >= 3 && number_at(event - 2) ? event - 1 : event;
    return 0;
}

}  // namespace

std::optional<SampleHeader> sample_header(std::string_view line) {
    SampleHeader header;
    line = trim_blanks(line);
    const Words words = words_of(line);
    const auto first = [&](auto&& is_wanted) {
        return static_cast<std::size_t>(std::ranges::find_if(words, is_wanted) - words.begin());
    };
    // How many words are about the thread, and how many stand in front of the period and the event.
    std::size_t thread = first(is_time);
    std::size_t before = thread + 1;
    if (thread == words.size()) {
        const std::size_t ids = first([](std::string_view word) { return are_numbers(word, '/'); });
        const std::size_t processor = first(is_processor);
        thread = before = ids < words.size()         ? ids + 1
                          : processor < words.size() ? processor
                                                     : thread_words(words);
    }
    while (thread > 0 && thread == before - 1 && is_processor(words[thread - 1]))
        --thread;
    while (before < words.size() && is_processor(words[before]))
        ++before;
    if (before >= words.size()) return std::nullopt;
    const auto end_of = [&](std::size_t count) {
        return count == 0 ? 0
                          : static_cast<std::size_t>(words[count - 1].data() - line.data()) +
                                words[count - 1].size();
    };
    set_thread(line.substr(0, end_of(thread)), header);
    if (!set_event(line.substr(end_of(before)), header)) return std::nullopt;
    return header;
}

}  // namespace rdam
