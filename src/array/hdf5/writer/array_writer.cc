#include "array/hdf5/writer/array_writer.h"

#include "array/hdf5/writer/heap_writer.h"
#include "base/error.h"

namespace lamella::array::hdf5 {
namespace {

constexpr int64_t kMostStored = (int64_t{1} << 32) - 1;  // bytes of a chunk: the index has 32 bits

class Hdf5Writer : public ArrayWriter {
 public:
  Hdf5Writer(Output& output, ArrayRecord& record)
      : ArrayWriter(record.spec), output_(output), record_(record), fill_(spec_.fill_element()) {
    if (spec_.contiguous()) return;
    const codec::BlockType block{spec_.type, spec_.chunks, fill_};
    pipeline_ = std::make_unique<codec::Pipeline>(spec_.codecs, block);
    if (spec_.codecs.back().name != "lzf") return;
    codec::CodecList others = spec_.codecs;
    others.pop_back();
    without_last_ = std::make_unique<codec::Pipeline>(others, block);
  }

  EncodedChunk encode(ConstBytes decoded) const override {
    EncodedChunk out;
    const int64_t n = static_cast<int64_t>(decoded.size()) / spec_.type.size;
    if (spec_.type.has_references_to_heap()) {
      HeapBuilder heap;
      out.bytes = Buffer(static_cast<int64_t>(decoded.size()));
      store_strings(spec_.type, decoded.data(), out.bytes.data(), n, heap);
      out.heap = heap.finish();
      out.absent = spec_.type.is_vlen() && out.heap.empty();  // nothing but empty strings, as absent chunks read
      return out;
    }
    out.absent = all_equal(decoded.data(), n, fill_.data(), spec_.type.size);
    if (!out.absent) filter(decoded, out);
    return out;
  }

  Placement append(const Shape& chunk, EncodedChunk encoded) override {
    if (encoded.absent) return {};
    if (spec_.type.has_references_to_heap()) {
      output_.align();
      const int64_t heap = encoded.heap.empty() ? 0 : output_.append(ConstBytes(encoded.heap));
      relocate_strings(spec_.type, encoded.bytes.data(), encoded.bytes.size() / spec_.type.size, heap);
      const Buffer references = std::move(encoded.bytes);
      filter(references.bytes(), encoded);
    }
    if (encoded.bytes.size() > kMostStored) {
      throw Error(ErrorKind::Unsupported, "a chunk takes " + std::to_string(encoded.bytes.size()) +
                                              " bytes when encoded, HDF5 allows 4 GiB; give smaller --chunks");
    }
    const Placement placement{output_.append(encoded.bytes.bytes()), encoded.bytes.size(), encoded.skip_codecs};
    add(chunk, placement);
    return placement;
  }

  // A chunk's strings lie before it, so its end is the end of all that it took.
  void restore(const Shape& chunk, const Placement& placement) override {
    if (spec_.contiguous() || placement.position < 0) return;
    add(chunk, placement);
    output_.end = placement.position + placement.size;
  }

  void write_run(int64_t first_element, ConstBytes decoded) override {
    if (decoded.empty()) return;
    const int64_t at = record_.position + first_element * spec_.type.size;
    if (!spec_.type.has_references_to_heap()) {
      output_.file->write_at(at, decoded);
      return;
    }
    HeapBuilder heap;
    Buffer stored(static_cast<int64_t>(decoded.size()));
    const int64_t n = stored.size() / spec_.type.size;
    store_strings(spec_.type, decoded.data(), stored.data(), n, heap);
    const std::vector<std::byte> collections = heap.finish();
    output_.align();
    relocate_strings(spec_.type, stored.data(), n, collections.empty() ? 0 : output_.append(ConstBytes(collections)));
    output_.file->write_at(at, stored.bytes());
  }

  void finish() override {}
  int64_t index_bytes_per_chunk() const override { return sizeof(StoredChunk); }

 private:
  // Leaves a last LZF out where it gains nothing, as the library does.
  void filter(ConstBytes stored, EncodedChunk& out) const {
    out.bytes = pipeline_->encode(stored);
    if (!without_last_ || out.bytes.size() < static_cast<int64_t>(stored.size())) return;
    out.bytes = without_last_->encode(stored);
    out.skip_codecs = 1u << (spec_.codecs.size() - 2);
  }

  void add(const Shape& chunk, const Placement& placement) {
    record_.chunks.push_back(
        {spec_.grid().linear(chunk), placement.position, static_cast<uint32_t>(placement.size), placement.skip_codecs});
  }

  Output& output_;
  ArrayRecord& record_;
  std::vector<std::byte> fill_;
  std::unique_ptr<codec::Pipeline> pipeline_, without_last_;
};

}  // namespace

int64_t Output::append(ConstBytes bytes) {
  const int64_t at = end;
  file->write_at(at, bytes);
  end += static_cast<int64_t>(bytes.size());
  return at;
}

void Output::align() {
  static constexpr std::byte kZeros[8] = {};
  append({kZeros, static_cast<size_t>(round_up(end, 8) - end)});
}

int64_t Output::reserve(int64_t bytes) {
  align();
  const int64_t at = end;
  end = checked_add(end, bytes);
  return at;
}

std::unique_ptr<ArrayWriter> create_array_writer(Output& output, ArrayRecord& record) {
  return std::make_unique<Hdf5Writer>(output, record);
}

}  // namespace lamella::array::hdf5
