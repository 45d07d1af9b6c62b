#pragma once

#include <unordered_map>
#include <vector>

#include "array/hdf5/container.h"
#include "base/dtype.h"
#include "base/heap.h"

namespace lamella::array::hdf5 {

// Looks up variable-length data for one call of one thread. Collections are read once each and given to the heap.
class GlobalHeapReader {
 public:
  GlobalHeapReader(const Container& container, Heap& heap) : container_(container), heap_(heap) {}

  // Object `index` of the collection at `address`. Throws Corrupt.
  ConstBytes object(int64_t address, uint32_t index);

 private:
  struct Collection {
    int64_t size = 0;
    std::vector<ConstBytes> objects;  // by index; no data: not there
  };
  const Collection& collection(int64_t address);
  ConstBytes load(int64_t address);

  const Container& container_;
  Heap& heap_;
  std::unordered_map<int64_t, Collection> collections_;
  int64_t last_address_ = kUndefined;
  const Collection* last_ = nullptr;
  // What was read around the last collection: neighbours are read together once they turn out to be used.
  ConstBytes window_;
  int64_t window_address_ = 0;
  int64_t next_read_ = 4096;
};

// Turns stored elements of `type` (length, address, index: 16 bytes) into StringRefs in place, fields of records too.
void resolve_elements(GlobalHeapReader& heap, const DType& type, std::byte* data, int64_t elements);

}  // namespace lamella::array::hdf5
