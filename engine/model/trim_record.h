// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

// What `storpol trim` remembers of one filesystem: /var/lib/storpol/trim/KEY.json, KEY the uuid of its superblock (for
// one without, "dev-" and the kernel name of its device). The evidence plane reads it. Written by whoever runs as root
// on that machine, so read as anybody's text: a damaged or newer file is an Error, never a crash.
namespace storpol {

// How one run ended. Only `trimmed` is success.
enum class TrimOutcome {
    trimmed,      // every slice went through; the byte count may well be 0 (nothing was freed since)
    interrupted,  // cut short: a signal, the end of the window, an unmount; the rest is for the next run
    failed,       // the kernel refused some slice
    lost,         // the filesystem reports bytes, the disks below counted no discard: nothing reached them
    skipped,      // not begun: blocked below, read-only, on battery, ...
};
std::string_view to_text(TrimOutcome outcome);
std::optional<TrimOutcome> parse_trim_outcome(std::string_view text);

struct TrimRun {
    std::string began;  // RFC 3339, UTC, by the clock of that moment, which may have been wrong
    std::string ended;
    std::string boot_id;
    std::string mount_id;  // mountinfo field 1 of the mount it went through
    TrimOutcome outcome = TrimOutcome::trimmed;
    std::string why;              // of every outcome but trimmed
    std::int64_t bytes = 0;       // as the filesystem says; never a proof (XFS since Linux 6.11 says its size)
    std::int64_t min_extent = 0;  // the floor; 0: none
    bool is_full = false;         // without the policy's floor
    std::chrono::milliseconds took{0};
    std::chrono::milliseconds in_trim{0};  // of that, inside FITRIM
    std::int64_t slices = 0;
    // What the disks at the bottom counted meanwhile (from others too); none where they do not count discards.
    std::optional<std::int64_t> discards;
    std::optional<std::int64_t> discarded_bytes;
    // Bytes written to these disks when the run ended, since boot: the next run's less this one's says whether anything
    // was written between them.
    std::optional<std::int64_t> written_bytes;

    bool operator==(const TrimRun&) const = default;
};

// Where a run that was cut short stopped. Held while one is at work too: a killed run leaves it behind.
struct TrimResume {
    std::string began;          // of the first run of this pass, RFC 3339
    std::int64_t position = 0;  // the first byte (of the filesystem's own addresses) that is not yet trimmed
    std::int64_t bytes = 0;     // reported so far
    std::int64_t min_extent = 0;
    bool is_full = false;
    bool is_forced = false;  // also where ext4 holds the groups for trimmed

    bool operator==(const TrimResume&) const = default;
};

struct TrimRecord {
    std::string uuid;  // empty where the filesystem has none
    std::string target;
    std::string fstype;
    std::string source;                   // as mountinfo has it: "/dev/mapper/root"
    std::vector<TrimRun> runs;            // newest last; the last ones (max_trim_runs)
    std::optional<TrimRun> last_success;  // also when it is no longer among `runs`
    std::optional<TrimRun> last_full;     // last success without a floor
    std::optional<TrimResume> resume;

    bool operator==(const TrimRecord&) const = default;
};

inline constexpr std::size_t max_trim_runs = 20;
inline constexpr std::string_view trim_directory = "trim";  // below /var/lib/storpol
inline constexpr std::string_view trim_path = "/var/lib/storpol/trim";

// "1234-5678.json" of a superblock's uuid; of one without, of the kernel name of its device. Never holds a slash.
std::string trim_file_name(std::string_view uuid, std::string_view device);

// Adds a run: the newest of `runs`, and last_success and last_full where it is one. Its `skipped` runs replace each
// other, so that a laptop on battery does not push the real ones out.
void add_run(TrimRecord& record, TrimRun run);

// Successful runs with 0 bytes, the newest first, until one that reported some; how many of them had something written
// to the disks before them (by written_bytes; a new boot id begins counting anew and counts as written).
int zero_byte_runs(const TrimRecord& record);

std::string render_trim_record(const TrimRecord& record);
Result<TrimRecord> parse_trim_record(std::string_view text);

}  // namespace storpol
