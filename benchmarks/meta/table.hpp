// mdtest's table, column by column, from rates in operations per second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::meta {

struct OperationRates {
    std::string operation;
    std::vector<double> values;  // of each iteration; empty: not measured
};

enum class TableUnit { operations_per_second, seconds };

[[nodiscard]] std::string summary_table(const std::vector<OperationRates>& rows, TableUnit unit);

}  // namespace forebay::meta
