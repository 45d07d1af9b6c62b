#pragma once

#include <vector>

#include "array/hdf5/writer/byte_writer.h"
#include "base/dtype.h"

namespace lamella::array::hdf5 {

// Collects variable-length bytes into global heap collections ("GCOL") that are laid out one behind the other, and
// makes the 16-byte references to them. Where the first collection lies is said at the end: references count from
// there.
class HeapBuilder {
 public:
  // A stored reference: u32 length, u64 address, u32 index. The address is relative until relocate().
  struct Reference {
    uint32_t length = 0;
    uint32_t index = 0;      // 0: nothing is stored, as for the empty string
    int64_t collection = 0;  // bytes from the start of the first collection
  };
  Reference add(ConstBytes bytes);

  bool empty() const { return done_.size() == 0 && objects_ == 0; }
  // Closes the last collection and gives all of them.
  std::vector<std::byte> finish();

 private:
  void close();

  ByteWriter done_;
  ByteWriter open_;
  uint32_t objects_ = 0;  // in the open collection
};

void put_reference(std::byte* at, const HeapBuilder::Reference& reference, int64_t heap_address);

// References of `elements` elements of `type` in `decoded` (StringRefs) to `stored`; all other bytes are copied.
void store_strings(const DType& type, const std::byte* decoded, std::byte* stored, int64_t elements, HeapBuilder& heap);
// Adds the address of the heap to every reference that is not empty.
void relocate_strings(const DType& type, std::byte* stored, int64_t elements, int64_t heap_address);

}  // namespace lamella::array::hdf5
