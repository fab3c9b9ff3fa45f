// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/dm_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/host/host.h"

namespace storpol {
namespace {

using Properties = std::map<std::string, std::string>;

DmDevice device(const std::string& type, const std::string& parameters) {
    DmDevice made;
    made.targets.push_back({0, 2048, type, without_key(type, parameters)});
    return made;
}

Properties table(const std::string& type, const std::string& parameters) {
    return parse_properties(describe_dm_table(device(type, parameters)));
}

Properties status(const std::string& type, const std::string& parameters) {
    return parse_properties(describe_dm_status(device(type, parameters)));
}

TEST(DmTable, CryptWithItsKeyInTheKeyring) {
    const auto found = table("crypt", "aes-xts-plain64 :64:logon:cryptsetup:8c0f-d0 0 259:0 32768 1 allow_discards");
    EXPECT_EQ(
        found,
        (Properties{
            {"cipher", "aes-xts-plain64"}, {"flags", "allow_discards"}, {"key", "keyring"}, {"target", "crypt"}}));
}

TEST(DmTable, CryptOptionsStandInAnyOrder) {
    const auto found = table("crypt",
                             "aes-xts-plain64 0011aabb 0 259:0 32768 4 sector_size:4096 no_read_workqueue "
                             "allow_discards no_write_workqueue");
    EXPECT_EQ(found.at("flags"), "sector_size:4096,no_read_workqueue,allow_discards,no_write_workqueue");
    EXPECT_EQ(found.at("key"), "table");
}

TEST(DmTable, CryptWithoutOptionsHasNoFlags) {
    EXPECT_EQ(table("crypt", "aes-cbc-essiv:sha256 00 0 8:3 4096").at("flags"), "");
}

TEST(DmTable, CryptOverIntegrityNamesIt) {
    const auto found = table("crypt", "capi:gcm(aes)-random :32:logon:x 0 253:0 0 1 integrity:28:aead");
    EXPECT_EQ(found.at("integrity"), "aead");
    EXPECT_EQ(found.at("flags"), "");
}

TEST(DmTable, AKeyInTheTableIsNeverKept) {
    const std::string key(128, 'a');
    EXPECT_EQ(without_key("crypt", "aes-xts-plain64 " + key + " 0 8:3 4096 1 allow_discards"),
              "aes-xts-plain64 hidden 0 8:3 4096 1 allow_discards");
    EXPECT_EQ(without_key("crypt", "aes-xts-plain64 :64:user:k 0 8:3 4096"), "aes-xts-plain64 :64:user:k 0 8:3 4096");
    EXPECT_EQ(
        without_key("integrity", "8:3 0 32 J 2 internal_hash:hmac(sha256):" + key + " journal_crypt:ctr(aes):" + key),
        "8:3 0 32 J 2 internal_hash:hmac(sha256):hidden journal_crypt:ctr(aes):hidden");
    EXPECT_EQ(describe_dm_table(device("crypt", "a " + key + " 0 8:3 4096")).find(key), std::string::npos);
}

TEST(DmTable, Integrity) {
    const auto found = table("integrity",
                             "252:2 0 4 J 6 journal_sectors:1968 interleave_sectors:32768 "
                             "buffer_sectors:128 internal_hash:crc32c allow_discards fix_padding");
    EXPECT_EQ(found.at("flags"),
              "journal_sectors:1968,interleave_sectors:32768,buffer_sectors:128,internal_hash:crc32c,allow_discards,"
              "fix_padding");
}

TEST(DmTable, LvmTargets) {
    EXPECT_EQ(table("linear", "259:0 2048"), (Properties{{"target", "linear"}}));
    EXPECT_EQ(table("striped", "2 128 8:1 2048 8:2 2048"), (Properties{{"target", "striped"}}));
    EXPECT_EQ(table("thin", "253:4 1"), (Properties{{"target", "thin"}, {"pool", "253:4"}}));
    EXPECT_EQ(table("thin-pool", "253:1 253:2 128 0 0 "),
              (Properties{{"target", "thin-pool"}, {"features", ""}, {"data", "253:2"}}));
    EXPECT_EQ(table("thin-pool", "253:1 253:2 128 0 2 no_discard_passdown skip_block_zeroing").at("features"),
              "no_discard_passdown,skip_block_zeroing");
    EXPECT_EQ(table("raid", "raid1 3 0 region_size 4096 2 253:1 253:2 253:3 253:4"),
              (Properties{{"target", "raid"}, {"level", "raid1"}}));
    EXPECT_EQ(table("cache", "253:2 253:1 253:3 128 3 metadata2 writethrough no_discard_passdown smq 0"),
              (Properties{
                  {"target", "cache"}, {"data", "253:3"}, {"features", "metadata2,writethrough,no_discard_passdown"}}));
    EXPECT_EQ(table("snapshot", "253:3 253:4 P 8").at("target"), "snapshot");
    EXPECT_EQ(table("multipath", "0 0 1 1 service-time 0 1 2 8:0 1 1").at("target"), "multipath");
    EXPECT_EQ(table("vdo", "V4 253:2 2621440 4096 32768 16380 deduplication on").at("target"), "vdo");
}

TEST(DmTable, SeveralSegmentsHaveWhatAllHave) {
    DmDevice volume;
    volume.is_read_only = true;
    volume.is_suspended = true;
    volume.targets = {{0, 8, "linear", "8:1 0"}, {8, 8, "linear", "8:2 0"}, {16, 8, "striped", "2 8 8:1 9 8:2 9"}};
    EXPECT_EQ(parse_properties(describe_dm_table(volume)),
              (Properties{{"target", "linear,striped"}, {"segments", "3"}, {"read-only", "1"}, {"suspended", "1"}}));
    volume = {};
    volume.targets = {{0, 8, "crypt", "a :1:logon:x 0 8:1 0 2 same_cpu_crypt allow_discards"},
                      {8, 8, "crypt", "a :1:logon:x 0 8:2 0 1 same_cpu_crypt"}};
    EXPECT_EQ(parse_properties(describe_dm_table(volume)).at("flags"), "same_cpu_crypt");
}

TEST(DmStatus, ThinPoolSaysWhatIsInEffect) {
    EXPECT_EQ(status("thin-pool", "1 12/1024 100/3200 - rw no_discard_passdown queue_if_no_space - 1024"),
              (Properties{
                  {"features", "no_discard_passdown"}, {"metadata", "12/1024"}, {"data", "100/3200"}, {"mode", "rw"}}));
    EXPECT_EQ(
        status("thin-pool", "0 9/1024 0/16 - out_of_data_space discard_passdown error_if_no_space - 1024").at("mode"),
        "out_of_data_space");
    EXPECT_EQ(status("thin-pool", "Fail"), (Properties{{"features", ""}}));
}

TEST(DmStatus, CacheSaysWhatIsInEffect) {
    EXPECT_EQ(status("cache",
                     "8 75/1024 128 1024/8192 1 2 3 4 5 6 0 3 metadata2 writethrough no_discard_passdown 2 "
                     "migration_threshold 2048 smq 0 rw - "),
              (Properties{{"features", "metadata2,writethrough,no_discard_passdown"}}));
}

TEST(DmText, AnyParametersAreSurvived) {
    EXPECT_TRUE(rc::check("any text", [](const std::string& text) {
        for (const char* type : {"crypt", "integrity", "thin-pool", "thin", "cache", "raid", "snapshot", "linear"}) {
            RC_ASSERT(!describe_dm_table(device(type, text)).empty());
            RC_ASSERT(!describe_dm_status(device(type, text)).empty());
        }
    }));
    EXPECT_EQ(table("crypt", "a b 0 8:1 0 99999999999999999999 allow_discards").at("flags"), "");
    EXPECT_EQ(table("crypt", "a b 0 8:1 0 7 allow_discards").at("flags"), "allow_discards");
    EXPECT_EQ(table("crypt", "a b 0 8:1 0 -1 allow_discards").at("flags"), "");
}

}  // namespace
}  // namespace storpol
