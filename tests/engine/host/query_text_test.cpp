// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cerrno>

#include "engine/host/query.h"

namespace storpol {
namespace {

Entry parse_one(std::string_view text) {
    const auto entries = parse_entries(text, "facts.txt");
    EXPECT_TRUE(entries) << (entries ? "" : to_text(entries.error()));
    if (!entries || entries->size() != 1) {
        ADD_FAILURE() << "not one entry";
        return {};
    }
    return entries->front();
}

std::string error_of(std::string_view text) {
    const auto entries = parse_entries(text, "facts.txt");
    return entries ? "" : to_text(entries.error());
}

TEST(QueryText, FileWithLinesAndTheirPath) {
    const Query query{QueryKind::file, {"/etc/fstab"}};
    const Answer answer{"UUID=1 / ext4 defaults 0 1\nlast", "/etc/fstab", {}};
    const std::string text = "file /etc/fstab resolved=/etc/fstab\n|UUID=1 / ext4 defaults 0 1\n|last\\\n";
    EXPECT_EQ(render_entry(query, answer), text);
    const auto entry = parse_one(text);
    EXPECT_EQ(entry.query, query);
    EXPECT_EQ(entry.answer, answer);
    EXPECT_EQ(entry.line, 1);
}

TEST(QueryText, BackslashAtTheEndIsNotTheMissingNewline) {
    const Query query{QueryKind::file, {"/a"}};
    for (const std::string bytes : {"x\\\n", "x\\", "\\", "\\\n", "\n", "", "\n\n", "a\nb"}) {
        const Answer answer{bytes, "", {}};
        EXPECT_EQ(parse_one(render_entry(query, answer)).answer, answer) << render_entry(query, answer);
    }
}

TEST(QueryText, PathsWithBlanksAndQuotesStayOneWord) {
    const Query query{QueryKind::file, {"/mnt/My Disk/\"x\"\\\t"}};
    EXPECT_EQ(render_entry(query, Answer{}).substr(0, 20), "file /mnt/My\\x20Disk");
    EXPECT_EQ(parse_one(render_entry(query, Answer{})).query, query);
    const Query empty{QueryKind::file, {""}};
    EXPECT_EQ(parse_one(render_entry(empty, Answer{})).query, empty);
}

TEST(QueryText, FactsOfOneLine) {
    EXPECT_EQ(parse_one("now 2026-11-30T12:00:00Z\n").answer.text, "2026-11-30T12:00:00Z");
    EXPECT_EQ(parse_one("link /etc/localtime /usr/share/My Zone\n").answer.text, "/usr/share/My Zone");
    const auto unit = parse_one("unit fstrim.timer UnitFileState=enabled Description=\"Discard unused\" Names=\n");
    EXPECT_EQ(unit.answer.text, "UnitFileState=enabled\nDescription=Discard unused\nNames=\n");
    EXPECT_EQ(parse_one("file /proc/sys/vm/swappiness 60\n").answer.text, "60\n");
    EXPECT_EQ(parse_one("uid 0").answer.text, "0");
}

TEST(QueryText, PropertiesStandOnTheLine) {
    const Query query{QueryKind::stat, {"/etc/fstab"}};
    const Answer answer{"type=file\nmode=0644\n", "/etc/fstab", {}};
    EXPECT_EQ(render_entry(query, answer), "stat /etc/fstab resolved=/etc/fstab type=file mode=0644\n");
    EXPECT_EQ(parse_one(render_entry(query, answer)).answer, answer);
}

TEST(QueryText, RefusalsByName) {
    const auto entry = parse_one("file /etc/crypttab !ENOENT\n");
    ASSERT_TRUE(entry.answer.refusal);
    EXPECT_EQ(entry.answer.refusal->code, ENOENT);
    EXPECT_EQ(entry.answer.refusal->kind, ErrorKind::no_such_file);
    EXPECT_EQ(entry.answer, refuse({QueryKind::file, {"/etc/crypttab"}}, ENOENT));
    const auto unknown = parse_one("link /x !not-captured");
    EXPECT_EQ(unknown.answer.refusal->kind, ErrorKind::not_captured);
}

TEST(QueryText, ALinkThatLooksLikeARefusalIsNone) {
    const Query query{QueryKind::link, {"/a"}};
    for (const std::string target : {"!ENOENT", " x", "x ", "", "a\nb", "|x", "\"x\""}) {
        const Answer answer{target, "", {}};
        EXPECT_EQ(parse_one(render_entry(query, answer)).answer, answer) << render_entry(query, answer);
    }
}

TEST(QueryText, FaultsNameTheirLine) {
    EXPECT_NE(error_of("# c\n\nfil /etc/fstab\n").find("facts.txt:3"), std::string::npos);
    EXPECT_NE(error_of("|x\n").find("before any question"), std::string::npos);
    EXPECT_NE(error_of("file\n").find("lacks its argument"), std::string::npos);
    EXPECT_NE(error_of("file /a !ENOSUCH\n").find("no errno name"), std::string::npos);
    EXPECT_NE(error_of("file /a !ENOENT\n|x\n").find("facts.txt:2"), std::string::npos);
    EXPECT_NE(error_of("file /a\n|x\\\n|y\n").find("facts.txt:3"), std::string::npos);
    EXPECT_NE(error_of("file /a\n|\\xZZ\n").find("malformed escape"), std::string::npos);
    EXPECT_NE(error_of("unit a.timer Active\n").find("key=value"), std::string::npos);
    EXPECT_NE(error_of("unit a.timer A=\"b\n").find("malformed value"), std::string::npos);
    EXPECT_NE(error_of("now 1\n|2\n").find("own line"), std::string::npos);
}

TEST(QueryText, UnknownWordsCanBeLeftOut) {
    const auto entries =
        parse_entries("fiemap /dev/sda extents=2\n|flags\nnow T\n", "x", 1, UnknownWords::are_left_out);
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 1U);
    EXPECT_EQ(entries->front().line, 3);
}

TEST(QueryText, RenderThenParseIsIdentity) {
    EXPECT_TRUE(rc::check("any question and answer read back as themselves", [] {
        const auto kind =
            *rc::gen::element(QueryKind::file, QueryKind::link, QueryKind::list, QueryKind::stat, QueryKind::now,
                              QueryKind::unit, QueryKind::uid, QueryKind::program_exists, QueryKind::dm_table,
                              QueryKind::luks, QueryKind::lvs, QueryKind::image_member);
        Query query{kind, {}};
        for (int i = 0; i < argument_count(kind); ++i) query.args.push_back(*rc::gen::arbitrary<std::string>());
        const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
            "a=", "key=v w", "\n", "\\", " ", "\"", "!", "|", "resolved=/x", "\xff", "=", "#", "\t", "plain"));
        Answer answer;
        for (const auto& piece : pieces) answer.text += piece;
        const bool has_path = kind == QueryKind::file || kind == QueryKind::list || kind == QueryKind::stat;
        if (has_path) answer.resolved = *rc::gen::element<std::string>("", "/a", "/a b", "x=y");
        const auto entries = parse_entries(render_entry(query, answer), "x");
        RC_ASSERT(entries);
        RC_ASSERT(entries->size() == 1U);
        RC_ASSERT(entries->front().query == query);
        RC_ASSERT(entries->front().answer == answer);
    }));
}

TEST(QueryText, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("hostile text gives entries or an error", [] {
        const auto pieces = *rc::gen::container<std::vector<std::string>>(
            rc::gen::element<std::string>("file ", "unit ", "stat ", "/a", "resolved=", "!E", "!ENOENT", "\n", "|",
                                          "\\", "\"", "=", "\\x", "\xff", " "));
        std::string text;
        for (const auto& piece : pieces) text += piece;
        parse_entries(text, "x");
    }));
}

TEST(QueryText, WordsReadBack) {
    for (const auto kind : {QueryKind::file, QueryKind::link, QueryKind::list, QueryKind::stat, QueryKind::now,
                            QueryKind::unit, QueryKind::uid, QueryKind::program_exists})
        EXPECT_EQ(parse_query_kind(to_text(kind)), kind);
    EXPECT_FALSE(parse_query_kind("files"));
}

}  // namespace
}  // namespace storpol
