// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/host/host.h"
#include "engine/reconcile/fold.h"
#include "engine/topology/topology.h"
#include "resources/zram/persisted.h"
#include "tests/support/zram_oracle.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;
constexpr const char* program = "/usr/lib/systemd/system-generators/zram-generator";
constexpr const char* main_file = "/etc/systemd/zram-generator.conf";
constexpr const char* own_file = "/etc/systemd/zram-generator.conf.d/50-storpol.conf";
constexpr const char* zramswap = "/etc/default/zramswap";

void put_package(MemoryHost& host, const std::string& name, const std::string& version) {
    Answer answer;
    answer.text = version;
    host.put(Query{QueryKind::package, {name}}, answer);
}

MemoryHost machine(const std::string& version = "") {
    MemoryHost host;
    host.put_file("/proc/meminfo", "MemTotal:        8192000 kB\nMemFree:  1 kB\n");  // 8000 MiB
    host.put_file("/proc/cmdline", "quiet\n");
    host.put_file("/run/systemd/system/x", "");
    if (!version.empty()) put_package(host, "systemd-zram-generator", version);
    return host;
}

MemoryHost generator(const std::string& text, const std::string& version = "1.2.1-2") {
    auto host = machine(version);
    host.put_file(program, "x");
    host.put_file(main_file, text);
    return host;
}

MemoryHost tools(const std::string& text) {
    auto host = machine();
    host.put_file("/usr/sbin/zramswap", "x");
    host.put_file("/lib/systemd/system/zramswap.service", "x");
    host.put_link("/etc/systemd/system/multi-user.target.wants/zramswap.service",
                  "/lib/systemd/system/zramswap.service");
    host.put_file(zramswap, text);
    return host;
}

MemoryHost openrc(const std::string& text) {
    MemoryHost host;
    host.put_file("/proc/meminfo", "MemTotal:        8192000 kB\n");
    host.put_file("/run/openrc/softlevel", "default");
    host.put_file("/etc/init.d/zram-init", "x");
    host.put_link("/etc/runlevels/boot/zram-init", "/etc/init.d/zram-init");
    host.put_file("/etc/conf.d/zram-init", text);
    return host;
}

// "4194304000 at FILE:1", "unset (default 100)", "unknown: why".
std::string said(Host& host, std::string_view property, std::string_view device = "zram0") {
    const auto reading = ZramPersisted(host, running_boot_line(host)).read(device, property);
    if (const auto* found = std::get_if<Found>(&reading.state)) return to_text(found->value) + " at " + reading.source;
    if (const auto* unset = std::get_if<Unset>(&reading.state)) {
        return unset->default_value ? "unset (default " + to_text(*unset->default_value) + ")" : "unset";
    }
    if (const auto* unknown = std::get_if<Unknown>(&reading.state)) return "unknown: " + unknown->why;
    return "absent";
}

ZramWish wish(const std::string& property,
              const std::string& text,
              std::int64_t number = 0,
              const std::string& device = "zram0") {
    ZramWish made;
    made.device = device;
    made.property = property;
    made.text = text;
    made.number = number;
    made.slack = std::max(mib, number / 100);
    made.of = {make_address("zram", device, property), Plane::persisted};
    return made;
}

struct Done {
    std::vector<Gap> gaps;
    std::vector<std::string> touched;

    std::string gap(const std::string& property) const {
        for (const auto& one : gaps) {
            if (one.of.address.ends_with("." + property)) return one.cannot;
        }
        return {};
    }
};

// Does what the remedy says to the machine in memory.
Done carry_out(MemoryHost& host, const std::vector<ZramWish>& wishes) {
    auto remedy = ZramPersisted(host, running_boot_line(host)).remedy(wishes);
    Done done;
    done.gaps = remedy.gaps;
    for (const auto& action : fold_edits(remedy.actions, done.gaps, host)) {
        if (const auto* replace = std::get_if<ReplaceFile>(&action.step)) host.put_file(replace->path, replace->bytes);
        if (const auto* link = std::get_if<SetLink>(&action.step)) host.put_link(link->path, link->target);
        EXPECT_EQ(action.when, When::next_boot);
        done.touched.push_back(action.target);
    }
    return done;
}

bool has_finding(Host& host, const std::string& code, const std::string& text = "") {
    const std::vector<std::string> devices{"zram0"};
    for (const auto& finding : ZramPersisted(host, running_boot_line(host)).findings(devices)) {
        if (finding.code == code && finding.says.find(text) != std::string::npos) return true;
    }
    return false;
}

TEST(ZramPersisted, GeneratorIsReadWithItsPrecedence) {
    auto host = generator("[zram0]\nzram-size = ram / 2\ncompression-algorithm = zstd(level=7)\n");
    host.put_file("/usr/lib/systemd/zram-generator.conf", "[zram0]\nswap-priority = 5\n");
    host.put_file("/etc/systemd/zram-generator.conf.d/10-a.conf", "[zram0]\noptions = discard=once\n");
    host.put_file("/run/systemd/zram-generator.conf.d/10-a.conf", "[zram0]\noptions =\n");
    EXPECT_EQ(said(host, "size"), "4194304000 at /etc/systemd/zram-generator.conf:2");
    EXPECT_EQ(said(host, "algorithm"), "zstd at /etc/systemd/zram-generator.conf:3");
    EXPECT_EQ(said(host, "level"), "7 at /etc/systemd/zram-generator.conf:3");
    EXPECT_EQ(said(host, "priority"), "unset (default 100)") << "the vendor's main file is hidden";
    EXPECT_EQ(said(host, "discard"), "off at /run/systemd/zram-generator.conf.d/10-a.conf:2") << "/run beats /etc";
    EXPECT_EQ(said(host, "resident-limit"), "unset (default 0)");
    EXPECT_EQ(said(host, "size", "zram1"), "unset");
    EXPECT_EQ(ZramPersisted(host, running_boot_line(host)).devices(), std::vector<std::string>{"zram0"});
}

TEST(ZramPersisted, DropInHoldsTheManagedKeysAlone) {
    auto host = generator("[zram0]\n");
    const auto done = carry_out(
        host, {wish("size", "50%", 4000 * mib), wish("algorithm", "zstd"), wish("level", "1", 1),
               wish("priority", "7", 7), wish("discard", "once"), wish("resident-limit", "1GiB", 1024 * mib)});
    EXPECT_TRUE(done.gaps.empty()) << done.gaps.front().cannot;
    EXPECT_EQ(done.touched, std::vector<std::string>{own_file});
    EXPECT_EQ(host.files().at(main_file), "[zram0]\n");
    const auto& text = host.files().at(own_file);
    for (const char* line : {"[zram0]\n", "\nzram-size = ram * 0.5\n", "\ncompression-algorithm = zstd(level=1)\n",
                             "\nswap-priority = 7\n", "\noptions = discard=once\n", "\nzram-resident-limit = 1024\n",
                             "# zram[\"zram0\"].size\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
    EXPECT_EQ(said(host, "level").substr(0, 5), "1 at ");
    EXPECT_EQ(said(host, "discard").substr(0, 5), "once ");
    EXPECT_EQ(said(host, "size").substr(0, 13), "4194304000 at");
}

TEST(ZramPersisted, DropInIsWhatTheRealGeneratorTakes) {
    if (ZramOracle::program().empty()) GTEST_SKIP() << ZramOracle::why_skipped;
    auto host = generator("[zram0]\n");
    carry_out(host, {wish("size", "50%", 4000 * mib), wish("algorithm", "zstd"), wish("level", "1", 1),
                     wish("priority", "7", 7), wish("discard", "once")});
    const auto real = ZramOracle().ask({{main_file, "[zram0]\n"}, {own_file, host.files().at(own_file)}});
    EXPECT_EQ(real.exit_code, 0);
    ASSERT_EQ(real.units.count("dev-zram0.swap"), 1U);
    EXPECT_NE(real.units.at("dev-zram0.swap").find("Priority=7\nOptions=discard=once\n"), std::string::npos);
}

TEST(ZramPersisted, OlderGeneratorCannotSetLevels) {
    auto host = generator("[zram0]\ncompression-algorithm = zstd(level=1)\n", "1.1.2-2+b2");
    EXPECT_EQ(said(host, "algorithm"), "zstd(level=1) at /etc/systemd/zram-generator.conf:2");
    EXPECT_TRUE(has_finding(host, "zram-level-ignored"));
    const auto done =
        carry_out(host, {wish("algorithm", "zstd"), wish("level", "1", 1), wish("resident-limit", "1GiB", 1024 * mib)});
    EXPECT_EQ(done.gap("algorithm"), "");
    EXPECT_EQ(done.gap("level"), "zram-generator 1.1.2-2+b2 knows no levels; 1.2.0 and newer do");
    EXPECT_NE(done.gap("resident-limit"), "");
    EXPECT_EQ(said(host, "algorithm"), "zstd at /etc/systemd/zram-generator.conf.d/50-storpol.conf:5");
    auto unknown = generator("[zram0]\ncompression-algorithm = zstd(level=1)\n", "");
    EXPECT_EQ(said(unknown, "level").substr(0, 8), "unknown:");
}

TEST(ZramPersisted, WhatElseStandsInTheLineStays) {
    auto host = generator(
        "[zram0]\ncompression-algorithm = zstd(level=1,dict=/d) lz4hc (type=idle)\n"
        "options = x-a,discard\n");
    carry_out(host, {wish("level", "5", 5), wish("discard", "off")});
    const auto& text = host.files().at(own_file);
    EXPECT_NE(text.find("compression-algorithm = zstd(level=5,dict=/d) lz4hc (type=idle)\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("options = x-a\n"), std::string::npos) << text;
}

TEST(ZramPersisted, ObsoleteKeysAreOutdone) {
    for (const bool percent : {true, false}) {
        auto host = generator("[zram0]\nzram-fraction = 0.1\nmax-zram-size = 100\n");
        EXPECT_EQ(said(host, "size"), "104857600 at /etc/systemd/zram-generator.conf:2");
        const auto done =
            carry_out(host, {percent ? wish("size", "50%", 4000 * mib) : wish("size", "3GiB", 3072 * mib)});
        EXPECT_EQ(done.gap("size"), "");
        EXPECT_EQ(said(host, "size").substr(0, 10), percent ? "4194304000" : "3221225472");
    }
}

TEST(ZramPersisted, WhatStillWinsIsNamed) {
    auto host = generator("[zram0]\n");
    host.put_file("/etc/systemd/zram-generator.conf.d/90-site.conf", "[zram0]\nzram-size = 100\n");
    EXPECT_EQ(carry_out(host, {wish("size", "50%", 4000 * mib)}).gap("size"),
              "overridden by /etc/systemd/zram-generator.conf.d/90-site.conf:2");
    EXPECT_EQ(host.files().count(own_file), 0U);
    auto hidden = generator("[zram0]\n");
    hidden.put_file("/run/systemd/zram-generator.conf.d/50-storpol.conf", "[zram0]\n");
    EXPECT_NE(carry_out(hidden, {wish("size", "25%", 2000 * mib)}).gap("size").find("hides it"), std::string::npos);
}

TEST(ZramPersisted, BadValueStopsItAndOursDoesNotHelp) {
    auto host = generator("[zram1]\nzram-size = 10 # MiB\n");
    EXPECT_EQ(said(host, "size"), "unset");
    EXPECT_TRUE(has_finding(host, "zram-generator-gives-up"));
    const auto done = carry_out(host, {wish("size", "50%", 4000 * mib)});
    EXPECT_NE(done.gap("size").find("gives up at /etc/systemd/zram-generator.conf:2"), std::string::npos);
    EXPECT_TRUE(done.touched.empty());
}

TEST(ZramPersisted, SwitchedOffAtTheKernelsCommandLine) {
    auto host = generator("[zram0]\nzram-size = ram / 2\n");
    host.put_file("/proc/cmdline", "root=/dev/sda1 systemd.zram=0\n");
    EXPECT_EQ(said(host, "size"), "unset");
    EXPECT_TRUE(has_finding(host, "zram-switched-off", "systemd.zram=0"));
    EXPECT_NE(carry_out(host, {wish("size", "50%", 4000 * mib)}).gap("size").find("systemd.zram=0"), std::string::npos);
}

TEST(ZramPersisted, NextBootsCommandLineCounts) {
    auto host = generator("[zram0]\nzram-size = ram / 2\n");
    host.put_file("/boot/loader/entries/a.conf", "title A\nlinux /vmlinuz\noptions root=/dev/sda2 rw systemd.zram=0\n");
    const Topology topology(host);
    const auto off = ZramPersisted(topology, host).read("zram0", "size");
    EXPECT_TRUE(std::holds_alternative<Unset>(off.state));
    EXPECT_EQ(off.source.substr(0, 28), "/boot/loader/entries/a.conf:");
    auto other = generator("[zram0]\nzram-size = ram / 2\n");
    other.put_file("/proc/cmdline", "systemd.zram=0\n");
    other.put_file("/boot/loader/entries/a.conf", "title A\nlinux /vmlinuz\noptions root=/dev/sda2 rw\n");
    const Topology of_other(other);
    const auto on = ZramPersisted(of_other, other).read("zram0", "size");
    EXPECT_TRUE(std::holds_alternative<Found>(on.state)) << "taken out since, for the next boot";
}

TEST(ZramPersisted, MemoryLimitIsLifted) {
    auto host = generator("[zram0]\nhost-memory-limit = 100\nzram-size = ram / 2\n");
    EXPECT_EQ(said(host, "size"), "unset");
    EXPECT_TRUE(has_finding(host, "zram-not-made", "host-memory-limit = 100"));
    EXPECT_EQ(carry_out(host, {wish("size", "50%", 4000 * mib)}).gap("size"), "");
    EXPECT_EQ(said(host, "size").substr(0, 13), "4194304000 at");
}

TEST(ZramPersisted, WhatAProgramPrintsIsUnknown) {
    auto host = generator("set!x = nproc\n[zram0]\nzram-size = x * 100\n");
    EXPECT_EQ(said(host, "size").substr(0, 8), "unknown:");
    EXPECT_EQ(said(host, "priority"), "unset (default 100)");
}

TEST(ZramPersisted, WithoutTheMemoryNoSizeIsTold) {
    auto host = generator("[zram0]\nzram-size = ram / 2\nswap-priority = 5\n");
    host.remove("/proc/meminfo");
    EXPECT_EQ(said(host, "size").substr(0, 8), "unknown:");
    EXPECT_EQ(said(host, "priority").substr(0, 4), "5 at");
}

TEST(ZramPersisted, EightGIsAFinding) {
    auto host = generator("[zram0]\nzram-size = 8G\n");
    EXPECT_TRUE(has_finding(host, "zram-generator-line", "8000000000 MiB"));
    EXPECT_EQ(carry_out(host, {wish("size", "8GiB", 8192 * mib)}).gap("size"), "");
    EXPECT_EQ(said(host, "size").substr(0, 13), "8589934592 at");
}

TEST(ZramPersisted, TwoOwnersAreUnknownAndNamed) {
    auto host = tools("PERCENT=50\n");
    host.put_file(program, "x");
    host.put_file(main_file, "[zram0]\n");
    const auto size = said(host, "size");
    EXPECT_NE(size.find("unknown: several programs set up zram"), std::string::npos) << size;
    EXPECT_NE(size.find("zram-generator (/etc/systemd/zram-generator.conf)"), std::string::npos);
    EXPECT_NE(size.find("zram-tools ("), std::string::npos);
    EXPECT_TRUE(has_finding(host, "zram-several-owners"));
    const auto done = carry_out(host, {wish("size", "50%", 4000 * mib)});
    EXPECT_TRUE(done.touched.empty());
    EXPECT_NE(done.gap("size"), "");
}

TEST(ZramPersisted, DisabledAndMaskedServicesAreNoOwners) {
    auto host = tools("PERCENT=50\n");
    host.put_link("/etc/systemd/system/zramswap.service", "/dev/null");
    EXPECT_TRUE(ZramPersisted(host, running_boot_line(host)).ownership().owners.empty());
    auto removed = machine();
    removed.put_link("/etc/systemd/system/multi-user.target.wants/zramswap.service", "/lib/systemd/system/gone");
    EXPECT_TRUE(ZramPersisted(removed, running_boot_line(removed)).ownership().owners.empty());
    auto masked = generator("[zram0]\n");
    masked.put_link("/etc/systemd/system-generators/zram-generator", "/dev/null");
    EXPECT_TRUE(has_finding(masked, "zram-configuration-unread"));
}

TEST(ZramPersisted, ZramToolsIsReadAndEdited) {
    auto host = tools("# Compression\nALGO=lz4\nPERCENT=25 # of RAM\n#PRIORITY=100\n");
    EXPECT_EQ(said(host, "size"), "2097152000 at /etc/default/zramswap:3");
    EXPECT_EQ(said(host, "algorithm"), "lz4 at /etc/default/zramswap:2");
    EXPECT_EQ(said(host, "priority"), "unset (default 100)");
    EXPECT_EQ(said(host, "discard"), "unset (default off)");
    const auto done =
        carry_out(host, {wish("size", "50%", 4000 * mib), wish("algorithm", "zstd"), wish("priority", "7", 7),
                         wish("level", "1", 1), wish("resident-limit", "1GiB", 1024 * mib)});
    EXPECT_EQ(host.files().at(zramswap), "# Compression\nALGO=zstd\nPERCENT=50 # of RAM\n#PRIORITY=100\nPRIORITY=7\n");
    EXPECT_EQ(done.gap("level"), "zram-tools has no setting for it");
    EXPECT_NE(done.gap("resident-limit"), "");
    EXPECT_EQ(said(host, "priority"), "7 at /etc/default/zramswap:5");
}

TEST(ZramPersisted, ZramToolsTakesBytesOnlyWithoutPercent) {
    auto host = tools("PERCENT=25\n");
    EXPECT_EQ(carry_out(host, {wish("size", "3GiB", 3072 * mib)}).gap("size"), "");
    EXPECT_EQ(host.files().at(zramswap), "PERCENT=\nSIZE=3072\n");
    EXPECT_EQ(said(host, "size"), "3221225472 at /etc/default/zramswap:2");
    auto odd = tools("export PERCENT=25; true\n");
    carry_out(odd, {wish("size", "50%", 4000 * mib)});
    EXPECT_EQ(odd.files().at(zramswap), "export PERCENT=25; true\nPERCENT=50\n");
    EXPECT_NE(carry_out(odd, {wish("size", "50%", 4000 * mib, "zram1")}).gap("size"), "");
}

TEST(ZramPersisted, ZramInitOfOpenrc) {
    auto host = openrc("num_devices=1\ntype0=swap\nflag0=\nsize0=512\nalgo0=zstd\n");
    EXPECT_EQ(said(host, "size"), "536870912 at /etc/conf.d/zram-init:4");
    EXPECT_EQ(said(host, "priority"), "unset (default 16383)");
    const auto done = carry_out(host, {wish("size", "50%", 4000 * mib), wish("priority", "100", 100),
                                       wish("resident-limit", "1GiB", 1024 * mib), wish("discard", "off")});
    EXPECT_TRUE(done.gaps.empty()) << done.gaps.front().cannot;
    EXPECT_EQ(host.files().at("/etc/conf.d/zram-init"),
              "num_devices=1\ntype0=swap\nflag0=100\nsize0=4000\nalgo0=zstd\nmlim0=1024\nnotr0=yes\n");
    EXPECT_EQ(said(host, "discard").substr(0, 6), "off at");
}

TEST(ZramPersisted, OwnersWithoutConfigurationAreNamedAndLeftAlone) {
    auto host = machine();
    host.put_file("/etc/systemd/system/multi-user.target.wants/zram-config.service", "x");
    EXPECT_NE(said(host, "size").find("unknown: zram-config"), std::string::npos);
    EXPECT_TRUE(has_finding(host, "zram-owner-not-managed"));
    auto rules = machine();
    rules.put_file("/etc/udev/rules.d/99-zram.rules",
                   "# by hand\nKERNEL==\"zram0\", ATTR{disksize}=\"1024M\" RUN+=\"/usr/bin/mkswap /dev/zram0\"\n");
    EXPECT_NE(said(rules, "size").find("a udev rule (/etc/udev/rules.d/99-zram.rules:2)"), std::string::npos);
    auto nixos = machine();
    nixos.put_file("/etc/NIXOS", "");
    EXPECT_NE(said(nixos, "size").find("unknown: NixOS"), std::string::npos);
    EXPECT_TRUE(carry_out(nixos, {wish("size", "50%", 4000 * mib)}).touched.empty());
}

TEST(ZramPersisted, LineOfFstabBesideTheOwnerIsSaid) {
    auto host = generator("[zram0]\n");
    host.put_file("/etc/fstab", "UUID=1 / ext4 defaults 0 1\n/dev/zram0 none swap defaults,pri=5 0 0\n");
    EXPECT_TRUE(has_finding(host, "zram-in-fstab", "/dev/zram0"));
    host.put_file("/etc/fstab", "/dev/zram1 none swap defaults 0 0\n# /dev/zram0 none swap sw 0 0\n");
    EXPECT_FALSE(has_finding(host, "zram-in-fstab"));
}

TEST(ZramPersisted, OwnUnitWhereThereIsNothingElse) {
    auto host = machine();
    EXPECT_EQ(said(host, "size"), "unset");
    EXPECT_NE(carry_out(host, {wish("priority", "7", 7)}).gap("priority").find("name a size"), std::string::npos);
    const auto done = carry_out(host, {wish("size", "50%", 4000 * mib), wish("algorithm", "zstd"),
                                       wish("priority", "7", 7), wish("discard", "on"), wish("level", "1", 1)});
    EXPECT_NE(done.gap("level").find("zram-generator"), std::string::npos);
    EXPECT_EQ(done.gaps.size(), 1U);
    EXPECT_EQ(said(host, "size").substr(0, 13), "4194304000 at");
    EXPECT_EQ(said(host, "algorithm").substr(0, 7), "zstd at");
    EXPECT_EQ(said(host, "priority").substr(0, 4), "7 at");
    EXPECT_EQ(said(host, "discard").substr(0, 5), "on at");
    carry_out(host, {wish("size", "25%", 2000 * mib), wish("discard", "off"), wish("priority", "8", 8)});
    EXPECT_EQ(said(host, "size").substr(0, 13), "2097152000 at");
    EXPECT_EQ(said(host, "discard"), "unset (default off)");
    EXPECT_EQ(said(host, "priority").substr(0, 4), "8 at");
    EXPECT_EQ(ZramPersisted(host, running_boot_line(host)).ownership().kind(), ZramOwnerKind::own_unit);
    EXPECT_EQ(zram_setup_unit(ZramOwnerKind::own_unit, "zram0"), "storpol-zram0.service");
}

TEST(ZramPersisted, InstalledGeneratorIsChosenWhereNothingIsSetUp) {
    auto host = machine("1.2.1");
    host.put_file(program, "x");
    EXPECT_EQ(ZramPersisted(host, running_boot_line(host)).ownership().kind(), ZramOwnerKind::generator);
    EXPECT_EQ(carry_out(host, {wish("size", "2GiB", 2048 * mib)}).gap("size"), "");
    EXPECT_EQ(said(host, "size").substr(0, 13), "2147483648 at");
}

TEST(ZramPersisted, FilesHideAndMaskOneAnotherAsForTheRealGenerator) {
    if (ZramOracle::program().empty()) GTEST_SKIP() << ZramOracle::why_skipped;
    ZramOracle oracle;
    EXPECT_TRUE(rc::check("priority of any set of files", [&oracle] {
        std::map<std::string, std::string> files;
        auto host = machine("1.2.1");
        host.put_file(program, "x");
        host.put_file("/dev/null", "");
        int priority = 1;
        for (const char* folder : {"/usr/lib", "/usr/local/lib", "/etc", "/run"}) {
            for (const char* name : {".conf", ".conf.d/10-a.conf", ".conf.d/50-storpol.conf", ".conf.d/a.conf",
                                     ".conf.d/b.txt", ".conf.d/.c.conf"}) {
                const auto path = std::string(folder) + "/systemd/zram-generator" + name;
                const auto kind = *rc::gen::inRange(0, 6);
                if (kind > 2) continue;
                const bool is_mask = kind == 0 && std::string_view(name) != ".conf";
                const auto text = "[zram0]\nswap-priority = " + std::to_string(priority++) + "\n";
                files[path] = is_mask ? "-> /dev/null" : text;
                is_mask ? host.put_link(path, "/dev/null") : host.put_file(path, text);
            }
        }
        const auto real = oracle.ask(files);
        RC_ASSERT(real.exit_code == 0);
        const auto ours = said(host, "priority");
        RC_ASSERT(real.units.empty() == (ours == "unset"));
        if (real.units.empty()) return;
        const auto number = ours.substr(0, ours.find(' '));
        RC_ASSERT(real.units.at("dev-zram0.swap").find("\nPriority=" + number + "\n") != std::string::npos);
    }));
}

TEST(ZramPersisted, WhatIsAppliedHolds) {
    EXPECT_TRUE(rc::check("any wishes over any files", [] {
        const auto line = [] {
            return *rc::gen::element<std::string>(
                "[zram0]", "[zram1]", "zram-size = ram", "zram-size = 100", "zram-fraction = 0.2", "max-zram-size = 50",
                "host-memory-limit = 10", "swap-priority = 3", "options = a,discard=pages",
                "options =", "compression-algorithm = lz4", "compression-algorithm = zstd(level=4) lzo (type=idle)",
                "# c", "zram-resident-limit = 100");
        };
        std::string text;
        for (int at = *rc::gen::inRange(0, 10); at > 0; --at) text += line() + "\n";
        auto host = generator(text);
        std::vector<ZramWish> wishes;
        const auto percent = *rc::gen::inRange(1, 200);
        wishes.push_back(*rc::gen::arbitrary<bool>() ? wish("size", std::to_string(percent) + "%", 80 * mib * percent)
                                                     : wish("size", "x", percent * 3 * mib));
        if (*rc::gen::arbitrary<bool>()) wishes.push_back(wish("algorithm", "lz4hc"));
        if (*rc::gen::arbitrary<bool>() && wishes.size() == 2) wishes.push_back(wish("level", "2", 2));
        if (*rc::gen::arbitrary<bool>()) wishes.push_back(wish("priority", "9", 9));
        if (*rc::gen::arbitrary<bool>()) wishes.push_back(wish("discard", "once"));
        if (*rc::gen::arbitrary<bool>()) wishes.push_back(wish("resident-limit", "512MiB", 512 * mib));
        RC_ASSERT(carry_out(host, wishes).gaps.empty());
        const ZramPersisted after(host, running_boot_line(host));
        for (const auto& one : wishes) {
            const auto reading = after.read("zram0", one.property);
            const auto* found = std::get_if<Found>(&reading.state);
            RC_ASSERT(found != nullptr);
            const auto* number = std::get_if<std::int64_t>(&found->value);
            if (number == nullptr) RC_ASSERT(to_text(found->value) == one.text);
            if (number != nullptr) RC_ASSERT(std::abs(*number - one.number) <= mib);
        }
    }));
}

}  // namespace
}  // namespace storpol
