#include "tools/rdam/screen/terminal.h"

#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "tools/base/printable.h"

// Last, for its macros (clear, erase, timeout, …) have the names of members of others.
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
#undef lines
#undef columns

namespace rdam::screen {

struct Terminal::Curses {
    SCREEN* screen = nullptr;
    bool color = false;
    bool utf8 = false;
};

namespace {

constexpr int kPatience = 200;      // milliseconds: so long a signal in another thread may go unnoticed
constexpr int kEscapeDelay = 100;   // milliseconds that the rest of a key's sequence may take over a network
constexpr wint_t kControlL = 0x0c;  // what others have written is to go
constexpr short kRed = 1, kYellow = 2;

constexpr std::pair<int, Key> kSpecial[] = {
    {KEY_UP, kUp},          {KEY_DOWN, kDown},    {KEY_LEFT, kLeft},
    {KEY_RIGHT, kRight},    {KEY_PPAGE, kPageUp}, {KEY_NPAGE, kPageDown},
    {KEY_HOME, kHome},      {KEY_END, kEnd},      {KEY_BACKSPACE, kBackspace},
    {KEY_RESIZE, kResized}, {KEY_ENTER, kEnter}};

bool names_utf8(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr) return false;
    const std::string_view text{value};
    return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
}

/// A locale that ssh has passed on need not exist here, but its character set still applies.
bool choose_characters() {
    if (std::setlocale(LC_CTYPE, "") == nullptr &&
        (names_utf8("LC_ALL") || names_utf8("LC_CTYPE") || names_utf8("LANG"))) {
        std::setlocale(LC_CTYPE, "C.UTF-8");
    }
    return std::string_view{nl_langinfo(CODESET)} == "UTF-8";
}

Result<void> check() {
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
        return fail(
            "--interactive: standard input and output are not both a terminal; leave it out to print a "
            "report");
    const char* name = std::getenv("TERM");
    int found = 0;
    const bool known = setupterm(nullptr, STDOUT_FILENO, &found) == OK;
    if (!known)
        return fail(
            "TERM={}: no such terminal is known; set TERM to one that is (xterm, vt100), or leave out "
            "--interactive",
            name == nullptr ? "" : name);
    const bool places = tigetstr("cup") != nullptr;
    del_curterm(cur_term);
    if (!places)
        return fail(
            "TERM={}: this terminal cannot place its cursor; use another one, or leave out --interactive",
            name);
    return {};
}

attr_t attributes(Look look, bool color) {
    switch (look) {
        case Look::strong:
            return A_BOLD;
        case Look::faint:
            return A_DIM;
        case Look::notable:
            return color ? COLOR_PAIR(kYellow) : A_NORMAL;
        case Look::alarming:
            return color ? A_BOLD | COLOR_PAIR(kRed) : A_BOLD;
        case Look::plain:
            break;
    }
    return A_NORMAL;
}

}  // namespace

Terminal::Terminal(std::unique_ptr<Curses> curses) : curses_(std::move(curses)) {}

Terminal::~Terminal() {
    endwin();
    delscreen(curses_->screen);
}

Result<std::unique_ptr<Terminal>> Terminal::open(bool color) {
    const bool utf8 = choose_characters();
    if (auto fine = check(); !fine) return tl::unexpected{fine.error()};
    auto curses = std::make_unique<Curses>();
    curses->utf8 = utf8;
    curses->screen = newterm(nullptr, stdout, stdin);
    if (curses->screen == nullptr)
        return fail("the terminal cannot be used: curses refuses it; leave out --interactive");
    std::unique_ptr<Terminal> terminal{new Terminal{std::move(curses)}};
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(kEscapeDelay);
    curs_set(0);
    if (color && has_colors() && start_color() == OK) {
        const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
        init_pair(kRed, COLOR_RED, background);
        init_pair(kYellow, COLOR_YELLOW, background);
        terminal->curses_->color = true;
    }
    return terminal;
}

Size Terminal::size() const {
    return {static_cast<std::size_t>(getmaxx(stdscr)), static_cast<std::size_t>(getmaxy(stdscr))};
}

void Terminal::draw(const Frame& frame) {
    werase(stdscr);
    const int height = getmaxy(stdscr), width = getmaxx(stdscr);
    for (int row = 0; row < height && row < static_cast<int>(frame.lines.size()); ++row) {
        wmove(stdscr, row, 0);
        for (const Span& span : frame.lines[static_cast<std::size_t>(row)]) {
            const std::string text = curses_->utf8 ? span.text : in_ascii(span.text);
            const attr_t reversed = span.selected ? A_REVERSE : A_NORMAL;
            wattrset(stdscr, static_cast<int>(attributes(span.look, curses_->color) | reversed));
            waddnstr(stdscr, text.c_str(), -1);
        }
    }
    wattrset(stdscr, A_NORMAL);
    curs_set(frame.typing ? 1 : 0);
    if (frame.typing && static_cast<int>(frame.place.row) < height &&
        static_cast<int>(frame.place.column) < width)
        wmove(stdscr, static_cast<int>(frame.place.row), static_cast<int>(frame.place.column));
    wrefresh(stdscr);
}

std::optional<Key> Terminal::typed() {
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == KEY_CODE_YES) {
        for (const auto& [from, to] : kSpecial)
            if (code == static_cast<wint_t>(from)) return to;
        return kOther;
    }
    if (kind != OK) return std::nullopt;
    if (code == kControlL) wrefresh(curscr);
    return code == '\r' ? kEnter : static_cast<Key>(code);
}

std::optional<Key> Terminal::key() {
    if (!kept_.empty()) {
        const Key key = kept_.front();
        kept_.pop_front();
        return key;
    }
    // Asked first: curses may have read the key with the one before it.
    if (const auto key = typed()) return key;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&input, 1, kPatience) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        hung_up_ = true;
    return hung_up_ ? std::nullopt : typed();
}

bool Terminal::escape_pressed() {
    while (const auto key = typed()) {
        if (*key == kEscape) {
            kept_.clear();  // what was typed meanwhile was meant for what would have come
            return true;
        }
        kept_.push_back(*key);
    }
    return false;
}

}  // namespace rdam::screen
