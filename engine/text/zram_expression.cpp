// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_expression.h"

#include <array>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/text/zram_arithmetic.h"

namespace storpol {

using Failure = tl::unexpected<ZramExpressionError>;

namespace {

// fasteval's limits, which are its defense against hostile text: Parser::DEFAULT_EXPR_LEN_LIMIT,
// DEFAULT_EXPR_DEPTH_LIMIT and the capacity of a Slab.
constexpr std::size_t longest_text = 4096;
constexpr int deepest = 32;
constexpr int most_expressions = 64;
constexpr int most_signs = 64;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name(char c, bool first) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (!first && is_digit(c));
}

// Letters of operators in a row: those of two characters get one of their own.
struct Operator {
    std::string_view text;
    char letter;
};

// Longer ones first.
constexpr std::array operators{Operator{"<=", 'l'}, Operator{">=", 'g'}, Operator{"==", '='}, Operator{"!=", '!'},
                               Operator{"||", '|'}, Operator{"&&", '&'}, Operator{"+", '+'},  Operator{"-", '-'},
                               Operator{"*", '*'},  Operator{"/", '/'},  Operator{"%", '%'},  Operator{"^", '^'},
                               Operator{"<", '<'},  Operator{">", '>'}};

// "500k" is 500e3. The exponent and the length of the suffix.
std::pair<int, std::size_t> suffix_of(std::string_view rest) {
    if (rest.starts_with("\xc2\xb5")) return {-6, 2};  // the micro sign
    switch (rest.empty() ? ' ' : rest.front()) {
        case 'k':
        case 'K':
            return {3, 1};
        case 'M':
            return {6, 1};
        case 'G':
            return {9, 1};
        case 'T':
            return {12, 1};
        case 'm':
            return {-3, 1};
        case 'u':
            return {-6, 1};
        case 'n':
            return {-9, 1};
        case 'p':
            return {-12, 1};
        default:
            return {0, 0};
    }
}

}  // namespace

class ZramExpressionParser {
  public:
    explicit ZramExpressionParser(std::string_view text) : text_(text) {}

    tl::expected<ZramExpression, ZramExpressionError> parse() {
        if (text_.size() > longest_text) return fail_at("longer than 4096 bytes");
        const auto root = read_row(0);
        if (!root) return Failure(root.error());
        if (at_ < text_.size()) return fail_at("\"" + printable(text_.substr(at_)) + "\" is left over");
        parsed_.root_ = *root;
        return std::move(parsed_);
    }

  private:
    using Node = ZramExpression::Node;
    using Kind = ZramExpression::Kind;
    using Place = tl::expected<std::size_t, ZramExpressionError>;  // of a node

    Failure fail_at(std::string why) const { return Failure(ZramExpressionError{at_ + 1, std::move(why)}); }

    std::size_t add(Node node) {
        parsed_.nodes_.push_back(std::move(node));
        return parsed_.nodes_.size() - 1;
    }

    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \n\t\r").find(text_[at_]) != std::string_view::npos) ++at_;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    char read_operator() {
        skip_blanks();
        for (const auto& known : operators) {
            if (!text_.substr(at_).starts_with(known.text)) continue;
            at_ += known.text.size();
            return known.letter;
        }
        return '\0';
    }

    Place read_row(int depth) {
        if (depth >= deepest) return fail_at("nested too deep");
        Node row;
        row.kind = Kind::row;
        row.column = at_ + 1;
        do {
            const auto value = read_value(depth);
            if (!value) return value;
            row.operands.push_back(*value);
            const char letter = read_operator();
            if (letter == '\0') break;
            row.operators += letter;
        } while (true);
        if (++expressions_ > most_expressions)
            return fail_at("more than 64 expressions in one another or side by side");
        return add(std::move(row));
    }

    Place read_value(int depth) {
        if (depth >= deepest) return fail_at("nested too deep");
        skip_blanks();
        if (const auto constant = read_constant()) return *constant;
        const char c = peek();
        if (c == '+' || c == '-' || c == '!') return read_signed(c, depth);
        if (c == '(' || c == '[') {
            ++at_;
            auto row = read_row(depth + 1);
            if (!row) return row;
            skip_blanks();
            if (peek() != (c == '(' ? ')' : ']')) return fail_at(c == '(' ? "a ) is missing" : "a ] is missing");
            ++at_;
            return row;
        }
        if (is_name(c, true)) return read_named(depth);
        return fail_at(at_ < text_.size() ? "\"" + printable(text_.substr(at_)) + "\" is no value"
                                          : "a value is missing");
    }

    Place read_signed(char sign, int depth) {
        Node node;
        node.kind = sign == '-' ? Kind::negative : Kind::negation;
        node.column = at_ + 1;
        ++at_;
        const auto value = read_value(depth + 1);
        if (!value) return value;
        if (++signs_ > most_signs) return fail_at("more than 64 signs");
        if (sign == '+') return value;
        node.operands = {*value};
        return add(std::move(node));
    }

    // A number with its sign and suffix; none where there is no digit.
    std::optional<Place> read_constant() {
        std::size_t length = 0;
        bool sign_may_come = true;
        bool suffix_may_come = true;
        bool has_value = false;
        for (; at_ + length < text_.size(); ++length) {
            const char c = text_[at_ + length];
            if (is_digit(c) || c == '.') {
                has_value = true;
                sign_may_come = false;
            } else if (sign_may_come && (c == '-' || c == '+')) {
                sign_may_come = false;
            } else if (has_value && (c == 'e' || c == 'E')) {
                suffix_may_come = false;
                sign_may_come = true;
            } else {
                break;
            }
        }
        if (!has_value) return std::nullopt;
        std::string number(text_.substr(at_, length));
        const auto [exponent, suffix] =
            suffix_may_come ? suffix_of(text_.substr(at_ + length)) : std::pair<int, std::size_t>{0, 0};
        if (exponent != 0) number += "e" + std::to_string(exponent);
        char* end = nullptr;
        Node node;
        node.constant = std::strtod(number.c_str(), &end);  // digits, signs, '.' and 'e' alone: as Rust parses f64
        if (end != number.c_str() + number.size()) return Place(fail_at("\"" + number + "\" is no number"));
        node.column = at_ + 1;
        at_ += length + suffix;
        return Place(add(std::move(node)));
    }

    Place read_named(int depth) {
        Node node;
        node.column = at_ + 1;
        const auto begin = at_;
        while (at_ < text_.size() && is_name(text_[at_], at_ == begin)) ++at_;
        node.name = text_.substr(begin, at_ - begin);
        node.kind = Kind::name;
        skip_blanks();
        if (peek() != '(' && peek() != '[') return add(std::move(node));
        node.kind = node.name == "print" ? Kind::print : Kind::call;
        const auto arguments = read_arguments(node, depth);
        if (!arguments) return Failure(arguments.error());
        const auto* function = find_zram_function(node.name);
        if (node.kind == Kind::print) return add(std::move(node));
        if (function == nullptr) {  // a variable, which may have empty parentheses; others fail when they are evaluated
            if (node.operands.empty()) node.kind = Kind::name;
            return add(std::move(node));
        }
        if (node.operands.size() < function->least || node.operands.size() > function->most) {
            return Failure(ZramExpressionError{node.column, "wrong number of arguments for " + node.name + "()"});
        }
        return add(std::move(node));
    }

    tl::expected<void, ZramExpressionError> read_arguments(Node& node, int depth) {
        const char close = peek() == '(' ? ')' : ']';
        ++at_;
        for (bool first = true;; first = false) {
            skip_blanks();
            if (at_ >= text_.size()) return fail_at(std::string("a ") + close + " is missing");
            if (peek() == close) {
                ++at_;
                return {};
            }
            if (!first) {
                if (peek() != ',' && peek() != ';') return fail_at("a , is missing");
                ++at_;
            }
            skip_blanks();
            if (node.kind == Kind::print && peek() == '"') {
                const auto end = text_.find('"', at_ + 1);
                if (end == std::string_view::npos) return fail_at("a \" is missing");
                if (first && text_.substr(at_, end - at_).find('%') != std::string_view::npos) {
                    return fail_at("zram-generator fails on print() with a format");
                }
                at_ = end + 1;
                continue;
            }
            const auto argument = read_row(node.kind == Kind::print ? depth + 2 : depth + 1);
            if (!argument) return Failure(argument.error());
            node.operands.push_back(*argument);
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int expressions_ = 0;
    int signs_ = 0;
    ZramExpression parsed_;
};

// Nodes stand behind their operands, so that one pass in order gives every value: no recursion.
class ZramExpressionValue {
  public:
    using Node = ZramExpression::Node;
    using Kind = ZramExpression::Kind;

    static tl::expected<double, ZramExpressionError> of(const ZramExpression& expression,
                                                        std::uint64_t ram_mib,
                                                        const ZramExpression::Variables& variables) {
        std::vector<double> values;
        for (const auto& node : expression.nodes_) {
            std::vector<double> operands;
            for (const auto operand : node.operands) operands.push_back(values[operand]);
            const auto value = of_node(node, std::move(operands), ram_mib, variables);
            if (!value) return Failure(ZramExpressionError{node.column, "there is no variable " + node.name});
            values.push_back(*value);
        }
        return values[expression.root_];
    }

  private:
    static std::optional<double> of_node(const Node& node,
                                         std::vector<double> operands,
                                         std::uint64_t ram_mib,
                                         const ZramExpression::Variables& variables) {
        switch (node.kind) {
            case Kind::constant:
                return node.constant;
            case Kind::row:
                return value_of_zram_row(std::move(operands), node.operators);
            case Kind::negative:
                return -operands[0];
            case Kind::negation:
                return is_zram_zero(operands[0]) ? 1 : 0;
            case Kind::print:
                return operands.empty() ? 0 : operands.back();
            case Kind::call:
                if (find_zram_function(node.name) == nullptr) return std::nullopt;
                return value_of_zram_call(node.name, operands);
            case Kind::name:
                break;
        }
        if (node.name == "ram") return static_cast<double>(ram_mib);
        const auto found = variables.find(node.name);
        return found == variables.end() ? std::nullopt : std::optional<double>(found->second);
    }
};

tl::expected<ZramExpression, ZramExpressionError> ZramExpression::parse(std::string_view text) {
    return ZramExpressionParser(text).parse();
}

tl::expected<double, ZramExpressionError> ZramExpression::evaluate(std::uint64_t ram_mib,
                                                                   const Variables& variables) const {
    return ZramExpressionValue::of(*this, ram_mib, variables);
}

std::vector<std::string> ZramExpression::names() const {
    std::set<std::string> names;
    for (const auto& node : nodes_) {
        const bool is_function = node.kind == Kind::call && find_zram_function(node.name) != nullptr;
        if ((node.kind == Kind::name && node.name != "ram") || (node.kind == Kind::call && !is_function)) {
            names.insert(node.name);
        }
    }
    return {names.begin(), names.end()};
}

std::optional<std::int64_t> zram_bytes(double mib) {
    if (!(mib >= 0)) return std::nullopt;
    const double bytes = mib * 1024.0 * 1024.0;
    if (bytes >= 9223372036854775808.0) return std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(bytes);
}

}  // namespace storpol
