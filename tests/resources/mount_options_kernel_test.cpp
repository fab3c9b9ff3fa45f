// SPDX-License-Identifier: GPL-3.0-or-later
// The option table against the running kernel: what words mean by the table, and what the kernel shows after mounting
// with them, must be the same map; what the table says a remount does, it must do.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "resources/mount/option_change.h"
#include "resources/mount/option_set.h"
#include "tests/resources/mount_lab.h"

namespace storpol {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

// One filesystem on one device, mounted and unmounted again and again.
struct Subject {
    std::string fstype;
    std::unique_ptr<lab::LoopDevice> device;
    std::string target;
    MountFacts facts;
    std::string label;
};

struct Recipe {
    const char* label;
    const char* fstype;
    long long megabytes;
    std::vector<Words> commands;  // "@" stands for the image
    bool discard;
    int milliseconds;        // for each law: a mount or remount of btrfs takes a hundred times that of ext4
    const char* superblock;  // options words the filesystem was given
};

const Recipe recipes[] = {
    {"ext4",
     "ext4",
     32,
     {{"mkfs.ext4", "-q", "@"}},
     true,
     1500,
     "user_xattr,acl,journal_checksum,stripe=0,mb_optimize_scan=0"},
    {"ext4-tuned",
     "ext4",
     32,
     {{"mkfs.ext4", "-q", "@"}, {"tune2fs", "-e", "remount-ro", "-o", "discard,journal_data_writeback,nobarrier", "@"}},
     true,
     1500,
     "user_xattr,acl,journal_checksum,stripe=0,mb_optimize_scan=0,discard,data=writeback,nobarrier,errors=remount-ro"},
    {"ext4-no-discard",
     "ext4",
     32,
     {{"mkfs.ext4", "-q", "@"}},
     false,
     1500,
     "user_xattr,acl,journal_checksum,stripe=0,mb_optimize_scan=0"},
    {"xfs", "xfs", 300, {{"mkfs.xfs", "-q", "@"}}, true, 3000, nullptr},
    {"xfs-no-discard", "xfs", 300, {{"mkfs.xfs", "-q", "@"}}, false, 3000, nullptr},
    {"btrfs", "btrfs", 128, {{"mkfs.btrfs", "-q", "@"}}, true, 3500, nullptr},
    {"btrfs-no-discard", "btrfs", 128, {{"mkfs.btrfs", "-q", "@"}}, false, 3500, nullptr},
};

// Words whose effect hangs on what this kernel was built with, or on more than one word, are left out of the lottery.
bool is_drawn(const std::string& fstype, const OptionSpec& spec) {
    static const std::set<std::string_view> left_out{"inlinecrypt", "dax",      "usrquota",
                                                     "grpquota",    "prjquota", "usrjquota",
                                                     "grpjquota",   "jqfmt",    "debug_want_extra_isize",
                                                     "sunit",       "swidth",   "lifetime",
                                                     "nouid32",     "debug",    "stripe"};
    if (spec.kind != OptionClass::setting || spec.removed != KernelVersion{} || left_out.count(spec.property) != 0)
        return false;
    if (fstype == "xfs" && spec.property == "norecovery") return false;   // for read-only mounts
    if (fstype == "ext4" && spec.property == "norecovery") return false;  // changes what the journal's options mean
    if (spec.property == "space_cache") return false;                     // refused unless it is what is on disk
    return find_property(fstype, spec.property)->scope == Scope::superblock && spec.property != "ro";
}

std::string draw_value(const OptionSpec& spec) {
    switch (spec.form) {
        case ValueForm::choice: {
            const auto choices = split(spec.choices, '|');
            const std::string_view chosen = *rc::gen::elementOf(choices);
            return std::string(chosen.substr(0, chosen.find('=')));
        }
        case ValueForm::size:
            return *rc::gen::element<std::string>("16k", "32k", "64k", "262144", "4k", "12k", "1m", "1g", "0", "100",
                                                  "12k");
        case ValueForm::special:
            return *rc::gen::element<std::string>("zstd", "zlib", "lzo", "no", "none", "zstd:5", "zstd:15", "zstd:99",
                                                  "zstd:-4", "zstd:-99", "zlib:0", "zlib:9", "zlib:12", "zlib:-2",
                                                  "lzo:7", "zstdx", "zstd:", "0", "");
        case ValueForm::text:
            return "x";
        case ValueForm::flag:
        case ValueForm::number:
        case ValueForm::truth:
        case ValueForm::octal:
            break;
    }
    return *rc::gen::weightedOneOf<std::string>(
        {{8, rc::gen::map(rc::gen::inRange(0, 12), [](int n) { return std::to_string(n); })},
         {1, rc::gen::element<std::string>("0x10", "010", "08", "300", "64", "+3", "-1", "", "1k", "99999999999")}});
}

std::string draw_word(const std::string& fstype) {
    std::vector<const OptionSpec*> drawn;
    for (const OptionSpec* const spec : options_of(fstype)) {
        if (is_drawn(fstype, *spec)) drawn.push_back(spec);
    }
    const OptionSpec& spec = **rc::gen::elementOf(drawn);
    std::string word(spec.word);
    if (spec.form == ValueForm::flag || (!spec.bare.empty() && *rc::gen::arbitrary<bool>())) return word;
    return word + "=" + draw_value(spec);
}

rc::Gen<Words> any_words(const std::string& fstype, int most) {
    const auto words =
        rc::gen::resize(most, rc::gen::container<Words>(rc::gen::exec([fstype] { return draw_word(fstype); })));
    if (fstype != "xfs") return words;
    // xfs checks numbers once all words are read: a bad one that a good one overrides is nobody's loss.
    return rc::gen::map(words, [fstype](Words all) {
        Words once;
        std::set<std::string_view> seen;
        for (const std::string& word : all) {
            const OptionSpec* const spec = find_option(fstype, word);
            if (spec->form == ValueForm::flag || seen.insert(spec->property).second) once.push_back(word);
        }
        return once;
    });
}

class MountOptionsKernel : public testing::TestWithParam<Recipe> {
  protected:
    void SetUp() override {
        const Recipe& recipe = GetParam();
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
        if (!lab::enter_private_namespace()) GTEST_SKIP() << "no mount namespace of its own";
        utsname system{};
        uname(&system);
        subject_.facts.kernel = parse_kernel_version(system.release);
        if (subject_.facts.kernel < KernelVersion{6, 15})
            GTEST_SKIP() << "the expectations are those of 6.15 and later";
        // In memory, so that a thousand mounts wait for no disk.
        if (::mount("none", folder_.path().c_str(), "tmpfs", 0, nullptr) != 0) GTEST_SKIP() << "no tmpfs";
        const std::string image = folder_.path() + "/image";
        std::ofstream(image).close();
        std::filesystem::resize_file(image, static_cast<std::uintmax_t>(recipe.megabytes) << 20);
        for (Words command : recipe.commands) {
            for (std::string& word : command) word = word == "@" ? image : word;
            if (lab::run(command) != 0) GTEST_SKIP() << command[0] << " is not here or failed";
        }
        subject_.fstype = recipe.fstype;
        subject_.label = recipe.label;
        subject_.device = std::make_unique<lab::LoopDevice>(image, recipe.discard);
        if (!subject_.device->ready()) GTEST_SKIP() << "no loop device to be had";
        ASSERT_EQ(subject_.device->discards(), recipe.discard);
        subject_.target = folder_.path() + "/target";
        std::filesystem::create_directory(subject_.target);
        subject_.facts.device_discards = recipe.discard;
        subject_.facts.rotational = subject_.device->rotational();
        if (recipe.superblock != nullptr) subject_.facts.superblock_options = recipe.superblock;
        if (lab::mount_with(recipe.fstype, subject_.device->path(), subject_.target, {}, 0) != 0)
            GTEST_SKIP() << "this kernel has no " << recipe.fstype;
        umount2(subject_.target.c_str(), 0);
    }

    void TearDown() override {
        umount2(subject_.target.c_str(), 0);
        subject_.device.reset();
        umount2(folder_.path().c_str(), 0);
    }

    // The same map, wherever both sides know a value. Returns the differences.
    std::string compare(const OptionSet& expected, const OptionSet& found) {
        std::string differences;
        for (const auto& entry : found.settings) {
            const OptionValue* const wanted = expected.find(entry.first);
            if (wanted == nullptr) continue;
            ++compared_;
            if (wanted->value != entry.second.value)
                differences += entry.first + " expected " + wanted->value + " found " + entry.second.value + "; ";
        }
        return differences;
    }

    OptionSet live(bool whole = true) {
        const auto mount = lab::mount_at(subject_.target);
        RC_ASSERT(mount.has_value());
        shown_ = mount->mount_options + " | " + mount->super_options;
        LiveText text;
        text.mount_options = mount->mount_options;
        text.super_options = mount->super_options;
        const std::string all = subject_.fstype == "ext4" && whole
                                    ? lab::read_text("/proc/fs/ext4/" + subject_.device->name() + "/options")
                                    : "";
        if (!all.empty()) text.ext4_options = all;
        return live_options(subject_.fstype, text, subject_.facts);
    }

    int mount(const Words& words) {
        return lab::mount_with(subject_.fstype, subject_.device->path(), subject_.target, words, 0);
    }

    struct Unmount {
        std::string target;

        ~Unmount() { umount2(target.c_str(), 0); }
    };

    lab::TemporaryFolder folder_;
    Subject subject_;
    std::string shown_;
    std::size_t compared_ = 0;
    std::size_t mounts_ = 0;
    std::size_t remounts_ = 0;

    // A law is tried until its time is up; once it broke, there is time to shrink the example.
    bool over() const { return Clock::now() >= started_ + (failed_ ? time_to_shrink : time_to_try); }

    void must(bool holds) {
        failed_ = failed_ || !holds;
        RC_ASSERT(holds);
    }

    // STORPOL_LAB_FACTOR=20 with RC_PARAMS="max_success=100000" is a search of a quarter of an hour.
    static int factor() {
        const char* const text = std::getenv("STORPOL_LAB_FACTOR");
        return text == nullptr ? 1 : static_cast<int>(parse_int(text).value_or(1));
    }

    const std::chrono::milliseconds time_to_try{GetParam().milliseconds * factor()};
    static constexpr std::chrono::seconds time_to_shrink{60};
    Clock::time_point started_ = Clock::now();
    bool failed_ = false;
};

TEST_P(MountOptionsKernel, WordsMeanWhatTheKernelShows) {
    EXPECT_TRUE(rc::check("mount with any words", [&] {
        const Words words = *any_words(subject_.fstype, 12);
        for (int round = 0; round < 8 && !over(); ++round) {
            const Words some = round == 0 ? words : *any_words(subject_.fstype, 12);
            const std::string list = join(some, ",");
            const OptionSet expected = expected_live(subject_.fstype, list, subject_.facts);
            const int error = mount(some);
            const Unmount unmount{subject_.target};
            ++mounts_;
            RC_LOG() << list << " -> errno " << error
                     << (expected.problems.empty() ? "" : ", the table says: " + expected.problems[0].why) << "\n";
            must((error == 0) == expected.problems.empty());
            if (error != 0) continue;
            for (const bool whole : {true, false}) {
                const std::string differences = compare(expected, live(whole));
                RC_LOG() << shown_ << "\n" << differences;
                must(differences.empty());
            }
        }
    }));
    std::printf("%s: %zu mounts, %zu values compared\n", subject_.label.c_str(), mounts_, compared_);
}

// Whether the kernel has a reason to refuse these words now.
bool may_be_refused(const Subject& subject, const OptionSet& before, const Words& words) {
    const OptionSet asked = parse_options(subject.fstype, join(words, ","), subject.facts.kernel);
    if (!asked.problems.empty()) return true;
    for (const auto& entry : asked.settings) {
        const PropertySpec* const spec = find_property(subject.fstype, entry.first);
        const OptionValue* const now = before.find(entry.first);
        const bool same = now != nullptr && now->value == entry.second.value;
        if (spec->remount == AtRemount::refused && !same) return true;
        if (entry.first == "dirsync") return true;  // even where it is on
    }
    // The running data mode, which no remount changes, excludes these.
    return subject.fstype == "ext4" &&
           (asked.find("journal_async_commit") != nullptr || asked.find("dioread_nolock") != nullptr);
}

TEST_P(MountOptionsKernel, RemountsDoWhatTheTableSays) {
    EXPECT_TRUE(rc::check("remount with any words", [&] {
        const Words first = *any_words(subject_.fstype, 6);
        RC_PRE(parse_options(subject_.fstype, join(first, ","), subject_.facts.kernel).problems.empty());
        if (over() || mount(first) != 0) return;
        const Unmount unmount{subject_.target};
        RC_LOG() << "mounted with " << join(first, ",") << "\n";
        for (int round = 0; round < 25 && !over(); ++round) {
            const OptionSet before = live();
            const Words words = *any_words(subject_.fstype, 4);
            std::vector<SuperParameter> parameters;
            for (const std::string& word : words) {
                const std::size_t equals = word.find('=');
                parameters.push_back(
                    {word.substr(0, equals),
                     equals == std::string::npos ? std::nullopt : std::optional<std::string>(word.substr(equals + 1))});
            }
            const int error = lab::reconfigure(subject_.target, words);
            ++remounts_;
            const OptionSet after = live();
            const OptionSet expected =
                error == 0 ? after_reconfigure(subject_.fstype, before, parameters, subject_.facts.kernel) : before;
            const std::string differences = compare(expected, after);
            RC_LOG() << "remount " << join(words, ",") << " -> errno " << error << ": " << shown_ << "\n"
                     << differences << "\n";
            must(error == 0 || may_be_refused(subject_, before, words));
            // ext4 keeps a few of the words of a remount that it refuses for another one (table, inode_readahead_blks).
            must(differences.empty() || (error != 0 && subject_.fstype == "ext4"));
        }
    }));
    std::printf("%s: %zu remounts, %zu values compared\n", subject_.label.c_str(), remounts_, compared_);
}

unsigned long long attribute(const std::string& flag) {
    static const std::map<std::string, unsigned long long> bits{
        {"nosuid", MOUNT_ATTR_NOSUID},           {"nodev", MOUNT_ATTR_NODEV},
        {"noexec", MOUNT_ATTR_NOEXEC},           {"nodiratime", MOUNT_ATTR_NODIRATIME},
        {"nosymfollow", MOUNT_ATTR_NOSYMFOLLOW}, {"ro", MOUNT_ATTR_RDONLY},
        {"noatime", MOUNT_ATTR_NOATIME},         {"relatime", 0},
        {"strictatime", MOUNT_ATTR_STRICTATIME}};
    return bits.at(flag);
}

int perform(const RemountPlan& plan, const std::string& target) {
    Words words;
    for (const SuperParameter& parameter : plan.super) words.push_back(to_text(parameter));
    if (!words.empty()) {
        if (const int error = lab::reconfigure(target, words)) return error;
    }
    unsigned long long set = 0, clear = 0;
    for (const std::string& flag : plan.set_attributes) {
        set |= attribute(flag);
        if (flag.ends_with("atime") && flag != "nodiratime") clear |= MOUNT_ATTR__ATIME;
    }
    for (const std::string& flag : plan.clear_attributes) clear |= attribute(flag);
    return set == 0 && clear == 0 ? 0 : lab::change_attributes(target, set, clear);
}

TEST_P(MountOptionsKernel, APlannedRemountReachesWhatIsWantedAndTouchesNothingElse) {
    std::size_t reached = 0, waiting = 0;
    EXPECT_TRUE(rc::check("plan, perform, read back", [&] {
        const Words first = *any_words(subject_.fstype, 8);
        RC_PRE(parse_options(subject_.fstype, join(first, ","), subject_.facts.kernel).problems.empty());
        if (over() || mount(first) != 0) return;
        const Unmount unmount{subject_.target};
        RC_LOG() << "mounted with " << join(first, ",") << "\n";
        for (int round = 0; round < 25 && !over(); ++round) {
            const OptionSet before = live();
            const std::string word = *rc::gen::oneOf(
                rc::gen::exec([&] { return draw_word(subject_.fstype); }),
                rc::gen::element<std::string>("noatime", "relatime", "strictatime", "nosuid", "suid", "nodev", "dev",
                                              "noexec", "exec", "nodiratime", "diratime", "lazytime", "nolazytime",
                                              "nosymfollow", "symfollow"));
            const auto one = wanted_option(subject_.fstype, word, subject_.facts.kernel);
            if (!one) continue;
            const std::vector<WantedValue> wanted{{one->first, one->second, word}};
            const RemountPlan plan = plan_remount(subject_.fstype, before, wanted, subject_.facts);
            const int error = perform(plan, subject_.target);
            const OptionSet after = live();
            RC_LOG() << "want " << word << " -> errno " << error << ": " << shown_ << "\n";
            waiting += plan.next_mount.size();
            must(error == 0);
            std::set<std::string> may_change;
            for (const std::string& effect : plan.side_effects) may_change.insert(effect.substr(0, effect.find(':')));
            for (const auto& entry : after.settings) {
                const OptionValue* const old = before.find(entry.first);
                const bool asked = entry.first == one->first && plan.next_mount.empty();
                if (asked || (old != nullptr && old->value != entry.second.value))
                    RC_LOG() << "  " << entry.first << " is " << entry.second.value << "\n";
                if (asked) {
                    must(entry.second.value == one->second);
                    ++reached;
                } else if (old != nullptr && may_change.count(entry.first) == 0) {
                    must(entry.second.value == old->value);
                }
            }
        }
    }));
    std::printf("%s: %zu wishes reached, %zu wait for the next mount\n", subject_.label.c_str(), reached, waiting);
}

std::string recipe_name(const testing::TestParamInfo<Recipe>& info) {
    std::string name;
    bool upper = true;
    for (const char* c = info.param.label; *c != '\0'; ++c) {
        if (*c != '-') name += upper ? static_cast<char>(*c - ('a' <= *c && *c <= 'z' ? 32 : 0)) : *c;
        upper = *c == '-';
    }
    return name;
}

void PrintTo(const Recipe& recipe, std::ostream* out) {
    *out << recipe.label;
}

INSTANTIATE_TEST_SUITE_P(On, MountOptionsKernel, testing::ValuesIn(recipes), recipe_name);

// Words of every filesystem are made flags by the mount program, by its own rules about order: our reading is its
// reading.
TEST(MountOptionsProgram, FlagWordsMeanWhatTheMountProgramMakesOfThem) {
    if (!lab::enter_private_namespace()) GTEST_SKIP() << "needs root";
    const lab::TemporaryFolder folder;
    if (lab::run({"mount", "-i", "-t", "tmpfs", "none", folder.path()}) != 0)
        GTEST_SKIP() << "no mount program or no tmpfs";
    umount2(folder.path().c_str(), 0);
    const auto word = rc::gen::element<std::string>(
        "noatime", "atime", "relatime", "norelatime", "nostrictatime", "nodiratime", "diratime", "nosuid", "suid",
        "nodev", "dev", "noexec", "exec", "ro", "rw", "sync", "async", "lazytime", "nolazytime", "user", "users",
        "owner", "group", "defaults", "nofail", "x-test", "dirsync", "nouser", "strictatime");
    const auto deadline = Clock::now() + std::chrono::seconds(6);
    EXPECT_TRUE(rc::check("mount -o", [&] {
        const Words words = *rc::gen::resize(6, rc::gen::nonEmpty(rc::gen::container<Words>(word)));
        if (Clock::now() >= deadline) return;
        const std::string list = join(words, ",");
        const OptionSet expected = expected_live("tmpfs", list, {});
        RC_PRE(expected.problems.empty());  // noatime with strictatime: mount programs differ
        RC_ASSERT(lab::run({"mount", "-i", "-t", "tmpfs", "-o", list, "none", folder.path()}) == 0);
        const auto mount = lab::mount_at(folder.path());
        umount2(folder.path().c_str(), 0);
        RC_ASSERT(mount.has_value());
        LiveText text;
        text.mount_options = mount->mount_options;
        text.super_options = mount->super_options;
        const OptionSet found = live_options("tmpfs", text, {});
        for (const auto& entry : found.settings) {
            RC_LOG() << list << ": " << entry.first << " is " << entry.second.value << ", expected "
                     << expected.find(entry.first)->value << "\n";
            RC_ASSERT(expected.find(entry.first)->value == entry.second.value);
        }
    }));
}

}  // namespace
}  // namespace storpol
