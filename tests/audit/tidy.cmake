# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DSOURCE=DIR -DBINARY=DIR -DWHAT=all|GIT_REVISION -P tidy.cmake: clang-tidy 14 over the sources of engine and
# resources, or over those that differ from a revision.
file(GLOB_RECURSE files ${SOURCE}/engine/*.cpp ${SOURCE}/resources/*.cpp)
set(checks)
if(WHAT STREQUAL "all")
    # The analyzer takes two thirds of the time: it looks at what differs only.
    set(checks "-checks=-clang-analyzer-*")
else()
    execute_process(COMMAND git -C ${SOURCE} diff --name-only --diff-filter=d ${WHAT} -- engine resources
        OUTPUT_VARIABLE changed RESULT_VARIABLE refused OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(refused)
        message(FATAL_ERROR "git does not know what differs from ${WHAT}")
    endif()
    string(REGEX MATCHALL "[^\n]+\\.cpp" files "${changed}")
    list(TRANSFORM files PREPEND ${SOURCE}/)
endif()
if(NOT files)
    message(STATUS "no source differs from ${WHAT}")
    return()
endif()
list(TRANSFORM files REPLACE "(.+)" "^\\1$")
# Warning options of g++ in the compile commands mean nothing to clang.
execute_process(COMMAND run-clang-tidy-14 -quiet -p ${BINARY} -extra-arg=-Wno-unknown-warning-option ${checks} ${files}
    RESULT_VARIABLE refused)
if(refused)
    message(FATAL_ERROR "clang-tidy has objections")
endif()
