// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_expression.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/support/zram_oracle.h"

namespace storpol {
namespace {

double value_of(std::string_view text, std::uint64_t ram = 8000) {
    const auto parsed = ZramExpression::parse(text);
    if (!parsed) {
        ADD_FAILURE() << text << ": " << parsed.error().column << ": " << parsed.error().why;
        return -1;
    }
    const auto value = parsed->evaluate(ram);
    if (!value) {
        ADD_FAILURE() << text << ": " << value.error().why;
        return -1;
    }
    return *value;
}

std::size_t error_column(std::string_view text) {
    const auto parsed = ZramExpression::parse(text);
    if (!parsed) return parsed.error().column;
    const auto value = parsed->evaluate(8000);
    return value ? 0 : value.error().column;
}

TEST(ZramExpression, ManualsExamples) {
    EXPECT_EQ(value_of("min(ram / 2, 4096)"), 4000);
    EXPECT_EQ(value_of("min(ram / 2, 4096)", 16000), 4096);
    EXPECT_EQ(value_of("min(min(ram, 4096) + max(ram - 4096, 0) / 2, 32 * 1024)"), 4096 + 1952);
    EXPECT_EQ(value_of("ram"), 8000);
    EXPECT_EQ(value_of("ram()"), 8000);
    EXPECT_EQ(value_of(" 0.5*ram\t"), 4000);
}

TEST(ZramExpression, SuffixesAreDecimalAndOfMiB) {
    EXPECT_EQ(value_of("500k"), 500000);
    EXPECT_EQ(value_of("8G"), 8e9);
    EXPECT_EQ(value_of("1T"), 1e12);
    EXPECT_EQ(value_of("1500m"), 1.5);
    EXPECT_DOUBLE_EQ(value_of("5\xc2\xb5"), 5e-6);
    EXPECT_EQ(error_column("8GiB"), 3U);
    EXPECT_EQ(error_column("50%"), 4U) << "the remainder of a division by nothing";
}

TEST(ZramExpression, PrecedenceIsItsOwn) {
    EXPECT_EQ(value_of("2 + 3 * 4"), 14);
    EXPECT_EQ(value_of("10 - 3 + 2"), 9);
    EXPECT_EQ(value_of("2 ^ 3 ^ 2"), 512);
    EXPECT_EQ(value_of("-5^2"), 25) << "the sign belongs to the number";
    EXPECT_EQ(value_of("-ram^2", 2), 4) << "and to the variable";
    EXPECT_EQ(value_of("100 / 10 % 4"), 50) << "% before /";
    EXPECT_EQ(value_of("1 + 1 == 2 && 7"), 7);
    EXPECT_EQ(value_of("0 || 3"), 3);
    EXPECT_EQ(value_of("2 == 2 < 2"), 1) << "comparisons from left to right, whichever";
    EXPECT_EQ(value_of("!0"), 1);
    EXPECT_EQ(value_of("[1 + 2] * 2"), 6);
    EXPECT_EQ(value_of("1 == 1.000000000000001"), 1) << "what is nearly equal is";
}

TEST(ZramExpression, Functions) {
    EXPECT_EQ(value_of("round(2.5)"), 3);
    EXPECT_EQ(value_of("round(256, ram)", 8100), 8192);
    EXPECT_EQ(value_of("floor(2.7) + ceil(2.2) + int(-2.7) + abs(-1)"), 2 + 3 - 2 + 1);
    EXPECT_EQ(value_of("log(100)"), 2);
    EXPECT_EQ(value_of("log(2, 1024)"), 10);
    EXPECT_NEAR(value_of("log(3, 81)"), 4, 1e-12);
    EXPECT_NEAR(value_of("e() + pi()"), 5.859874482, 1e-9);
    EXPECT_NEAR(value_of("cos(0) + sin(0) + tanh(0)"), 1, 1e-12);
    EXPECT_EQ(value_of("max(1; 5; 3)"), 5);
    EXPECT_EQ(value_of("sign(-3)"), -1);
    EXPECT_EQ(error_column("e"), 1U) << "a variable that nobody set";
    EXPECT_EQ(error_column("min()"), 1U);
    EXPECT_EQ(error_column("abs(1, 2)"), 1U);
    EXPECT_EQ(error_column("1 + half(ram)"), 5U);
}

TEST(ZramExpression, ErrorsNameTheColumn) {
    EXPECT_EQ(error_column(""), 1U);
    EXPECT_EQ(error_column("foo("), 5U);
    EXPECT_EQ(error_column("10 # comment"), 4U);
    EXPECT_EQ(error_column("(ram / 2"), 9U);
    EXPECT_EQ(error_column("min(1,)"), 7U);
    EXPECT_EQ(error_column("1.2.3"), 1U);
    EXPECT_EQ(error_column("ram / 2 GiB"), 9U);
    EXPECT_NE(error_column(std::string(40, '(') + "1" + std::string(40, ')')), 0U) << "too deep";
    EXPECT_NE(error_column(std::string(5000, '1')), 0U) << "too long";
    std::string many = "ram";
    for (int at = 0; at < 64; ++at) many += "+(1)";
    EXPECT_NE(error_column(many), 0U) << "too many";
}

TEST(ZramExpression, BytesAreRefusedWhereTheGeneratorRefuses) {
    EXPECT_EQ(zram_bytes(4096), std::int64_t{4} << 30U);
    EXPECT_EQ(zram_bytes(0.5), 524288);
    EXPECT_EQ(zram_bytes(0), 0);
    EXPECT_EQ(zram_bytes(-0.0), 0);
    EXPECT_EQ(zram_bytes(-1), std::nullopt);
    EXPECT_EQ(zram_bytes(std::nan("")), std::nullopt);
    EXPECT_EQ(zram_bytes(INFINITY), std::numeric_limits<std::int64_t>::max());
}

TEST(ZramExpression, NamesAreThoseNobodyBuiltIn) {
    EXPECT_EQ(ZramExpression::parse("min(ram, hotplug * 3/4) + other(2)")->names(),
              (std::vector<std::string>{"hotplug", "other"}));
    EXPECT_EQ(*ZramExpression::parse("two * ram")->evaluate(100, {{"two", 2}}), 200);
}

// An expression of the language, for most of which there is a value.
std::string expression_of(int depth) {
    const int kind = *rc::gen::inRange(0, depth > 3 ? 3 : 10);
    const auto inner = [depth] { return expression_of(depth + 1); };
    switch (kind) {
        case 0:
            return std::to_string(*rc::gen::inRange(0, 5000));
        case 1:
            return "ram";
        case 2:
            return *rc::gen::element<std::string>("0.5", ".25", "1.5e3", "2k", "3", "7m", "-4", "+2", "1e-3", "10M");
        case 3:
            return "(" + inner() + ")";
        case 4:
            return *rc::gen::element<std::string>("-", "+", "!", "- ") + inner();
        case 5:
            return *rc::gen::element<std::string>("min", "max") + "(" + inner() + ", " + inner() + ")";
        case 6:
            return *rc::gen::element<std::string>("round", "floor", "ceil", "int", "abs", "sign", "log", "cos",
                                                  "tanh") +
                   "(" + inner() + ")";
        default:
            return inner() +
                   *rc::gen::element<std::string>(" + ", "-", " * ", "/", " % ", " - ", "^", " < ",
                                                  " >= ", " == ", " && ", " || ", " != ") +
                   inner();
    }
}

std::string number_text(double number) {
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), "%.17g", number);
    return text.data();
}

// What the generator thinks of one expression: it says by making a device (a value above 0), none (0), or giving up.
int verdict_of(ZramOracle& oracle, const std::string& expression) {
    const auto answer = oracle.ask({{"/etc/systemd/zram-generator.conf", "[zram0]\nzram-size = " + expression + "\n"}});
    if (answer.exit_code != 0) return -1;
    return answer.units.empty() ? 0 : 1;
}

int own_verdict(const std::string& expression) {
    const auto parsed = ZramExpression::parse(expression);
    const auto value = parsed ? parsed->evaluate(8000) : tl::unexpected<ZramExpressionError>(parsed.error());
    const auto bytes = value ? zram_bytes(*value) : std::nullopt;
    if (!bytes) return -1;
    return *bytes == 0 ? 0 : 1;
}

TEST(ZramExpression, AgreesWithTheRealGenerator) {
    if (ZramOracle::program().empty()) GTEST_SKIP() << ZramOracle::why_skipped;
    ZramOracle oracle;
    EXPECT_TRUE(rc::check("value and verdict", [&oracle] {
        const auto text = expression_of(0);
        RC_ASSERT(verdict_of(oracle, text) == own_verdict(text));
        const auto parsed = ZramExpression::parse(text);
        if (!parsed || !parsed->evaluate(8000) || !std::isfinite(*parsed->evaluate(8000))) return;
        if (text.size() > 3000) return;
        // Its value is not written anywhere: whether it is ours is asked in its own language.
        const double value = *parsed->evaluate(8000);
        const double near = std::abs(value) * 1e-9 + 1e-12;
        const auto question =
            "(" + text + ") >= " + number_text(value - near) + " && (" + text + ") <= " + number_text(value + near);
        if (!ZramExpression::parse(question)) return;  // twice as many parts as it takes
        RC_ASSERT(verdict_of(oracle, question) == 1);
    }));
}

TEST(ZramExpression, AgreesWithTheRealGeneratorOnBadText) {
    if (ZramOracle::program().empty()) GTEST_SKIP() << ZramOracle::why_skipped;
    ZramOracle oracle;
    EXPECT_TRUE(rc::check("verdict", [&oracle] {
        const auto pieces = *rc::gen::container<std::vector<std::string>>(
            rc::gen::element<std::string>("ram", "(", ")", "[", "]", "1", ".5", "2k", "G", "e", "E", "+", "-", "*", "/",
                                          "%", "^", "!", "=", "==", "<", "&&", "|", ",", ";", "min(", "log(", "round(",
                                          " ", "  ", "1e3", "and", "NaN", "inf", "print(", "e()", "_x", "#"));
        std::string text;
        for (const auto& piece : pieces) text += piece;
        RC_PRE(text.find_first_not_of(' ') != std::string::npos);
        RC_ASSERT(verdict_of(oracle, text) == own_verdict(text));
    }));
}

TEST(ZramExpression, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& text) {
        const auto parsed = ZramExpression::parse(text);
        if (parsed) (void)parsed->evaluate(1);
    }));
}

}  // namespace
}  // namespace storpol
