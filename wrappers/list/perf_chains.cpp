#include "wrappers/list/perf_chains.h"

#include <algorithm>
#include <optional>

#include "wrappers/list/name_text.h"

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

/// A number alone on its line heads a chain of -g flat.
bool is_flat(const std::vector<std::string_view>& lines) {
    const auto first =
        std::find_if(lines.begin(), lines.end(), [](auto line) { return !trim_blanks(line).empty(); });
    return first != lines.end() && parse_perf_number(*first).has_value();
}

ChainTree parse_flat(const std::vector<std::string_view>& lines) {
    ChainTree tree;
    for (const auto line : lines) {
        if (trim_blanks(line).empty()) continue;
        if (const auto number = parse_perf_number(line)) {
            tree.push_back({ChainNode::kNoParent, *number, false, false, {}});
        } else if (!tree.empty()) {
            tree.back().frames.push_back(trim_blanks(line));
        }
    }
    return tree;
}

/// Counts and periods become percentages of the row: what the topmost numbers have together is the row.
double percent_per_unit(const ChainTree& tree, double row_percent) {
    double sum = 0;
    for (const auto& node : tree) {
        const bool topmost = node.parent == ChainNode::kNoParent || tree[node.parent].whole_row;
        if (topmost && !node.whole_row && !node.number.percent) sum += node.number.value;
    }
    return sum > 0 ? row_percent / sum : 0;
}

std::vector<double> absolute_percentages(const ChainTree& tree, double row_percent, bool fractal) {
    const double unit = percent_per_unit(tree, row_percent);
    std::vector<double> result(tree.size());
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const auto& node = tree[i];
        const double above = node.parent == ChainNode::kNoParent ? row_percent : result[node.parent];
        if (node.whole_row)
            result[i] = above;
        else if (!node.number.percent)
            result[i] = node.number.value * unit;
        else
            result[i] = fractal ? above * node.number.value / 100 : node.number.value;
    }
    return result;
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

std::vector<PerfChain> chains_of_tree(const ChainTree& tree, double row_percent, bool fractal) {
    const auto percent = absolute_percentages(tree, row_percent, fractal);
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
