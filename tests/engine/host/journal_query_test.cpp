// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/journal_query.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/base/result.h"
#include "engine/host/packages.h"

namespace storpol {
namespace {

TEST(JournalQuery, AnEntryIsOneLine) {
    EXPECT_EQ(render_journal_line({"2026-11-29T00:11:02Z", "/: 1 GiB (1073741824 bytes) trimmed on /dev/sda1", "", ""}),
              "2026-11-29T00:11:02Z \"/: 1 GiB (1073741824 bytes) trimmed on /dev/sda1\"\n");
    EXPECT_EQ(render_journal_line({"2026-11-29T00:11:02Z", "two\nlines", "", ""}),
              "2026-11-29T00:11:02Z \"two\\x0alines\"\n");
    EXPECT_EQ(render_journal_line({"2026-11-29T00:11:03Z", "", "exit-code", "1"}),
              "2026-11-29T00:11:03Z result=exit-code status=1\n");
    EXPECT_EQ(render_journal_line({"2026-11-29T00:11:03Z", "", "condition", "ConditionACPower=true"}),
              "2026-11-29T00:11:03Z result=condition status=ConditionACPower=true\n");
    EXPECT_EQ(render_journal_line({"", "no time", "", ""}), "");
    EXPECT_EQ(render_journal_line({"2026-11-29T00:11:03Z", "", "", ""}), "");
}

TEST(JournalQuery, ACountThatIsNoneIsRefused) {
    for (const char* count : {"0", "-1", "many", "", "999999999"}) {
        const auto answer = answer_journal({QueryKind::journal, {"fstrim.service", count}});
        ASSERT_TRUE(answer.refusal) << count;
        EXPECT_EQ(answer.refusal->code, EINVAL) << count;
    }
}

// Whatever this machine has: an answer, or one of the refusals that say why.
TEST(JournalQuery, AnswersOrSaysWhyNot) {
    const auto answer = answer_journal({QueryKind::journal, {"storpol-no-such-unit.service", "10"}});
    if (!answer.refusal) {
        EXPECT_EQ(answer.text, "");
        return;
    }
    EXPECT_TRUE(answer.refusal->code == ENOENT || answer.refusal->code == EACCES) << to_text(*answer.refusal);
}

TEST(Packages, TheInstalledVersionIsFound) {
    const std::string status =
        "Package: mount\nStatus: install ok installed\nVersion: 2.38.1-5\n\n"
        "Package: util-linux\nEssential: yes\nStatus: install ok installed\nArchitecture: amd64\nVersion: "
        "2.38.1-5+deb12u3\n"
        "Description: util\n Version: 9\n\nPackage: util-linux-extra\nStatus: deinstall ok config-files\nVersion: 1\n";
    EXPECT_EQ(dpkg_version(status, "util-linux"), "2.38.1-5+deb12u3");
    EXPECT_EQ(dpkg_version(status, "util-linux-extra"), "");
    EXPECT_EQ(dpkg_version(status, "nothing"), "");
    EXPECT_EQ(dpkg_version("", "util-linux"), "");
}

}  // namespace
}  // namespace storpol
