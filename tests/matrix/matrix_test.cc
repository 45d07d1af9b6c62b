#include "matrix/matrix.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace lamella::matrix {
namespace {

lazy::ExprPtr integers(Shape shape) { return lazy::fill(std::move(shape), DType::int_(4), {}); }

// The complaint about a matrix of these lengths, "" when there is none.
std::string complaint(Layout layout, Shape shape, lazy::ExprPtr data, lazy::ExprPtr indices, lazy::ExprPtr indptr) {
  try {
    make_sparse(layout, std::move(shape), std::move(data), std::move(indices), std::move(indptr), "file: /X");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    EXPECT_EQ(std::string(error.what()).rfind("file: /X: ", 0), 0u);
    return error.what();
  }
  return "";
}

TEST(Matrix, LengthsAgree) {
  EXPECT_EQ(complaint(Layout::Csr, {3, 5}, integers({7}), integers({7}), integers({4})), "");
  EXPECT_EQ(complaint(Layout::Csc, {3, 5}, integers({7}), integers({7}), integers({6})), "");
  EXPECT_EQ(complaint(Layout::Csr, {0, 5}, integers({0}), integers({0}), integers({1})), "");
  EXPECT_NE(complaint(Layout::Csc, {3, 5}, integers({7}), integers({7}), integers({4})).find("indptr"),
            std::string::npos);
  EXPECT_NE(complaint(Layout::Csr, {3, 5}, integers({7}), integers({6}), integers({4})).find("indices"),
            std::string::npos);
}

TEST(Matrix, PartsAreOfTheRightKind) {
  EXPECT_NE(complaint(Layout::Csr, {3, 5}, integers({7, 1}), integers({7}), integers({4})), "");
  EXPECT_NE(complaint(Layout::Csr, {3}, integers({7}), integers({7}), integers({4})), "");
  EXPECT_NE(complaint(Layout::Csr, {3, -1}, integers({7}), integers({7}), integers({4})), "");
  const lazy::ExprPtr floats = lazy::fill({7}, DType::float_(8), {});
  EXPECT_NE(complaint(Layout::Csr, {3, 5}, integers({7}), floats, integers({4})), "");
  EXPECT_EQ(complaint(Layout::Csr, {3, 5}, floats, integers({7}), integers({4})), "");
}

TEST(Matrix, AxesFollowTheLayout) {
  const auto csc = make_sparse(Layout::Csc, {3, 5}, integers({7}), integers({7}), integers({6}), "x");
  EXPECT_EQ(csc->major(), 5);
  EXPECT_EQ(csc->minor(), 3);
  EXPECT_EQ(csc->most_entries(), 7);
  const Matrix matrix{nullptr, csc};
  EXPECT_EQ(matrix.layout(), Layout::Csc);
  EXPECT_EQ(matrix.shape(), (Shape{3, 5}));
}

}  // namespace
}  // namespace lamella::matrix
