// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <dlfcn.h>

// Shared libraries that few runs need, loaded when their first function is called. Linking them would cost every plan
// the time to load them (libsystemd alone is about a millisecond, a fifth of a small plan). The headers are those of
// the build; the names are the libraries' sonames, so another ABI is never loaded.
namespace storpol {

class LateLibrary {
  public:
    explicit constexpr LateLibrary(const char* soname) : soname_(soname) {}

    // False when this machine does not have it. Ask before calling a function.
    bool is_there() const { return handle() != nullptr; }

    void* find(const char* name) const { return handle() == nullptr ? nullptr : dlsym(handle(), name); }

  private:
    void* handle() const {
        if (handle_ == nullptr) handle_ = dlopen(soname_, RTLD_NOW | RTLD_LOCAL);
        return handle_;
    }

    const char* soname_;
    mutable void* handle_ = nullptr;
};

// One function of it, called as the header declares it. STORPOL_LATE makes one.
template <class Function>
class Late {
  public:
    constexpr Late(const LateLibrary& library, const char* name) : library_(&library), name_(name) {}

    // False in a library older than the function.
    bool is_there() const { return address() != nullptr; }

    template <class... Arguments>
    auto operator()(Arguments... arguments) const {
        return address()(arguments...);
    }

  private:
    Function* address() const {
        if (address_ == nullptr) address_ = reinterpret_cast<Function*>(library_->find(name_));
        return address_;
    }

    const LateLibrary* library_;
    const char* name_;
    mutable Function* address_ = nullptr;
};

}  // namespace storpol

// Declares the function under its own name, in the namespace where this stands.
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared stands in none.
#define STORPOL_LATE(library, name) const Late<decltype(::name)> name(library, #name)
