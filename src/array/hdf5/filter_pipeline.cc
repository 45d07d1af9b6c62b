#include "array/hdf5/filter_pipeline.h"

#include "base/error.h"
#include "base/shape.h"

namespace lamella::array::hdf5 {

std::vector<codec::Hdf5Filter> parse_filter_pipeline(ByteReader in) {
  const int version = in.u8();
  if (version != 1 && version != 2) in.fail("filter pipeline version 1 or 2, not " + std::to_string(version) + ",");
  const int n = in.u8();
  if (n > 32) in.fail("up to 32 filters, not " + std::to_string(n) + ",");
  if (version == 1) in.skip(6);
  std::vector<codec::Hdf5Filter> filters;
  for (int i = 0; i < n; ++i) {
    codec::Hdf5Filter filter;
    filter.number = in.u16();
    const int64_t name_size = version == 1 || filter.number >= 256 ? in.u16() : 0;
    filter.optional = in.u16() & 1;
    const int values = in.u16();
    const ConstBytes raw = in.take(version == 1 ? round_up(name_size, 8) : name_size);
    filter.name.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    filter.name = filter.name.substr(0, filter.name.find('\0'));
    for (int v = 0; v < values; ++v) filter.values.push_back(in.u32());
    if (version == 1 && values % 2 == 1) in.skip(4);
    filters.push_back(std::move(filter));
  }
  return filters;
}

codec::CodecList to_codecs(const std::vector<codec::Hdf5Filter>& filters, int64_t item_size) {
  codec::CodecList codecs{{"bytes"}};
  for (const codec::Hdf5Filter& filter : filters) {
    try {
      codecs.push_back(codec::from_hdf5(filter, item_size));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported || filter.number < 256) throw;
      throw Error(ErrorKind::Unsupported, std::string(error.what()) + "; the pip package hdf5plugin lets h5py read it");
    }
  }
  return codecs;
}

}  // namespace lamella::array::hdf5
