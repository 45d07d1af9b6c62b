#include "codec/byte_planes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lamella::codec {
namespace {

using Vector = uint8_t __attribute__((vector_size(16)));

// One round of a perfect shuffle over N vectors. Seen as an index of log2(16 N) bits, each byte's position is rotated
// by one bit: log2 N rounds join N planes, four rounds split them.
template <int N>
void shuffle_round(Vector (&v)[N]) {
  Vector out[N];
  for (int i = 0; i < N / 2; ++i) {
    const Vector a = v[i], b = v[i + N / 2];
    out[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    out[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  for (int i = 0; i < N; ++i) v[i] = out[i];
}

// Elements per step: enough that a step is some cache lines per plane.
template <int N>
int64_t join_vectors(const std::byte* planes, int64_t n, std::byte* elements) {
  int64_t done = 0;
  for (; done + 16 <= n; done += 16) {
    Vector v[N];
    for (int j = 0; j < N; ++j) std::memcpy(&v[j], planes + j * n + done, 16);
    for (int round = 1; round < N; round *= 2) shuffle_round<N>(v);
    std::memcpy(elements + done * N, v, sizeof(v));
  }
  return done;
}

template <int N>
int64_t split_vectors(const std::byte* elements, int64_t n, std::byte* planes) {
  int64_t done = 0;
  for (; done + 16 <= n; done += 16) {
    Vector v[N];
    std::memcpy(v, elements + done * N, sizeof(v));
    for (int round = 0; round < 4; ++round) shuffle_round<N>(v);
    for (int j = 0; j < N; ++j) std::memcpy(planes + j * n + done, &v[j], 16);
  }
  return done;
}

constexpr int64_t kTile = 256;  // elements whose bytes are moved together, so that both sides stay in the cache

}  // namespace

void split_planes(const std::byte* elements, int64_t n, int64_t size, std::byte* planes) {
  int64_t done = 0;
  switch (size) {
    case 1: std::memcpy(planes, elements, static_cast<size_t>(n)); return;
    case 2: done = split_vectors<2>(elements, n, planes); break;
    case 4: done = split_vectors<4>(elements, n, planes); break;
    case 8: done = split_vectors<8>(elements, n, planes); break;
    default: break;
  }
  for (; done < n; done += kTile) {
    const int64_t end = std::min(done + kTile, n);
    for (int64_t j = 0; j < size; ++j) {
      for (int64_t i = done; i < end; ++i) planes[j * n + i] = elements[i * size + j];
    }
  }
}

void join_planes(const std::byte* planes, int64_t n, int64_t size, std::byte* elements) {
  int64_t done = 0;
  switch (size) {
    case 1: std::memcpy(elements, planes, static_cast<size_t>(n)); return;
    case 2: done = join_vectors<2>(planes, n, elements); break;
    case 4: done = join_vectors<4>(planes, n, elements); break;
    case 8: done = join_vectors<8>(planes, n, elements); break;
    default: break;
  }
  for (; done < n; done += kTile) {
    const int64_t end = std::min(done + kTile, n);
    for (int64_t j = 0; j < size; ++j) {
      for (int64_t i = done; i < end; ++i) elements[i * size + j] = planes[j * n + i];
    }
  }
}

}  // namespace lamella::codec
