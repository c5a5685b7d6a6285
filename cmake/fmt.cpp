// {fmt}, compiled once. Debian has no archive of it, its shared library is one that a program's
// node may lack, and with FMT_HEADER_ONLY every source of ours would compile these bodies again,
// which took half of the build's time.
#include <fmt/format-inl.h>

namespace fmt {
inline namespace v9 {
namespace detail {
template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal(float number) noexcept;
template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal(double number) noexcept;
template FMT_API locale_ref::locale_ref(const std::locale& locale);
template FMT_API std::locale locale_ref::get<std::locale>() const;
template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref locale);
template FMT_API char decimal_point_impl(locale_ref locale);
template FMT_API void buffer<char>::append(const char* begin, const char* end);
template FMT_API void vformat_to(buffer<char>& to, string_view format,
                                 basic_format_args<buffer_context<char>> arguments,
                                 locale_ref locale);
}  // namespace detail
}  // namespace v9
}  // namespace fmt
