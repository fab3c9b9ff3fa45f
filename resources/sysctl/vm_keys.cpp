// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <iterator>
#include <limits>

#include "resources/sysctl/keys.h"

namespace storpol {
namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int_min = std::numeric_limits<std::int32_t>::min();
constexpr std::string_view trigger = "it is a trigger that acts once when it is written and holds no value";

constexpr VmKey table[] = {
    {"admin_reserve_kbytes",
     "Memory kept free for processes with CAP_SYS_ADMIN under strict overcommit.",
     "KiB",
     std::nullopt,
     0,
     any,
     {}},
    {"compact_memory", "Compacts all zones once.", "", std::nullopt, 0, 1, trigger},
    {"compact_unevictable_allowed",
     "1: compaction may move mlocked pages, at the price of minor faults.",
     "",
     1,
     0,
     1,
     {}},
    {"compaction_proactiveness", "How eagerly memory is compacted in the background; 0 is off.", "", 20, 0, 100, {}},
    {"defrag_mode", "1: the allocator works harder to keep large pages whole (Linux 6.15).", "", 0, 0, 1, {}},
    {"dirty_background_bytes",
     "Dirty memory at which writeback starts in the background. Excludes dirty_background_ratio.",
     "",
     0,
     1,
     any,
     {},
     false,
     true},
    {"dirty_background_ratio",
     "Dirty share of available memory (free and reclaimable, not all RAM) at which writeback starts in the "
     "background. "
     "Excludes dirty_background_bytes.",
     "%",
     10,
     0,
     100,
     {}},
    {"dirty_bytes",
     "Dirty memory at which a writing process has to write back itself. Excludes dirty_ratio.",
     "",
     0,
     8192,
     any,
     {},
     false,
     true},
    {"dirty_expire_centisecs",
     "Age at which dirty data is written out at the next wake-up of the flusher.",
     "1/100 s",
     3000,
     0,
     int_max,
     {}},
    {"dirty_ratio",
     "Dirty share of available memory (free and reclaimable, not all RAM) at which a writing process has to write "
     "back itself. "
     "Excludes dirty_bytes.",
     "%",
     20,
     0,
     100,
     {}},
    // The kernel checks no range here and would take -1.
    {"dirty_writeback_centisecs",
     "Interval at which the flusher wakes up; 0 switches periodic writeback off.",
     "1/100 s",
     500,
     int_min,
     int_max,
     {}},
    {"dirtytime_expire_seconds",
     "Age at which timestamps that lazytime kept in memory are written out.",
     "s",
     43200,
     0,
     int_max,
     {}},
    {"drop_caches", "Drops clean caches once.", "", std::nullopt, 1, 4, trigger},
    {"enable_soft_offline",
     "1: pages with corrected memory errors may be taken out of use (Linux 6.11).",
     "",
     1,
     0,
     1,
     {}},
    {"extfrag_threshold",
     "Fragmentation index above which the kernel compacts rather than reclaims.",
     "",
     500,
     0,
     1000,
     {}},
    {"highmem_is_dirtyable", "1: high memory counts as dirtyable (32-bit kernels).", "", 0, 0, 1, {}},
    {"hugetlb_optimize_vmemmap", "1: the page structures of huge pages are freed.", "", std::nullopt, 0, 1, {}},
    {"hugetlb_shm_group", "Group that may make shared memory of huge pages.", "gid", 0, 0, int_max, {}},
    {"laptop_mode",
     "Seconds after a read at which dirty data is written out too, so that a disk can sleep; 0 is off.",
     "s",
     0,
     int_min,
     int_max,
     {}},
    {"legacy_va_layout", "1: the memory layout of Linux 2.4 for all processes.", "", 0, int_min, int_max, {}},
    {"lowmem_reserve_ratio",
     "How much of the lower zones is kept from allocations that could use higher ones.",
     "",
     std::nullopt,
     0,
     any,
     {},
     true},
    {"max_map_count", "Memory maps a process may have.", "maps", std::nullopt, 0, int_max, {}},
    {"memfd_noexec",
     "0 to 2: how far memfd_create() without a flag means not executable (Linux 6.3).",
     "",
     0,
     0,
     2,
     {}},
    {"mem_profiling",
     "1: allocations are counted by their place in the code (Linux 6.10).",
     "",
     std::nullopt,
     0,
     1,
     {}},
    {"memory_failure_early_kill",
     "1: processes are killed as soon as a page of theirs is found corrupt.",
     "",
     0,
     0,
     1,
     {}},
    {"memory_failure_recovery", "1: recovery from memory failures is tried; 0: panic.", "", 1, 0, 1, {}},
    // 0 and 512 are accepted by the kernel; below 1024 it documents deadlocks.
    {"min_free_kbytes",
     "Memory the kernel keeps free. The kernel raises it by itself, so a higher live value is in sync.",
     "KiB",
     std::nullopt,
     0,
     int_max,
     {}},
    {"min_slab_ratio", "Share of reclaimable slab above which a NUMA node reclaims slab.", "%", 5, 0, 100, {}},
    {"min_unmapped_ratio", "Share of unmapped pages above which a NUMA node reclaims locally.", "%", 1, 0, 100, {}},
    {"mmap_min_addr", "Lowest address a process may map.", "bytes", std::nullopt, 0, any, {}},
    {"mmap_rnd_bits", "Random bits of mapping addresses.", "bits", std::nullopt, 0, 64, {}},
    {"mmap_rnd_compat_bits", "Random bits of mapping addresses of 32-bit processes.", "bits", std::nullopt, 0, 64, {}},
    {"movable_gigantic_pages",
     "1: gigantic pages may be allocated from movable memory (Linux 7.0).",
     "",
     std::nullopt,
     0,
     1,
     {}},
    {"nr_hugepages", "Persistent huge pages of the default size.", "pages", 0, 0, any, {}},
    {"nr_hugepages_mempolicy", "The same, on the nodes of the writer's memory policy.", "pages", 0, 0, any, {}},
    {"nr_overcommit_hugepages", "Huge pages that may be made beyond nr_hugepages.", "pages", 0, 0, any, {}},
    {"nr_trim_pages",
     "Excess pages above which mappings are trimmed (kernels without MMU).",
     "pages",
     std::nullopt,
     0,
     int_max,
     {}},
    {"numa_stat", "1: NUMA allocations are counted.", "", 1, 0, 1, {}},
    {"numa_zonelist_order", "Obsolete; only \"Node\" is accepted.", "", std::nullopt, 0, any, {}, true},
    {"oom_dump_tasks", "1: the OOM killer logs all tasks.", "", 1, int_min, int_max, {}},
    {"oom_kill_allocating_task", "1: the OOM killer takes the task that asked.", "", 0, int_min, int_max, {}},
    {"overcommit_kbytes", "Commit limit beyond swap in mode 2. Excludes overcommit_ratio.", "KiB", 0, 0, any, {}},
    {"overcommit_memory", "0: heuristic; 1: always; 2: never beyond the commit limit.", "", 0, 0, 2, {}},
    {"overcommit_ratio",
     "Commit limit beyond swap in mode 2, as a share of RAM. Excludes overcommit_kbytes.",
     "%",
     50,
     0,
     int_max,
     {}},
    {"page-cluster",
     "Swap readahead as a power of two pages; 0 reads single pages, right for zram.",
     "log2 pages",
     std::nullopt,
     0,
     31,
     {}},
    {"page_lock_unfairness", "Times a page lock may be stolen before it is handed over.", "", 5, 0, int_max, {}},
    {"panic_on_oom", "1: panic when memory runs out; 2: also within a cgroup.", "", 0, 0, 2, {}},
    {"percpu_pagelist_high_fraction",
     "Fraction of a zone kept in per-CPU lists; 0 lets the kernel choose.",
     "",
     0,
     0,
     int_max,
     {}},
    {"shrink_inodes_with_pagecache", "1: inodes whose pages are cached may be reclaimed.", "", std::nullopt, 0, 1, {}},
    {"stat_interval", "Interval at which memory statistics are gathered.", "s", 1, 0, int_max, {}},
    {"stat_refresh", "Gathers memory statistics once.", "", std::nullopt, 0, any, trigger},
    {"swappiness",
     "How much the kernel prefers swapping to dropping page cache: 0 to 200; above 100 (Linux 5.8) is for zram and "
     "zswap.",
     "",
     60,
     0,
     200,
     {}},
    {"unprivileged_userfaultfd", "1: users without privileges may handle page faults of the kernel.", "", 0, 0, 1, {}},
    {"user_reserve_kbytes", "Memory kept free for one user under strict overcommit.", "KiB", std::nullopt, 0, any, {}},
    {"vfs_cache_pressure",
     "Eagerness to reclaim inodes and dentries, relative to vfs_cache_pressure_denom; 0 risks running out of "
     "memory.",
     "",
     100,
     0,
     int_max,
     {}},
    {"vfs_cache_pressure_denom", "What vfs_cache_pressure is relative to (Linux 6.16).", "", 100, 100, int_max, {}},
    {"watermark_boost_factor",
     "How far reclaim goes beyond the high watermark after fragmentation; 0 is off, right for zram.",
     "1/10000",
     15000,
     0,
     int_max,
     {}},
    {"watermark_scale_factor",
     "Distance between the watermarks: how early kswapd starts. Up to 1000 before Linux 5.18.",
     "1/10000",
     10,
     1,
     3000,
     {}},
    {"zone_reclaim_mode",
     "Bits: whether a NUMA node reclaims before it borrows from others.",
     "",
     0,
     int_min,
     int_max,
     {}},
};

}  // namespace

const std::vector<VmKey>& vm_keys() {
    static const std::vector<VmKey> keys = [] {
        std::vector<VmKey> sorted(std::begin(table), std::end(table));
        std::sort(sorted.begin(), sorted.end(), [](const VmKey& a, const VmKey& b) { return a.name < b.name; });
        return sorted;
    }();
    return keys;
}

const VmKey* find_vm_key(std::string_view name) {
    const auto& keys = vm_keys();
    const auto found = std::lower_bound(keys.begin(), keys.end(), name,
                                        [](const VmKey& key, std::string_view n) { return key.name < n; });
    return found != keys.end() && found->name == name ? &*found : nullptr;
}

const VmKey* find_vm_key_by_path(std::string_view path) {
    return path.substr(0, 3) == "vm/" ? find_vm_key(path.substr(3)) : nullptr;
}

const std::vector<KeyPair>& key_pairs() {
    static const std::vector<KeyPair> pairs{
        {"vm/dirty_background_ratio", "vm/dirty_background_bytes", 10, false},
        {"vm/dirty_ratio", "vm/dirty_bytes", 20, true},
        {"vm/overcommit_ratio", "vm/overcommit_kbytes", 50, false},
    };
    return pairs;
}

const KeyPair* find_pair(std::string_view path) {
    const auto& pairs = key_pairs();
    const auto found = std::find_if(pairs.begin(), pairs.end(),
                                    [path](const KeyPair& p) { return p.ratio == path || p.bytes == path; });
    return found == pairs.end() ? nullptr : &*found;
}

const std::string& counterpart_of(const KeyPair& pair, std::string_view path) {
    return pair.ratio == path ? pair.bytes : pair.ratio;
}

}  // namespace storpol
