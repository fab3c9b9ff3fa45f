// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reconcile/planner.h"

// `diff -u`, by Myers' greedy algorithm (An O(ND) Difference Algorithm and Its Variations, 1986) between the lines that
// differ at the two ends. Edits are few words in a file of lines, so D is small; past max_edits the middle is shown as
// replaced whole, which is still a right diff.
namespace storpol {
namespace {

constexpr std::size_t context_lines = 3;
constexpr int max_edits = 1500;  // the trace takes about 4 * D * D bytes: 9 MB at most

using Lines = std::vector<std::string_view>;

// Lines with their '\n': a last line without one differs from the same line with one, as it does for diff.
Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto length = end == std::string_view::npos ? text.size() : end + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

// One line of the script: ' ' in both, '-' in the old text, '+' in the new.
struct Edit {
    char sign = ' ';
    std::string_view line;
};

class Myers {
  public:
    Myers(const Lines& old_lines, const Lines& new_lines) : a_(old_lines), b_(new_lines) {}

    // The script from a_ to b_; empty when it would take more than max_edits.
    std::vector<Edit> script() {
        const int n = static_cast<int>(a_.size());
        const int m = static_cast<int>(b_.size());
        const int limit = std::min(n + m, max_edits);
        std::vector<int> furthest(static_cast<std::size_t>(2 * limit + 3), 0);
        for (int d = 0; d <= limit; ++d) {
            const auto middle = furthest.begin() + limit + 1;
            trace_.emplace_back(middle - (d + 1), middle + (d + 2));
            for (int k = -d; k <= d; k += 2) {
                const auto at = middle + k;
                int x = goes_down(k, d, *(at - 1), *(at + 1)) ? *(at + 1) : *(at - 1) + 1;
                while (x < n && x - k < m && a(x) == b(x - k)) ++x;
                *at = x;
                if (x >= n && x - k >= m) return walk_back(d);
            }
        }
        return {};
    }

  private:
    std::string_view a(int x) const { return a_[static_cast<std::size_t>(x)]; }

    std::string_view b(int y) const { return b_[static_cast<std::size_t>(y)]; }

    static bool goes_down(int k, int d, int left, int right) { return k == -d || (k != d && left < right); }

    std::vector<Edit> walk_back(int edits) const {
        std::vector<Edit> script;
        int x = static_cast<int>(a_.size());
        int y = static_cast<int>(b_.size());
        for (int d = edits; d > 0; --d) {
            const auto& row = trace_[static_cast<std::size_t>(d)];  // furthest[-d-1 .. d+1] before round d
            const auto reach = [&row, d](int diagonal) {
                const int index = diagonal + d + 1;
                return row[static_cast<std::size_t>(index)];
            };
            const int k = x - y;
            const bool down = goes_down(k, d, reach(k - 1), reach(k + 1));
            const int from_k = down ? k + 1 : k - 1;
            const int from_x = reach(from_k);
            const int from_y = from_x - from_k;
            for (; x > from_x && y > from_y; --x, --y) script.push_back({' ', a(x - 1)});
            if (down) {
                script.push_back({'+', b(--y)});
            } else {
                script.push_back({'-', a(--x)});
            }
        }
        for (; x > 0; --x) script.push_back({' ', a(x - 1)});
        std::reverse(script.begin(), script.end());
        return script;
    }

    const Lines& a_;
    const Lines& b_;
    std::vector<std::vector<int>> trace_;
};

std::vector<Edit> script_between(const Lines& old_lines, const Lines& new_lines) {
    std::size_t head = 0;
    while (head < old_lines.size() && head < new_lines.size() && old_lines[head] == new_lines[head]) ++head;
    std::size_t tail = 0;
    while (tail < old_lines.size() - head && tail < new_lines.size() - head &&
           old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail]) {
        ++tail;
    }
    const auto middle = [head, tail](const Lines& lines) {
        return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                     lines.end() - static_cast<std::ptrdiff_t>(tail));
    };
    const Lines removed = middle(old_lines);
    const Lines added = middle(new_lines);

    std::vector<Edit> script;
    for (std::size_t i = 0; i < head; ++i) script.push_back({' ', old_lines[i]});
    auto between = Myers(removed, added).script();
    if (between.empty()) {
        for (const auto line : removed) between.push_back({'-', line});
        for (const auto line : added) between.push_back({'+', line});
    }
    script.insert(script.end(), between.begin(), between.end());
    for (std::size_t i = old_lines.size() - tail; i < old_lines.size(); ++i) script.push_back({' ', old_lines[i]});
    return script;
}

// "12,7": where a side of a hunk begins and how many lines it has; ",1" is left out and an empty side begins one
// earlier.
std::string range_of(std::size_t first, std::size_t count) {
    if (count == 0) --first;
    std::string text = std::to_string(first);
    if (count != 1) text += "," + std::to_string(count);
    return text;
}

void append_line(std::string& out, const Edit& edit) {
    out += edit.sign;
    out += edit.line;
    if (!edit.line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

// The script's end of the hunk that begins with the change at `first`: changes nearer than two contexts share one.
std::size_t hunk_end(const std::vector<Edit>& script, std::size_t first) {
    std::size_t last_change = first;
    for (std::size_t i = first; i < script.size() && i <= last_change + 2 * context_lines + 1; ++i) {
        if (script[i].sign != ' ') last_change = i;
    }
    return std::min(script.size(), last_change + 1 + context_lines);
}

std::string hunks_of(const std::vector<Edit>& script) {
    std::string out;
    std::size_t old_line = 1;
    std::size_t new_line = 1;
    std::size_t done = 0;
    const auto pass = [&](std::size_t to) {
        for (; done < to; ++done) {
            if (script[done].sign != '+') ++old_line;
            if (script[done].sign != '-') ++new_line;
        }
    };
    for (std::size_t i = 0; i < script.size(); ++i) {
        if (script[i].sign == ' ') continue;
        const std::size_t begin = std::max(done, i > context_lines ? i - context_lines : 0);
        const std::size_t end = hunk_end(script, i);
        pass(begin);
        const auto old_first = old_line;
        const auto new_first = new_line;
        pass(end);
        out += "@@ -" + range_of(old_first, old_line - old_first) + " +" + range_of(new_first, new_line - new_first) +
               " @@\n";
        for (std::size_t line = begin; line < end; ++line) append_line(out, script[line]);
        i = end - 1;
    }
    return out;
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
    if (before == after && (before.data() == nullptr) == (after.data() == nullptr)) return {};
    const auto name = [path](std::string_view side) {
        return std::string(side.data() == nullptr ? "/dev/null" : path);
    };
    return "--- " + name(before) + "\n+++ " + name(after) + "\n" +
           hunks_of(script_between(lines_of(before), lines_of(after)));
}

}  // namespace storpol
