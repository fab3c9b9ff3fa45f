// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_pace.h"

#include <algorithm>

namespace storpol {
namespace {

using Time = TrimPacer::Time;
using std::chrono::milliseconds;

constexpr Time first_look_time = milliseconds(50);
// On an idle machine this is all the time that is not spent in FITRIM: three parts in a hundred.
constexpr Time shortest_look = Time(300);
constexpr Time longest_look = milliseconds(3);
constexpr Time suspicious_look = milliseconds(20);
// Rests are looked at in steps, and end early once nobody has used the disks for a while.
constexpr Time rest_step = milliseconds(25);
constexpr Time quiet_enough = milliseconds(100);
// FITRIM itself reads bitmaps and forces logs: a few writes in a slice are no sign of others.
constexpr std::uint64_t own_writes = 3;
constexpr int trust_for_slices = 10;
constexpr double growth = 4;
// The work left is guessed from what was done; too low a guess would end in a rush.
constexpr double caution = 1.25;
constexpr double latency_rise = 4;

double count(Time time) {
    return static_cast<double>(time.count());
}

Time time_of(double microseconds) {
    constexpr double longest = 1e15;  // thirty years
    return Time(static_cast<Time::rep>(std::clamp(microseconds, 0.0, longest)));
}

std::uint64_t difference(std::uint64_t later, std::uint64_t earlier) {
    return later > earlier ? later - earlier : 0;  // counters of a device that came back begin anew
}

}  // namespace

DiskUse operator-(const DiskUse& later, const DiskUse& earlier) {
    return DiskUse{difference(later.reads, earlier.reads), difference(later.writes, earlier.writes),
                   std::max(milliseconds(0), later.waited - earlier.waited)};
}

TrimPacer::TrimPacer(const PaceOptions& options, std::uint64_t units, Time window)
    : options_(options), units_left_(units), window_(window), duty_(options.duty) {}

Time TrimPacer::first_look() const {
    return std::min(first_look_time, window_ / 20);
}

void TrimPacer::looked(const DiskUse& use, Time) {
    busy_ = use.count() > 0;
    learn_latency(use, rest_latency_);
}

std::uint64_t TrimPacer::next_units(std::uint64_t most) const {
    most = std::max<std::uint64_t>(1, std::min(most, units_left_));
    if (last_units_ == 0) return 1;
    const double cost = std::max(unit_cost_, 0.1);
    const double fitting = count(options_.budget) / cost;
    const double grown = static_cast<double>(last_units_) * growth;
    const double wanted = std::clamp(std::min(fitting, grown), 1.0, static_cast<double>(most));
    return std::min(most, static_cast<std::uint64_t>(wanted));
}

void TrimPacer::took(std::uint64_t units, Time time, const DiskUse& use) {
    const double cost = count(time) / static_cast<double>(std::max<std::uint64_t>(1, units));
    // Costs differ a lot from place to place: a dear one counts at once, a cheap one bit by bit.
    unit_cost_ = last_units_ == 0 || cost > unit_cost_ ? cost : (unit_cost_ + cost) / 2;
    last_units_ = units;
    last_took_ = time;
    worked_ += time;
    units_done_ += units;
    units_left_ -= std::min(units_left_, units);
    rested_ = quiet_ = Time(0);
    trusted_ = std::max(0, trusted_ - 1);
    suspects_ = !busy_ && use.writes > own_writes && trusted_ == 0;
    if (!busy_) return;
    learn_latency(use, slice_latency_);
    const bool rises = rest_latency_ > 0 && slice_latency_ > latency_rise * rest_latency_;
    duty_ = rises ? std::max(options_.least_duty, duty_ * 0.8) : std::min(options_.duty, duty_ * 1.1);
}

void TrimPacer::learn_latency(const DiskUse& use, double& into) const {
    constexpr std::uint64_t few = 5;  // the kernel counts milliseconds
    if (use.count() < few) return;
    const double latency = static_cast<double>(use.waited.count()) / static_cast<double>(use.count());
    into = into == 0 ? latency : 0.7 * into + 0.3 * latency;
}

// The share that leaves the disk to others, or what the end of the window asks for.
double TrimPacer::duty(Time left_of_window) const {
    const double left = count(left_of_window);
    const double needed = left <= 0 ? 1.0 : caution * count(work_left()) / left;
    return std::clamp(std::max(duty_, needed), 0.001, 1.0);
}

Time TrimPacer::next_rest(Time left_of_window) const {
    if (units_left_ == 0) return Time(0);
    const double share = duty(left_of_window);
    if (share >= 1) return Time(0);
    if (!busy_) {
        const auto look = suspects_ ? suspicious_look : std::clamp(last_took_ * 3 / 100, shortest_look, longest_look);
        return rested_ > Time(0) ? Time(0) : look;
    }
    const auto whole = time_of(count(last_took_) * (1 - share) / share);
    const auto left = std::max(whole, quiet_enough) - rested_;
    // However small the share: the rest of the work must still find its time.
    const auto spare = left_of_window - 2 * work_left() - options_.budget;
    return std::max(Time(0), std::min({left, spare, rest_step}));
}

void TrimPacer::rested(Time time, const DiskUse& use) {
    rested_ += time;
    quiet_ = use.count() == 0 ? quiet_ + time : Time(0);
    if (!busy_) {
        busy_ = use.count() > 0;
        if (suspects_ && !busy_) trusted_ = trust_for_slices;
    } else if (quiet_ >= quiet_enough) {
        busy_ = false;
        duty_ = options_.duty;
    }
    if (busy_) learn_latency(use, rest_latency_);
}

Time TrimPacer::work_left() const {
    if (units_done_ == 0) return Time(0);
    return time_of(count(worked_) / static_cast<double>(units_done_) * static_cast<double>(units_left_));
}

Time TrimPacer::time_left() const {
    return busy_ ? std::min(window_, time_of(count(work_left()) / duty_)) : work_left();
}

}  // namespace storpol
