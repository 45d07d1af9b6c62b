#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lazy/expr.h"

namespace lamella::matrix {

// How a 2-d matrix lies on disk.
enum class Layout { Dense, Csr, Csc };

inline Layout other(Layout layout) { return layout == Layout::Csr ? Layout::Csc : Layout::Csr; }

// The three 1-d arrays of a compressed matrix.
struct SparseParts {
  lazy::ExprPtr data;
  lazy::ExprPtr indices;
  lazy::ExprPtr indptr;
};

// Some entries of a matrix, with the axes named after its layout: major is the row for CSR.
struct EntryBlock {
  int64_t n = 0;
  const int64_t* major = nullptr;
  const int64_t* minor = nullptr;
  const std::byte* data = nullptr;  // null when only the places were asked for
};

// What a reader of entries may use. Results that are asked for whole come on top of `memory`.
struct Reading {
  ThreadPool& threads;
  int64_t memory = int64_t{16} << 20;
};

// A compressed sparse matrix that is computed when it is read: stored, or taken, stacked and mapped from others.
// Immutable and thread-safe. Making one touches no data.
class Sparse {
 public:
  virtual ~Sparse() = default;

  Layout layout() const { return layout_; }          // never Dense
  const Shape& shape() const { return shape_; }      // rows, columns
  const DType& type() const { return type_; }        // of the values
  const std::string& name() const { return name_; }  // "file: /element", for messages
  int64_t major() const { return shape_[layout_ == Layout::Csr ? 0 : 1]; }
  int64_t minor() const { return shape_[layout_ == Layout::Csr ? 1 : 0]; }

  // Calls `body` with the entries of the majors [begin, end), some at a time, major after major. Within one, minors
  // ascend unless those of the stored matrix do not. Throws Corrupt where indices or indptr make no sense.
  using Body = std::function<void(const EntryBlock&)>;
  virtual void visit(int64_t begin, int64_t end, bool with_data, const Reading& reading, const Body& body) const = 0;

  // The entries of one of `shares` parts in the order that is cheapest; whoever needs another sorts them. Each entry is
  // in one share. Unless scattered(), majors ascend within a share and from share to share.
  virtual void visit_share(int64_t share, int64_t shares, bool with_data, const Reading& reading,
                           const Body& body) const {
    visit(cut(share, shares), cut(share + 1, shares), with_data, reading, body);
  }
  // Does the order of majors cost a pass over everything for each visit()?
  virtual bool scattered() const { return false; }

  // Entries of each of the majors [begin, end).
  virtual std::vector<int64_t> counts(int64_t begin, int64_t end, const Reading& reading) const;

  // The arrays that make this matrix, if there are such without going through its entries. May read some of indptr.
  virtual std::optional<SparseParts> parts() const { return std::nullopt; }

  // No fewer than there are; from metadata.
  virtual int64_t most_entries() const = 0;
  virtual int64_t stored_bytes() const = 0;
  // Resident bytes that visit() takes beside Reading::memory.
  virtual int64_t working_bytes() const = 0;

 protected:
  Sparse(Layout layout, Shape shape, DType type, std::string name)
      : layout_(layout), shape_(std::move(shape)), type_(std::move(type)), name_(std::move(name)) {}

  // The major with which a share begins when each gets as many majors.
  int64_t cut(int64_t share, int64_t shares) const {
    return major() / shares * share + major() % shares * share / shares;
  }

 private:
  Layout layout_;
  Shape shape_;
  DType type_;
  std::string name_;
};
using SparsePtr = std::shared_ptr<const Sparse>;

// scipy's choice: 32 bits unless a dimension or the number of entries needs more.
DType index_type(int64_t majors, int64_t minors, int64_t entries);

// A stored matrix. Throws Corrupt naming it where lengths disagree; the contents are checked by reading them.
SparsePtr make_sparse(Layout layout, Shape shape, lazy::ExprPtr data, lazy::ExprPtr indices, lazy::ExprPtr indptr,
                      std::string name);

// Nothing but zeros.
SparsePtr empty_sparse(Layout layout, Shape shape, DType type);

// A dense matrix without its zeros: what compares equal to zero, so minus zero too, and not-a-number not. CSR.
SparsePtr nonzeros(lazy::ExprPtr dense);
// Rows that it reads at a time, whole.
int64_t nonzeros_rows(const lazy::Expr& dense);

// Entries that lie in memory.
struct Entries {
  std::vector<int64_t> indptr;  // from 0
  std::vector<int64_t> minors;
  Buffer data;
};
// The majors [begin, end), whole.
Entries read_entries(const Sparse& sparse, int64_t begin, int64_t end, const Reading& reading);

// Cuts [begin, end) into ranges of majors that hold about `most` entries (more only where one major does) and calls
// body(first, last, entries).
void for_each_range(const Sparse& sparse, int64_t begin, int64_t end, int64_t most, const Reading& reading,
                    const std::function<void(int64_t, int64_t, int64_t)>& body);

}  // namespace lamella::matrix
