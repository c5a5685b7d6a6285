// A file's reports to the user: its line in the record, one line when it is opened.
#pragma once

#include "collective/mpi/open_file.hpp"

#include <mpi.h>

namespace forebay::interposer {

// Setting `verbose`; by rank 0.
void announce(const OpenFile& file);

// Collective over the file's ranks: appends the line of a file that is being closed.
void report_closed(const OpenFile& file);

// By each rank alone, when the program ends: rank 0 appends what it knows.
void report_unclosed(const OpenFile& file);

// Before the job's first file; by rank 0 of that file.
void report_job(const OpenFile& file);

}  // namespace forebay::interposer
