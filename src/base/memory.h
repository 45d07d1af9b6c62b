#pragma once

#include <cstdint>
#include <string>

#include "base/buffer.h"
#include "base/threads.h"

namespace lamella {

// Resident bytes of this process now, and the most there ever were (from the kernel's own account).
int64_t resident_bytes();
int64_t peak_resident_bytes();

// A quarter of the free memory of the machine or its cgroup, whichever is less, but at least 256 MiB.
int64_t default_memory_budget();

// Gives memory that is about to be written its pages, each by one thread: two that are first to write to a huge page at
// the same time would both clear it. Costs next to nothing where the pages are there. Contents stay.
void make_resident(Bytes memory, ThreadPool& threads);

// "512MiB", "1G", "64kB", "1000000" → bytes. Binary and decimal units; a bare letter is binary. Throws Invalid.
int64_t parse_bytes(const std::string& text);

// "1.5 GiB".
std::string format_bytes(int64_t bytes);

}  // namespace lamella
