#include "tools/agent/process/channels.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "tools/agent/process/privileges.h"
#include "tools/agent/process/process_numbers.h"
#include "tools/base/files.h"
#include "tools/base/text_lines.h"

namespace rdam::agent {

namespace {

using Kind = trace::ChannelInfo::Kind;

constexpr std::size_t kMostDescriptors = 1024, kMostFound = 16384;
constexpr std::uint64_t kMillisecond = 1'000'000, kLongest = 100 * kMillisecond;
constexpr std::uint64_t kTimesTheCost = 100;

/// Of a descriptor that calls send or receive through, as the catalogue calls it.
bool is_about_descriptor(const trace::FunctionInfo& function) {
    if (!function.waits || function.parameters.empty()) return false;
    const std::string& name = function.parameters.front().name;
    return name == "fd" || name == "sockfd";
}

/// What a kernel's text has behind `name`; 0: nothing.
std::uint64_t number_behind(std::string_view text, std::string_view name) {
    TextLines lines{text};
    for (std::string_view line; lines.next(line);) {
        const auto words = words_of(line);
        if (words.size() == 2 && words[0] == name) return number_in<std::uint64_t>(words[1]).value_or(0);
    }
    return 0;
}

/// Asks the kernel which Unix sockets of the machine are connected (sock_diag(7)). Empty: it does not say.
Peers connected_unix_sockets() {
    const Descriptor socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
    const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    struct {
        nlmsghdr header;
        unix_diag_req request;
    } question{};
    question.header = {.nlmsg_len = sizeof question,
                       .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                       .nlmsg_seq = 1,
                       .nlmsg_pid = 0};
    question.request.sdiag_family = AF_UNIX;
    question.request.udiag_states = UINT32_MAX;
    question.request.udiag_show = UDIAG_SHOW_PEER;
    if (socket.get() < 0 ||
        setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        send(socket.get(), &question, sizeof question, 0) != sizeof question)
        return {};
    Peers peers;
    constexpr std::size_t kMostAnswers = 4096;
    alignas(nlmsghdr) std::array<char, 32768> answer;
    for (std::size_t i = 0; i < kMostAnswers; ++i) {
        const ssize_t size = recv(socket.get(), answer.data(), answer.size(), 0);
        if (size <= 0) return peers;
        auto left = static_cast<unsigned>(size);
        for (auto* message = reinterpret_cast<nlmsghdr*>(answer.data()); NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left)) {
            if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY) return peers;
            const auto* const one = reinterpret_cast<const unix_diag_msg*>(message + 1);
            // Who sends datagrams may name another peer each time.
            if (one->udiag_type == SOCK_DGRAM) continue;
            auto rest = static_cast<int>(message->nlmsg_len - NLMSG_LENGTH(sizeof *one));
            for (const auto* each = reinterpret_cast<const rtattr*>(one + 1); RTA_OK(each, rest);
                 each = RTA_NEXT(each, rest)) {
                std::uint32_t peer = 0;
                if (each->rta_type != UNIX_DIAG_PEER || RTA_PAYLOAD(each) != sizeof peer) continue;
                std::memcpy(&peer, reinterpret_cast<const char*>(each) + RTA_LENGTH(0), sizeof peer);
                if (peer != 0) peers[one->udiag_ino] = peer;
            }
        }
    }
    return peers;
}

}  // namespace

std::optional<NamedChannel> named_channel(std::string_view link) {
    if (link == "anon_inode:[eventfd]") return NamedChannel{Kind::eventfd, 0};
    for (const auto& [begin, kind] :
         {std::pair{std::string_view{"pipe:["}, Kind::pipe}, {std::string_view{"socket:["}, Kind::socket}}) {
        if (!link.starts_with(begin) || !link.ends_with(']')) continue;
        const auto number =
            number_in<std::uint64_t>(link.substr(begin.size(), link.size() - begin.size() - 1));
        if (number && *number != 0) return NamedChannel{kind, *number};
    }
    return std::nullopt;
}

Peers connected_sockets(std::string_view table) {
    // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
    constexpr std::size_t kLocal = 1, kRemote = 2, kInode = 9;
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> by_ends;
    TextLines lines{table};
    for (std::string_view line; lines.next(line);) {
        const auto words = words_of(line);
        if (words.size() <= kInode) continue;
        const auto inode = number_in<std::uint64_t>(words[kInode]);
        if (inode && *inode != 0) by_ends[{words[kLocal], words[kRemote]}] = *inode;
    }
    Peers peers;
    for (const auto& [ends, inode] : by_ends)
        if (const auto other = by_ends.find({ends.second, ends.first}); other != by_ends.end())
            peers[inode] = other->second;
    return peers;
}

void Channels::find_peers() {
    const std::string folder = fmt::format("/proc/{}/net/", pid_);
    peers_.clear();
    for (const char* const table : {"tcp", "tcp6"})
        peers_.merge(connected_sockets(contents(folder + table)));
    // What a filter forbids may end us.
    if (parse_filters(contents("/proc/self/status")) == 0U) peers_.merge(connected_unix_sockets());
}

Channels::End Channels::end_of(std::uint32_t descriptor, const NamedChannel& named, bool reads,
                               bool writes) const {
    End end{.kind = named.kind, .reads = named.number, .writes = named.number};
    if (end.kind == Kind::pipe) {
        if (!reads) end.reads = 0;
        if (!writes) end.writes = 0;
    } else if (end.kind == Kind::socket) {
        const auto peer = peers_.find(named.number);
        end.writes = peer != peers_.end() ? peer->second : 0;
    } else {
        end.reads = end.writes =
            number_behind(contents(fmt::format("/proc/{}/fdinfo/{}", pid_, descriptor)), "eventfd-id:");
    }
    return end;
}

std::map<std::uint32_t, Channels::End> Channels::ends() {
    struct Close {
        void operator()(DIR* folder) const { closedir(folder); }
    };
    const std::unique_ptr<DIR, Close> folder{opendir(fmt::format("/proc/{}/fd", pid_).c_str())};
    std::map<std::uint32_t, End> all;
    if (folder == nullptr) return all;
    bool asked = false;
    for (std::size_t looked = 0; looked < kMostDescriptors; ++looked) {
        const dirent* const entry = readdir(folder.get());
        if (entry == nullptr) break;
        const auto descriptor = number_in<std::uint32_t>(entry->d_name);
        std::array<char, 64> text;
        if (!descriptor) continue;
        const ssize_t size = readlinkat(dirfd(folder.get()), entry->d_name, text.data(), text.size());
        const std::string_view link{text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
        const auto named = named_channel(link);
        if (!named) continue;
        if (named->kind == Kind::socket && !peers_.contains(named->number) && !std::exchange(asked, true))
            find_peers();
        // The rights of the link are those that the descriptor was opened with.
        struct stat rights {};
        const bool known = fstatat(dirfd(folder.get()), entry->d_name, &rights, AT_SYMLINK_NOFOLLOW) == 0;
        const auto has = [&](mode_t right) { return known && (rights.st_mode & right) != 0; };
        all[*descriptor] = end_of(*descriptor, *named, has(S_IRUSR), has(S_IWUSR));
    }
    return all;
}

void Channels::look(const TickRate& rate, const std::vector<trace::FunctionInfo>& functions, bool at_once) {
    if (functions_ != functions.size()) {
        functions_ = functions.size();
        needed_ = std::ranges::count_if(functions, is_about_descriptor) > 1;
    }
    const std::uint64_t begin = now_ns(CLOCK_MONOTONIC);
    if (!needed_ || (!at_once && begin < next_ns_)) return;
    // What is there now was there before as far as it was seen: numbers of channels are hardly used again.
    const std::uint64_t before = rate.now();
    const std::map<std::uint32_t, End> seen = ends();
    const std::uint64_t now = rate.now();
    std::map<std::uint32_t, std::size_t> open;
    for (const auto& [descriptor, end] : seen) {
        const auto known = open_.find(descriptor);
        if (known != open_.end()) {
            trace::ChannelInfo& same = found_[known->second];
            if (same.kind == end.kind && same.reads == end.reads && same.writes == end.writes) {
                same.until = before;
                open[descriptor] = known->second;
                continue;
            }
        }
        if (found_.size() == kMostFound) continue;
        open[descriptor] = found_.size();
        found_.push_back({.descriptor = descriptor,
                          .kind = end.kind,
                          .reads = end.reads,
                          .writes = end.writes,
                          .since = now,
                          .until = now});
    }
    open_ = std::move(open);
    const std::uint64_t end = now_ns(CLOCK_MONOTONIC);
    interval_ns_ = std::clamp(2 * interval_ns_, kMillisecond, kLongest);
    next_ns_ = end + std::max(interval_ns_, kTimesTheCost * (end - begin));
}

int Channels::milliseconds(int most) const {
    if (!needed_) return most;
    const std::uint64_t now = now_ns(CLOCK_MONOTONIC);
    const std::uint64_t left = next_ns_ > now ? (next_ns_ - now) / kMillisecond + 1 : 0;
    return static_cast<int>(std::min<std::uint64_t>(left, static_cast<std::uint64_t>(most)));
}

}  // namespace rdam::agent
