// A file of the output API: its grids and variables, the step that is under way, and what of it the
// ranks have given. Data are copied at write(), so that the program may go on with its arrays, and
// are exchanged and written at end_step().
#pragma once

#include "output/mpi/array_file.hpp"
#include "output/mpi/exchange.hpp"
#include "output/mpi/rank_grid.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::output {

// A program's array, halo included. Type and number of elements are checked where they are known.
struct ProgramArray {
    void* elements = nullptr;
    std::optional<ElementType> type;
    std::optional<std::int64_t> count;
};

class OutputFile {
public:
    // How a file is made or opened.
    struct Order {
        std::string path{};
        std::string_view options{};
        FilePurpose purpose = FilePurpose::create;
        Result<void> arguments{};  // what this rank's caller has found of them
    };
    // Collective over `user`, as all functions but write(); all have the same outcome on every
    // rank.
    [[nodiscard]] static Result<std::unique_ptr<OutputFile>> make(MPI_Comm user,
                                                                  const Order& order);
    // The outcome of a check of arguments that each rank has made for itself.
    [[nodiscard]] Result<void> agree(const Result<void>& mine) const;
    // Frees its communicators if close() was called.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // These return the number of the grid or variable, from 0.
    Result<std::size_t> add_box_grid(const BoxArguments& arguments);
    Result<std::size_t> add_map_grid(std::span<const std::int64_t> shape,
                                     std::span<const std::int64_t> indices);
    // `dimensions`: names with blanks between them, or empty. The shape is the grid's.
    Result<std::size_t> define(ArrayVariable variable, std::optional<std::size_t> grid,
                               std::string_view dimensions);
    Result<void> set_attribute(TextAttribute attribute);

    Result<void> begin_step(double time);
    // Local; does not change the array.
    Result<void> write(std::size_t variable, const ProgramArray& array);
    Result<void> end_step();

    // The number of steps in the file.
    Result<std::int64_t> steps();
    // `step`: from 0.
    Result<void> read(std::size_t variable, std::int64_t step, const ProgramArray& array);

    Result<void> close();

private:
    struct HeldArray {
        std::size_t grid = 0;
        std::vector<std::byte> packed;
        bool given = false;    // by this rank, in this step
        bool written = false;  // in some step
    };

    // The ranks that have given a variable in this step.
    struct GivenArray {
        std::vector<bool> by_rank;  // given, or nothing to give
        bool by_some = false;       // some rank has given elements
    };

    OutputFile(MPI_Comm comm, std::string path, const OutputOptions& options, FilePurpose purpose);
    void choose_writers();
    [[nodiscard]] Result<std::unique_ptr<ArrayFile>> file_of_format() const;
    [[nodiscard]] bool is_renamed() const noexcept {
        return options_.named == NameTime::at_close && purpose_ == FilePurpose::create;
    }
    // The file's name until it is closed.
    [[nodiscard]] std::string first_path() const { return is_renamed() ? path_ + ".part" : path_; }
    [[nodiscard]] Result<void> renamed(const Result<void>& closed) const;
    Result<void> open();
    [[nodiscard]] ElementSharing sharing() const noexcept {
        return purpose_ == FilePurpose::create ? ElementSharing::refused : ElementSharing::allowed;
    }
    [[nodiscard]] Result<void> may_define() const;
    [[nodiscard]] Result<void> may_use(bool in_step) const;
    Result<void> check_new(ArrayVariable& variable, std::optional<std::size_t> grid,
                           std::string_view dimensions) const;
    [[nodiscard]] Result<void> check_array(std::size_t variable, const ProgramArray& array) const;
    Result<void> define_all();
    // Collective: by variable.
    [[nodiscard]] std::vector<GivenArray> gather_given() const;
    [[nodiscard]] Result<void> complaint_on(std::size_t variable,
                                            const std::vector<bool>& given) const;
    Result<void> deliver(std::size_t variable, const std::vector<bool>& given);
    Result<void> fill_unwritten();
    template <class Call>
    Result<void> on_writers(Call call);
    template <class Make>
    Result<std::size_t> add_grid(Make make);
    [[nodiscard]] tl::unexpected<Error> refused(std::string_view problem,
                                                std::string_view advice) const;

    std::string path_;
    OutputOptions options_;
    FilePurpose purpose_;
    WriterSet writers_;
    MPI_Comm writers_comm_ = MPI_COMM_NULL;
    std::unique_ptr<ArrayFile> file_;  // on writers
    FileSchema schema_;
    std::vector<RankGrid> grids_;
    std::vector<HeldArray> held_;  // by variable
    WindowBuffers buffers_;
    bool is_defined_ = false;
    bool in_step_ = false;
    bool is_closed_ = false;
    std::int64_t steps_ = 0;
    std::optional<Error> failed_;  // after which nothing more is written
};

}  // namespace forebay::output
