// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/crypt_options.h"
#include "engine/text/crypttab.h"
#include "engine/topology/stack.h"

// Every dm-crypt mapping that is open or that something of this host opens, with each place that says how: crypttab,
// the kernel command line, the copies of both that the next boot starts with, and the LUKS2 header.
namespace storpol {

class Host;
class Topology;

// One place that has a say in the options of a mapping.
struct CryptSource {
    enum class Kind {
        crypttab,      // a line of a file, or of its copy in the initramfs
        command_line,  // a word of it
        header,        // of LUKS2: persistent flags
    };

    Kind kind = Kind::crypttab;
    std::string where;               // "/etc/crypttab:1", "/boot/initrd.img-6.1", "LUKS2 header of /dev/nvme0n1p3"
    std::string read_by;             // "systemd-cryptsetup"; "whatever opens it" of a header
    std::vector<std::string> words;  // as written there
    std::set<std::string> flags;     // what the reader makes of them: "allow-discards", ...
    std::set<std::string> misspelt;  // words that this reader ignores and another one takes for a flag
    bool decides = false;            // its flags are in force: the header's always, of the others those of one
    std::string why_not;             // of one that does not decide
    Place place;                     // for edits; line 0 where it is no text of this host
    CrypttabEntry line;              // of a crypttab
    PlacedArgument argument;         // of a command line: the word
    CryptReader reader = CryptReader::systemd;
};

// How a mapping comes to be opened at the next start: as the files say (persisted), or as the artefacts made from them
// say (boot).
struct CryptOpening {
    std::vector<CryptSource> sources;  // the deciding one first; without the header
    bool is_opened = false;            // something opens it
    std::string by;                    // "systemd-cryptsetup in the initramfs"; empty where nothing does
    std::string why_not_opened;        // a crypttab line that is passed over, for instance
    std::string unknown;               // why it cannot be told, as far as options go; the header may still decide

    const CryptSource* deciding() const;  // of the options; none where nothing opens it
};

struct LuksHeader {
    std::string device;  // or file, that holds it
    int version = 0;     // 1, 2; 0: it has none, or that is not known
    std::string uuid;
    std::set<std::string> flags;  // persistent activation flags
    std::string integrity;
    std::vector<std::string> tokens;
    std::string unknown;  // why it cannot be known
    std::string none;     // why there is none: plain, ...
    bool is_detached = false;

    std::string where() const;  // "LUKS2 header of /dev/nvme0n1p3"
};

struct CryptMapping {
    std::string name;
    const Layer* live = nullptr;  // none: it is not open, or this host's devices cannot be seen
    std::string device;           // path of what lies below: "/dev/nvme0n1p3", or as its line names it
    std::string uuid;             // of the LUKS header as far as names tell, lower case; may be empty
    std::string random_key;       // why its key is made anew at each boot, with its file:line; empty where it is not
    std::optional<CrypttabEntry> line;  // of /etc/crypttab (or crypttab.initramfs), whoever reads it
    Place line_place;
    bool in_initramfs = false;      // the initramfs opens it, or would, as far as is known
    std::string initramfs_unknown;  // why that cannot be told; then it may
    CryptOpening persisted;
    CryptOpening boot;  // where the initramfs opens it
};

class CryptMappings {
  public:
    CryptMappings(const Topology& topology, Host& host);

    const std::vector<CryptMapping>& all() const { return all_; }  // sorted by name

    const CryptMapping* find(std::string_view name) const;

    // Its header, asked for on first use and never of a mapping with a random key. Adds nothing to `all()`.
    const LuksHeader& header_of(const CryptMapping& mapping) const;

    // Why not all mappings are known: /sys and crypttab can both not be read. Empty otherwise.
    const std::string& unknown() const { return unknown_; }

    // All that has a say in how a mapping is opened: `opening.sources`, and the header behind them.
    std::vector<CryptSource> sources_of(const CryptMapping& mapping, const CryptOpening& opening) const;

    const Crypttab& crypttab() const { return crypttab_; }  // /etc/crypttab

    const std::string& crypttab_path() const { return crypttab_path_; }  // after links

  private:
    friend class CryptCollector;
    Host* host_;
    std::vector<CryptMapping> all_;
    std::string unknown_;
    Crypttab crypttab_;
    std::string crypttab_path_;
    mutable std::unordered_map<std::string, LuksHeader> headers_;
};

// The run's, made on first use.
const CryptMappings& crypt_mappings(const Topology& topology, Host& host);

// What one reader reads at one stage of the boot.
struct CryptStage {
    CryptReader reader = CryptReader::systemd;
    bool in_initramfs = false;
    const Crypttab* crypttab = nullptr;  // none: it reads none, or there is none
    std::string crypttab_path;
    bool has_lines = true;  // false of a copy in an initramfs: its lines mean nothing to people
    const PlacedArguments* arguments = nullptr;
    std::string arguments_unknown;  // why they cannot be told
    std::string crypttab_unknown;
};

// How this stage opens the mapping of that name. `uuid` of its LUKS header; may be empty.
CryptOpening opening_in(const CryptStage& stage, std::string_view name, std::string_view uuid);

// Whether a flag will be in force when the mapping is opened: the header's flags and the deciding options are OR-ed, as
// every opener does that uses libcryptsetup (cryptsetup lib/setup.c).
struct FlagAnswer {
    std::optional<bool> is_on;         // none: unknown
    std::string source;                // the place that decides
    std::string why;                   // of unknown
    std::vector<std::string> shadows;  // other places with the same flag
};

FlagAnswer flag_of(const CryptOpening& opening, const LuksHeader& header, std::string_view flag);

}  // namespace storpol
