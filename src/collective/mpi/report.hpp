// Reports to the user about a file: its line in the record, and one line when it is opened.
#pragma once

#include "collective/mpi/open_file.hpp"

#include <mpi.h>
#include <string>

namespace forebay::interposer {

// With setting `verbose`, rank 0 says whether the collective calls of the file are taken over.
void announce(const OpenFile& file);

// Collective over the file's ranks: rank 0 appends the line of a file that is being closed.
void report_closed(const OpenFile& file);

// For a file that is open when the program ends; not collective. Rank 0 appends what it knows.
void report_unclosed(const OpenFile& file);

// Appends the job's line, once, before the line of the job's first file; done by rank 0 of that
// file. When the program ends, the same process reports that, too.
void report_job(const OpenFile& file);

// Appends the line on this process's end to `record`. To be called within MPI_Finalize.
void report_end(const std::string& record);

}  // namespace forebay::interposer
