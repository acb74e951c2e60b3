#include "wrappers/perf/report_chains.h"

#include <algorithm>
#include <optional>

#include "wrappers/text/name_text.h"

namespace rdam {
namespace {

// Printed with two decimals: less than that is rounding.
constexpr double kRounding = 0.0101;

// Far beyond what perf records; keeps a forged report from multiplying itself in memory.
constexpr std::size_t kMaxFrames = 1024;

struct Branch {
    PerfNumber number;
    std::string_view name;
};

/// "--13.22%--name"
std::optional<Branch> parse_branch(std::string_view text) {
    if (text.substr(0, 2) != "--") return std::nullopt;
    const auto end = text.find("--", 2);
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = parse_perf_number(text.substr(2, end - 2));
    if (!number) return std::nullopt;
    return Branch{*number, text.substr(end + 2)};
}

class GraphParser {
  public:
    void add_line(std::string_view line) {
        const auto column = line.find_first_not_of(" |\t");
        if (column == std::string_view::npos) return;
        const auto text = trim_blanks(line.substr(column));
        if (text.substr(0, 3) == "---") {
            open_.clear();
            begin(column, {}, true, text.substr(3));
        } else if (const auto branch = parse_branch(text)) {
            while (!open_.empty() && open_.back().column >= column)
                open_.pop_back();
            begin(column, branch->number, false, branch->name);
        } else if (open_.empty()) {
            // With --sort sym perf leaves the first name out, and a chain may begin without its dashes.
            begin(0, {}, true, text);
        } else if (auto& frames = tree_[open_.back().node].frames; frames.size() < kMaxFrames) {
            frames.push_back(text);
        }
    }
    ChainTree take() { return std::move(tree_); }

  private:
    struct Open {
        std::size_t column;
        std::size_t node;
    };

    void begin(std::size_t column, PerfNumber number, bool whole_row, std::string_view name) {
        ChainNode node;
        node.parent = open_.empty() ? ChainNode::kNoParent : open_.back().node;
        node.number = number;
        node.whole_row = whole_row;
        node.remainder = name == "[...]";
        if (!name.empty()) node.frames.push_back(name);
        tree_.push_back(std::move(node));
        open_.push_back({column, tree_.size() - 1});
    }

    ChainTree tree_;
    std::vector<Open> open_;
};

/// "13.22% a;b;c", at the beginning of the line.
std::optional<ChainNode> parse_folded(std::string_view line, char separator) {
    const auto blank = line.find(' ');
    if (line.empty() || line[0] < '0' || line[0] > '9' || blank == std::string_view::npos)
        return std::nullopt;
    const auto number = parse_perf_number(line.substr(0, blank));
    if (!number) return std::nullopt;
    ChainNode node;
    node.number = *number;
    for (const auto frame :
         split_outside_brackets(line.substr(blank + 1), separator != '\0' ? separator : ';'))
        node.frames.push_back(trim_blanks(frame));
    return node;
}

bool begins_with(const std::vector<std::string_view>& frames, const std::vector<std::string_view>& prefix) {
    return frames.size() > prefix.size() && std::equal(prefix.begin(), prefix.end(), frames.begin());
}

/// The share that -g flat prints for a chain includes that of all chains that continue it, so each chain
/// becomes the child of the longest one that it continues.
ChainTree nest(ChainTree chains) {
    std::sort(chains.begin(), chains.end(), [](const auto& a, const auto& b) { return a.frames < b.frames; });
    std::vector<std::size_t> open;  // each begins with the one before it
    auto whole = chains;
    for (std::size_t i = 0; i < chains.size(); ++i) {
        while (!open.empty() && !begins_with(whole[i].frames, whole[open.back()].frames))
            open.pop_back();
        if (!open.empty()) {
            chains[i].parent = open.back();
            auto& frames = chains[i].frames;
            frames.erase(frames.begin(),
                         frames.begin() + static_cast<std::ptrdiff_t>(whole[open.back()].frames.size()));
        }
        open.push_back(i);
    }
    return chains;
}

/// A number alone on its line heads a chain of -g flat.
bool is_flat(const std::vector<std::string_view>& lines) {
    const auto first =
        std::find_if(lines.begin(), lines.end(), [](auto line) { return !trim_blanks(line).empty(); });
    return first != lines.end() && parse_perf_number(*first).has_value();
}

std::size_t indentation(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

ChainTree parse_flat(const std::vector<std::string_view>& lines) {
    ChainTree chains;
    std::size_t number_indentation = 0;
    for (const auto line : lines) {
        const auto text = trim_blanks(line);
        if (text.empty()) continue;
        // A junk caller at address 0 is printed as "0": only its position distinguishes it from a number.
        const bool may_head = chains.empty() || indentation(line) <= number_indentation;
        const auto number = may_head ? parse_perf_number(text) : std::nullopt;
        if (number) {
            number_indentation = indentation(line);
            chains.push_back({ChainNode::kNoParent, *number, false, false, {}});
        } else if (!chains.empty() && chains.back().frames.size() < kMaxFrames) {
            chains.back().frames.push_back(text);
        }
    }
    return nest(std::move(chains));
}

std::vector<double> absolute_percentages(const ChainTree& tree, double row_percent, ChainScale scale) {
    std::vector<double> result(tree.size());
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const auto& node = tree[i];
        const double above = node.parent == ChainNode::kNoParent ? row_percent : result[node.parent];
        if (node.whole_row)
            result[i] = above;
        else if (!node.number.percent)
            result[i] = node.number.value * scale.percent_per_unit;
        else
            result[i] = scale.fractal ? above * node.number.value / 100 : node.number.value;
    }
    return result;
}

/// Whether the percentages of a tree can only be relative to the node above.
bool is_fractal(const ChainTree& tree, double row_percent) {
    return std::any_of(tree.begin(), tree.end(), [&](const ChainNode& node) {
        if (node.remainder) return true;
        if (node.whole_row || !node.number.percent) return false;
        auto above = node.parent;
        while (above != ChainNode::kNoParent && tree[above].whole_row)
            above = tree[above].parent;
        const double limit = above == ChainNode::kNoParent ? row_percent : tree[above].number.value;
        return node.number.value > limit + kRounding;
    });
}

}  // namespace

ChainTree parse_chain_tree(const std::vector<std::string_view>& lines, char separator) {
    if (is_flat(lines)) return parse_flat(lines);
    ChainTree folded;
    GraphParser graph;
    for (const auto line : lines) {
        if (auto node = parse_folded(line, separator))
            folded.push_back(std::move(*node));
        else if (folded.empty())
            graph.add_line(line);
    }
    return folded.empty() ? graph.take() : folded;
}

void ChainScale::learn(const ChainTree& tree, double row_percent) {
    fractal = fractal || is_fractal(tree, row_percent);
    double sum = 0;
    for (const auto& node : tree) {
        const bool topmost = node.parent == ChainNode::kNoParent || tree[node.parent].whole_row;
        if (topmost && !node.whole_row && !node.number.percent) sum += node.number.value;
    }
    if (sum <= 0) return;
    constexpr double kHalfDigit = 0.005;  // a row of 0.02 % may be one of 0.0249 %
    const auto unit = (row_percent + kHalfDigit) / sum;
    percent_per_unit = percent_per_unit > 0 ? std::min(percent_per_unit, unit) : unit;
}

std::vector<PerfChain> chains_of_tree(const ChainTree& tree, double row_percent, ChainScale scale) {
    const auto percent = absolute_percentages(tree, row_percent, scale);
    auto rest = percent;
    for (std::size_t i = 0; i < tree.size(); ++i)
        if (tree[i].parent != ChainNode::kNoParent && !tree[i].remainder) rest[tree[i].parent] -= percent[i];
    std::vector<bool> is_parent(tree.size(), false);
    for (const auto& node : tree)
        if (node.parent != ChainNode::kNoParent && !node.remainder) is_parent[node.parent] = true;

    std::vector<PerfChain> chains;
    for (std::size_t i = 0; i < tree.size(); ++i) {
        if (tree[i].remainder || (is_parent[i] && rest[i] < kRounding)) continue;
        std::vector<std::size_t> up;
        for (auto at = i; at != ChainNode::kNoParent; at = tree[at].parent)
            up.push_back(at);
        PerfChain chain;
        chain.percent = rest[i];
        std::for_each(up.rbegin(), up.rend(), [&](std::size_t at) {
            chain.frames.insert(chain.frames.end(), tree[at].frames.begin(), tree[at].frames.end());
        });
        chains.push_back(std::move(chain));
    }
    return chains;
}

}  // namespace rdam
