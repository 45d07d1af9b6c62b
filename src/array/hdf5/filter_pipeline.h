#pragma once

#include <vector>

#include "base/byte_reader.h"
#include "codec/spec.h"

namespace lamella::array::hdf5 {

// In the order of writing.
std::vector<codec::Hdf5Filter> parse_filter_pipeline(ByteReader in);

// [bytes, one codec a filter]. Throws Unsupported for a filter that is not known.
codec::CodecList to_codecs(const std::vector<codec::Hdf5Filter>& filters, int64_t item_size);

}  // namespace lamella::array::hdf5
