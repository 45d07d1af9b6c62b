#pragma once

#include <string>
#include <string_view>

namespace lamella {

// Does `a` come before `b` when runs of digits count as numbers: "c2" < "c10"? Equal where only leading zeros differ.
// Latin letters with marks stand beside those without, as natsort has them.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace lamella
