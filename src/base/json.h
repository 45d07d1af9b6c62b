#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lamella {

// Members keep their order, integers keep 64 bits.
using Json = nlohmann::ordered_json;

// Parses a document; also takes the bare tokens NaN, Infinity and -Infinity that Python's json module writes (they
// become doubles). `where` names the document in the Corrupt error. At most 256 levels deep. The member `without` of
// the outermost object, if there is one, is left out.
Json parse_json(std::string_view text, const std::string& where, std::string_view without = {});

// Two-space indentation, UTF-8 as it is; not-a-number and infinities as Python's tokens, which zarr-python reads.
std::string dump_json(const Json& value, int indent = 2);

}  // namespace lamella
