// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

// When a trim works and when it rests. Pure: told how long things took and what the disks did, it answers how much to
// do next and how long to keep still. What a slice costs is the number of free extents in it, not its bytes, so slices
// are measured in time; cutting without resting helps nobody, as writes are slow all through a FITRIM call.
namespace storpol {

// Reads and writes that the watched disks completed in some time; never discards.
struct DiskUse {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::chrono::milliseconds waited{0};  // time in them, summed up

    std::uint64_t count() const { return reads + writes; }

    bool operator==(const DiskUse&) const = default;
};

DiskUse operator-(const DiskUse& later, const DiskUse& earlier);

struct PaceOptions {
    std::chrono::microseconds budget = std::chrono::milliseconds(100);  // of one FITRIM call
    double duty = 0.05;        // share of the time in FITRIM while others use the disk
    double least_duty = 0.02;  // where their I/O grows much slower meanwhile
};

class TrimPacer {
  public:
    using Time = std::chrono::microseconds;

    // `window`: the time until which it must be done, from now on.
    TrimPacer(const PaceOptions& options, std::uint64_t units, Time window);

    // Before the first slice: how long to look whether anybody uses the disks, and what was seen then.
    Time first_look() const;
    void looked(const DiskUse& use, Time time);

    // Units of the next slice: as many as the budget allows by what the last ones took, one to begin with.
    std::uint64_t next_units(std::uint64_t most) const;

    // After a slice. `use` is what was seen in it: some of it may be the filesystem's own.
    void took(std::uint64_t units, Time time, const DiskUse& use);

    // How long to keep still now, looking at the disks; zero: go on. Asked again after each rested() until it is zero.
    Time next_rest(Time left_of_window) const;
    void rested(Time time, const DiskUse& use);

    bool is_busy() const { return busy_; }  // do others use the disks?

    // What is left to do, by what was done; zero where nothing is known yet.
    Time work_left() const;
    // The same with the rests it will take.
    Time time_left() const;

  private:
    double duty(Time left_of_window) const;
    void learn_latency(const DiskUse& use, double& into) const;

    PaceOptions options_;
    std::uint64_t units_left_;
    Time window_;
    bool busy_ = false;
    double duty_;
    double unit_cost_ = 0;  // microseconds, of the last slices
    std::uint64_t last_units_ = 0;
    Time last_took_{0};
    Time worked_{0};
    std::uint64_t units_done_ = 0;
    Time rested_{0};                               // since the last slice
    Time quiet_{0};                                // of that, without a read or write, at its end
    bool suspects_ = false;                        // the last slice had I/O that may be somebody's
    int trusted_ = 0;                              // slices whose I/O was looked into and was nobody's
    double rest_latency_ = 0, slice_latency_ = 0;  // milliseconds of a read or write
};

}  // namespace storpol
