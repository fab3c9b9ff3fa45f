// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/fstab.h"

#include <gtest/gtest.h>
#include <libmount/libmount.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/text.h"
#include "engine/text/field_edit.h"

namespace storpol {
namespace {

std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string_view bytes_of(std::string_view text, const std::optional<Span>& span) {
    return span ? text.substr(span->begin, span->size()) : std::string_view();
}

TEST(Fstab, ReadsAnEntryWithItsPlaces) {
    const std::string text = "# root\n\nUUID=12 \t /srv/my\\040data  ext4\tnoatime,commit=5 0 2 trailing\n";
    const Fstab fstab = parse_fstab(text);
    ASSERT_EQ(fstab.entries.size(), 1U);
    EXPECT_TRUE(fstab.rejected.empty());
    const FstabEntry& entry = fstab.entries[0];
    EXPECT_EQ(entry.line, 3);
    EXPECT_EQ(entry.source, "UUID=12");
    EXPECT_EQ(entry.target, "/srv/my data");
    EXPECT_EQ(entry.fstype, "ext4");
    EXPECT_EQ(entry.options, "noatime,commit=5");
    EXPECT_EQ(entry.freq, 0);
    EXPECT_EQ(entry.passno, 2);
    EXPECT_EQ(bytes_of(text, entry.fields[1]), "/srv/my\\040data");
    EXPECT_EQ(bytes_of(text, entry.fields[3]), "noatime,commit=5");
    EXPECT_EQ(bytes_of(text, entry.fields[5]), "2");
    EXPECT_EQ(bytes_of(text, entry.bytes), "UUID=12 \t /srv/my\\040data  ext4\tnoatime,commit=5 0 2 trailing");
}

TEST(Fstab, AMissingOptionsFieldIsTold) {
    const Fstab fstab = parse_fstab("proc /proc proc\ntmpfs /tmp tmpfs defaults\n");
    ASSERT_EQ(fstab.entries.size(), 2U);
    EXPECT_FALSE(fstab.entries[0].has_options_field());
    EXPECT_EQ(fstab.entries[0].options, "");
    EXPECT_TRUE(fstab.entries[1].has_options_field());
}

TEST(Fstab, ABadLineTouchesNoOther) {
    const Fstab fstab = parse_fstab(
        "/dev/a /a ext4 ro 0 1\n/dev/b /b\nLABEL=\"my disk\" /c ext4 defaults 0 0\nlonely\n/dev/d /d xfs defaults x "
        "y\n/dev/e /e xfs\n");
    ASSERT_EQ(fstab.entries.size(), 2U);
    EXPECT_EQ(fstab.entries[0].line, 1);
    EXPECT_EQ(fstab.entries[1].line, 6);
    ASSERT_EQ(fstab.rejected.size(), 4U);
    EXPECT_EQ(fstab.rejected[0], (FstabRejected{2, "it has two fields; source, target and type are needed"}));
    EXPECT_EQ(fstab.rejected[1].line, 3);
    EXPECT_EQ(fstab.rejected[2].line, 4);
    EXPECT_EQ(fstab.rejected[3].line, 5);
    EXPECT_NE(fstab.rejected[3].why.find("not a number"), std::string::npos);
}

TEST(Fstab, ALineOfNumbersIsNoMountinfo) {
    const Fstab fstab = parse_fstab("1 2 ext4 ro\nFilename\t/x ext4 rw 0 0\n");
    ASSERT_EQ(fstab.entries.size(), 2U);
    EXPECT_EQ(fstab.entries[0].source, "1");
    EXPECT_EQ(fstab.entries[1].source, "Filename");
}

TEST(Fstab, ReturnsAndMissingNewlinesAreNoPartOfTheEntry) {
    const std::string text = "/dev/a /a ext4 noatime\r\n/dev/b /b ext4 relatime";
    const Fstab fstab = parse_fstab(text);
    ASSERT_EQ(fstab.entries.size(), 2U);
    EXPECT_EQ(fstab.entries[0].options, "noatime");
    EXPECT_EQ(bytes_of(text, fstab.entries[0].fields[3]), "noatime");
    EXPECT_EQ(fstab.entries[1].options, "relatime");
}

TEST(Fstab, AByteOrderMarkBelongsToTheFirstField) {
    const Fstab fstab = parse_fstab("\xEF\xBB\xBF/dev/a /a ext4 ro\n/dev/b /b ext4 ro\n");
    ASSERT_EQ(fstab.entries.size(), 2U);
    EXPECT_EQ(fstab.entries[0].source, "\xEF\xBB\xBF/dev/a");
}

TEST(Fstab, SurvivesNulAndBytesThatAreNoUtf8) {
    const Fstab fstab = parse_fstab(std::string_view("/dev/a /a\0 ext4 ro\n/dev/\xff /b ext4 ro\n", 37));
    ASSERT_EQ(fstab.entries.size(), 1U);
    EXPECT_EQ(fstab.entries[0].source, "/dev/\xff");
    ASSERT_EQ(fstab.rejected.size(), 1U);
    EXPECT_EQ(fstab.rejected[0].line, 1);
}

TEST(Fstab, ALineOfAHundredKibibytesIsOneLine) {
    const std::string options(100 * 1024, 'x');
    const Fstab fstab = parse_fstab("/dev/a /a ext4 " + options + " 0 1\n/dev/b /b ext4 ro 0 2\n");
    ASSERT_EQ(fstab.entries.size(), 2U);
    EXPECT_EQ(fstab.entries[0].options, options);
    EXPECT_EQ(fstab.entries[1].line, 2);
}

TEST(Fstab, EscapingIsUndoneByUnescaping) {
    EXPECT_EQ(escape_fstab_field("/my disk\t#1"), "/my\\040disk\\011\\0431");
    EXPECT_EQ(unescape_fstab_field("a\\040b\\0"), "a b\\0");
    EXPECT_TRUE(rc::check("escape then unescape", [](const std::string& field) {
        RC_ASSERT(unescape_fstab_field(escape_fstab_field(field)) == field);
    }));
}

// What libmount makes of a whole file, as its users see it: entries only.
std::vector<std::string> entries_of_libmount(const std::string& text) {
    std::vector<std::string> lines;
    libmnt_table* const table = mnt_new_table();
    std::string all = "none none none\n" + text;  // settles the format it guesses
    FILE* const stream = fmemopen(all.data(), all.size(), "r");
    mnt_table_parse_stream(table, stream, "fstab");
    std::fclose(stream);
    libmnt_iter* const iterator = mnt_new_iter(MNT_ITER_FORWARD);
    libmnt_fs* fs = nullptr;
    while (mnt_table_next_fs(table, iterator, &fs) == 0) {
        const char* const options = mnt_fs_get_options(fs);
        lines.push_back(std::string(mnt_fs_get_source(fs)) + "|" + mnt_fs_get_target(fs) + "|" + mnt_fs_get_fstype(fs) +
                        "|" + (options == nullptr ? "" : options) + "|" + std::to_string(mnt_fs_get_freq(fs)) + "|" +
                        std::to_string(mnt_fs_get_passno(fs)));
    }
    mnt_free_iter(iterator);
    mnt_unref_table(table);
    lines.erase(lines.begin());
    return lines;
}

TEST(Fstab, AgreesWithLibmountOnAnyText) {
    const auto piece = rc::gen::element<std::string>(
        "/dev/a", "UUID=1", "/srv", "ext4", "noatime,commit=5", " ", "\t", "  ", "\n", "\r\n", "#", "0", "1", "-3",
        "99999999999", "x", "\\040", "\\", "\"", "swap", "none", "defaults", "\n", " ", " ", "\r");
    EXPECT_TRUE(rc::check("same entries", [&] {
        std::string text;
        for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
        std::vector<std::string> ours;
        for (const FstabEntry& entry : parse_fstab(text).entries) {
            ours.push_back(entry.source + "|" + entry.target + "|" + entry.fstype + "|" + entry.options + "|" +
                           std::to_string(entry.freq) + "|" + std::to_string(entry.passno));
        }
        RC_ASSERT(ours == entries_of_libmount(text));
    }));
}

TEST(Fstab, FieldsAndLinesLieWhereTheySay) {
    EXPECT_TRUE(rc::check("spans", [](const std::string& noise) {
        const std::string text = noise + "\n/dev/a /a ext4 ro 0 1\n" + noise;
        for (const FstabEntry& entry : parse_fstab(text).entries) {
            RC_ASSERT(entry.bytes.end <= text.size());
            const auto line =
                1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(entry.bytes.begin), '\n');
            RC_ASSERT(line == entry.line);
            RC_ASSERT(unescape_fstab_field(bytes_of(text, entry.fields[0])) == entry.source);
            RC_ASSERT(unescape_fstab_field(bytes_of(text, entry.fields[2])) == entry.fstype);
        }
    }));
}

TEST(Fstab, TenThousandLinesAreTenThousandEntries) {
    std::string text;
    for (int i = 0; i < 10000; ++i) {
        text += "UUID=0a1b2c3d-0000-0000-0000-" + std::to_string(100000000000 + i) + " /srv/data" + std::to_string(i) +
                " ext4 defaults,noatime,commit=300,nofail,x-systemd.device-timeout=10s 0 2\n";
    }
    const auto fstab = parse_fstab(text);
    ASSERT_EQ(fstab.entries.size(), 10000U);
    EXPECT_EQ(fstab.entries.back().line, 10000);
    EXPECT_EQ(fstab.entries.back().target, "/srv/data9999");
}

// The corpus of real files, where there is one.
struct CorpusFile {
    std::string text;
    std::string expected;  // JSON of findmnt; empty where the file has none
    std::vector<int> rejected;
};

std::vector<std::pair<std::string, CorpusFile>> corpus() {
    std::vector<std::pair<std::string, CorpusFile>> files;
    const char* const shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) return files;
    const std::filesystem::path root = std::filesystem::path(shared) / "corpus";
    const std::string index = slurp(root / "INDEX.tsv");
    for (const std::string_view row : split_lines(index)) {
        const auto columns = split(row, '\t');
        if (columns.size() < 7 || !columns[1].ends_with(".fstab")) continue;
        CorpusFile file;
        file.text = slurp(root / columns[0] / columns[1]);
        file.expected = slurp(root / "expected" / columns[0] / (std::string(columns[1]) + ".findmnt.json"));
        const std::size_t at = columns[6].find(", line ");
        if (at != std::string_view::npos) {
            const std::string_view numbers = columns[6].substr(at + 7, columns[6].size() - at - 8);
            for (const std::string_view number : split(numbers, ','))
                file.rejected.push_back(static_cast<int>(*parse_int(number)));
        }
        files.emplace_back(std::string(columns[0]) + "/" + std::string(columns[1]), std::move(file));
    }
    return files;
}

std::string text_of(const nlohmann::json& value) {
    return value.is_null() ? "" : value.get<std::string>();
}

TEST(FstabCorpus, EveryFileReadsAsLibmountReadsIt) {
    const auto files = corpus();
    if (files.empty()) GTEST_SKIP() << "STORPOL_SHARED names no folder with corpus/";
    std::size_t checked = 0;
    for (const auto& [name, file] : files) {
        const Fstab fstab = parse_fstab(file.text);
        std::vector<int> rejected;
        for (const FstabRejected& line : fstab.rejected) rejected.push_back(line.line);
        if (!file.expected.empty()) {
            EXPECT_EQ(rejected, file.rejected) << name;
            const auto json = nlohmann::json::parse(file.expected);
            const auto& rows = json.at("filesystems");
            ASSERT_EQ(fstab.entries.size(), rows.size()) << name;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                EXPECT_EQ(fstab.entries[i].source, text_of(rows[i].at("source"))) << name;
                EXPECT_EQ(fstab.entries[i].target, text_of(rows[i].at("target"))) << name;
                EXPECT_EQ(fstab.entries[i].fstype, text_of(rows[i].at("fstype"))) << name;
                EXPECT_EQ(fstab.entries[i].options, text_of(rows[i].at("options"))) << name;
                EXPECT_EQ(fstab.entries[i].freq, rows[i].at("freq").get<int>()) << name;
                EXPECT_EQ(fstab.entries[i].passno, rows[i].at("passno").get<int>()) << name;
            }
            ++checked;
        }
    }
    EXPECT_GT(checked, 40U);
}

TEST(FstabCorpus, AnEditOfOneOptionChangesThatFieldAlone) {
    const auto files = corpus();
    if (files.empty()) GTEST_SKIP() << "STORPOL_SHARED names no folder with corpus/";
    std::size_t edits = 0;
    for (const auto& [name, file] : files) {
        for (const FstabEntry& entry : parse_fstab(file.text).entries) {
            const auto& field = entry.fields[fstab_options_field - 1];
            if (!field) continue;
            const auto same = edit_words(file.text, entry.line, fstab_options_field, {}, {});
            ASSERT_TRUE(same) << name << ": " << same.error().what;
            EXPECT_EQ(*same, file.text) << name;
            const std::vector<std::string> word{"x-storpol-probe"};
            const auto edited = edit_words(file.text, entry.line, fstab_options_field, {}, word);
            ASSERT_TRUE(edited) << name << ": " << edited.error().what;
            EXPECT_EQ(edited->substr(0, field->begin), file.text.substr(0, field->begin)) << name;
            const std::string tail = file.text.substr(field->end);
            EXPECT_TRUE(edited->ends_with(tail)) << name;
            const std::string now = edited->substr(field->begin, edited->size() - field->begin - tail.size());
            const std::string before(bytes_of(file.text, field));
            EXPECT_EQ(now, before + "," + word[0]) << name;
            ++edits;
        }
    }
    EXPECT_GT(edits, 400U);
}

TEST(Fstab, AMissingOptionsFieldCanBeWritten) {
    const std::string text = "proc /proc proc\ntmpfs /tmp tmpfs ro\n";
    const std::vector<std::string> word{"noatime"};
    const auto edited = edit_words(text, 1, fstab_options_field, {}, word);
    ASSERT_TRUE(edited);
    EXPECT_EQ(*edited, "proc /proc proc noatime\ntmpfs /tmp tmpfs ro\n");
    EXPECT_EQ(parse_fstab(*edited).entries[0].options, "noatime");
}

}  // namespace
}  // namespace storpol
