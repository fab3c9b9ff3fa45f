// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/reading.h"
#include "engine/model/trim_record.h"
#include "resources/mount/inventory.h"

// What has in fact been trimmed: by the journal of the service, and by the record that `storpol trim` keeps.
namespace storpol {

class Host;
class Topology;

// One run of the service as the journal has it: what it printed up to its end. A line without an end is a run too.
struct TrimServiceRun {
    struct Line {
        std::string target;
        std::int64_t bytes = 0;
        std::string error;  // of a FITRIM that failed: "Input/output error"
        std::string time;
    };

    std::vector<Line> lines;
    std::string ended;   // RFC 3339; of a run without an end its last line's time
    std::string result;  // "success", "condition", "exit-code", ...; empty: it is not told
    std::string status;
};

// Lines as QueryKind::journal answers them, oldest first. What is no line of fstrim is left out.
std::vector<TrimServiceRun> parse_trim_runs(std::string_view journal);

struct EvidenceLimits {
    std::optional<std::int64_t> max_age_s;
    std::optional<std::int64_t> max_zero_byte_runs;
};

// Words of the readings. Only `fresh` is as wanted.
inline constexpr std::string_view evidence_fresh = "fresh";
inline constexpr std::string_view evidence_never = "never ran";
inline constexpr std::string_view evidence_overdue = "overdue";
inline constexpr std::string_view evidence_empty = "zero-byte runs";
inline constexpr std::string_view evidence_failing = "failing";

class TrimEvidence {
  public:
    TrimEvidence(std::string service, const Topology& topology, Host& host);

    // Of the service as a whole. `last_trigger` of the timer, RFC 3339, may be empty.
    Reading of_service(const EvidenceLimits& limits, const std::string& last_trigger) const;
    Reading of(const ManagedFilesystem& filesystem, const EvidenceLimits& limits) const;

    // The newest success of the filesystem, RFC 3339, and the bytes it reported; none where there is none on record.
    struct Success {
        std::string time;
        std::int64_t bytes = 0;
        std::string source;
    };

    std::optional<Success> last_success(const ManagedFilesystem& filesystem) const;

  private:
    bool is_of_filesystem(const TrimRecord& record, const ManagedFilesystem& filesystem) const;
    const TrimRecord* record_of(const ManagedFilesystem& filesystem) const;
    // Whether the run of the service with this index was one of `storpol trim`, whose record tells more.
    bool is_recorded(std::size_t run) const;
    int zero_byte_runs_of(const ManagedFilesystem& filesystem) const;
    Reading judge(const std::optional<Success>& success,
                  const std::string& failure,
                  int zero_byte_runs,
                  const EvidenceLimits& limits) const;

    const Topology& topology_;
    Host& host_;
    std::string journal_source_;
    std::vector<TrimServiceRun> runs_;
    std::string journal_unknown_;  // why the journal cannot be read
    std::vector<TrimRecord> records_;
    std::string records_unknown_;
    std::multimap<std::string, std::string> uuids_;  // by the kernel name of their device
    std::optional<std::int64_t> now_;
    std::string now_unknown_;
};

// Entries of the journal that are asked for: some months of weekly runs with a dozen filesystems.
inline constexpr int journal_entries = 1000;

}  // namespace storpol
