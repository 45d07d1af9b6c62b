#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "codec/codec.h"
#include "codec/config.h"
#include "codec/spec.h"

namespace lamella::codec {

// What the file of a codec gives to its row. Exactly one of the makers is set; it sees canonical configurations only.
struct Definition {
  // Reads the members of any wire spelling (they do not contradict each other) or of what a user typed, and gives the
  // canonical configuration. item_size 0: not known yet, then members that need it are left out. Null: no members.
  Json (*canonical)(ConfigReader& config, int64_t item_size) = nullptr;

  // Canonical → what Zarr stores; `version` is 2 or 3. Null: the same.
  Json (*to_zarr)(const Json& configuration, int version) = nullptr;

  // HDF5's client data ↔ configuration. from_hdf5 may leave members out, canonical() fills them in. Null: no client
  // data.
  Json (*from_hdf5)(std::span<const uint32_t> values, int64_t item_size) = nullptr;
  std::vector<uint32_t> (*to_hdf5)(const Json& configuration, int64_t item_size, int64_t chunk_bytes) = nullptr;

  // The members that "name:a:b" sets, in order.
  std::array<std::string_view, 3> words = {};

  std::unique_ptr<BytesCodec> (*make_bytes)(const Json& configuration, int64_t item_size) = nullptr;
  std::unique_ptr<ArrayCodec> (*make_array)(const Json& configuration, const BlockType& type) = nullptr;
  std::unique_ptr<PackCodec> (*make_pack)(const Json& configuration, const BlockType& type) = nullptr;
};

struct Row {
  std::string_view name;                  // canonical
  std::string_view zarr2;                 // numcodecs id; empty: none
  std::array<std::string_view, 2> zarr3;  // the first is written; empty: none
  uint16_t hdf5;                          // filter number; 0: none. The first row with a number is what it reads as
  const Definition* definition;

  CodecKind kind() const;
};

std::span<const Row> table();

// Throw Unsupported: by the name or number, with what to do where we know.
const Row& row_of(std::string_view name);
const Row& row_of_zarr2(std::string_view id);
const Row& row_of_zarr3(std::string_view name);
const Row& row_of_hdf5(uint16_t number, std::string_view stored_name);

// Checked and complete; see spec.h.
Json canonical_configuration(const Row& row, const Json& configuration, int64_t item_size);

}  // namespace lamella::codec
