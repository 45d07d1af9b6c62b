#include "anndata/info.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "hand_made.h"

namespace lamella::anndata {
namespace {

TEST(Info, TellsEveryNode) {
  const array::Opened opened{make_group(encoded("anndata", "0.1.0"), {{"X", make_csr({4, 3}, {4, 3})}}), "hdf5"};
  const Json tree = describe_tree(opened, "");
  EXPECT_EQ(tree["path"], "/");
  EXPECT_EQ(tree["format"], "hdf5");
  const Json& x = tree["children"][0];
  EXPECT_EQ(x["path"], "/X");
  EXPECT_EQ(x["encoding"], "csr_matrix");
  EXPECT_EQ(x["shape"], (Json{4, 3}));
  const Json& data = x["children"][0];
  EXPECT_EQ(data["dtype"], "<f4");
  EXPECT_EQ(data["decoded_bytes"], 36);
  EXPECT_EQ(data["stored_bytes"], 10);
  EXPECT_DOUBLE_EQ(data["ratio"], 3.6);
}

TEST(Info, StringsHaveNoDecodedSize) {
  const Json tree = describe_tree({make_frame(4), "hdf5"}, "");
  EXPECT_FALSE(tree["children"][0].contains("decoded_bytes"));
  EXPECT_EQ(tree["stored_bytes"], 20);
  EXPECT_EQ(tree["decoded_bytes"], 16);
  EXPECT_DOUBLE_EQ(tree["ratio"], 1.6);
}

TEST(Info, AnElementAlone) {
  const array::Opened opened{make_group({}, {{"a", make_group({}, {{"b", make_array({2}, DType::int_(8))}})}}),
                             "zarr3"};
  EXPECT_EQ(describe_tree(opened, "a/b")["path"], "/a/b");
  EXPECT_EQ(describe_tree(opened, "/a/")["path"], "/a");
  EXPECT_THROW(describe_tree(opened, "a/c"), Error);
  EXPECT_THROW(describe_tree({make_array({2}, DType::int_(8)), "zarr3"}, "a"), Error);
}

TEST(Info, NestingHasAnEnd) {
  array::Node node = make_group({});
  for (int i = 0; i < 1000; ++i) node = make_group({}, {{"n", node}});
  Json tree = describe_tree({node, "hdf5"}, "");
  int depth = 0;
  while (!tree.contains("error")) {
    tree = Json(tree["children"][0]);
    ++depth;
  }
  EXPECT_LT(depth, 300);
}

TEST(Info, TheTableHasALineForEveryNode) {
  const std::string text = render_tree(describe_tree({make_frame(4), "hdf5"}, ""));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_NE(text.find("dataframe"), std::string::npos);
  EXPECT_EQ(text.find(" \n"), std::string::npos);
}

}  // namespace
}  // namespace lamella::anndata
