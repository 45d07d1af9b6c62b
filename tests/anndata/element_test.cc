#include "anndata/element.h"

#include <gtest/gtest.h>

#include "hand_made.h"

namespace lamella::anndata {
namespace {

ElementKind kind(const array::Node& node) { return classify(node).kind; }

TEST(Element, KindsByEncoding) {
  EXPECT_EQ(kind(make_group(encoded("anndata", "0.1.0"))), ElementKind::AnnData);
  EXPECT_EQ(kind(make_frame(3)), ElementKind::DataFrame);
  EXPECT_EQ(kind(make_group(encoded("dataframe", "0.1.0"))), ElementKind::OldDataFrame);
  EXPECT_EQ(kind(make_csr({2, 3}, {2, 3})), ElementKind::Sparse);
  EXPECT_EQ(kind(make_group(encoded("csc_matrix", "0.1.0"))), ElementKind::Sparse);
  EXPECT_EQ(kind(make_group(encoded("categorical", "0.2.0"))), ElementKind::Categorical);
  EXPECT_EQ(kind(make_group(encoded("nullable-string-array", "0.1.0"))), ElementKind::NullableStrings);
  EXPECT_EQ(kind(make_array({2}, DType::string(), encoded("string-array", "0.2.0"))), ElementKind::StringArray);
}

TEST(Element, WhatNobodyKnowsIsOther) {
  const Element element = classify(make_group(encoded("hologram", "7")));
  EXPECT_EQ(element.kind, ElementKind::Other);
  EXPECT_EQ(element.type, "hologram");
  EXPECT_EQ(element.version, "7");
  // The kind of node is part of the encoding.
  EXPECT_EQ(kind(make_array({2}, DType::int_(4), encoded("csr_matrix", "0.1.0"))), ElementKind::Other);
}

TEST(Element, WithoutEncoding) {
  EXPECT_EQ(kind(make_array({2}, DType::int_(4))), ElementKind::Plain);
  EXPECT_EQ(kind(make_group({})), ElementKind::Plain);
  EXPECT_EQ(kind(make_group(attributes({{"h5sparse_format", "csr"}}))), ElementKind::OldSparse);
}

TEST(Element, OldRootsAreToldByTheirAnnotation) {
  const DType record = DType::record({{"index", 0, DType::make(TypeKind::Bytes, 4), {}}}, 4);
  const auto root = [](array::Node obs, array::Node var, array::Attributes attributes = {}) {
    return make_group(std::move(attributes), {{"obs", std::move(obs)}, {"var", std::move(var)}});
  };
  EXPECT_TRUE(is_old_anndata(*root(make_array({3}, record), make_array({2}, record)).group));
  EXPECT_TRUE(is_old_anndata(*root(make_frame(3), make_frame(2)).group));
  EXPECT_FALSE(is_old_anndata(*root(make_frame(3), make_frame(2), encoded("anndata", "0.1.0")).group));
  EXPECT_FALSE(is_old_anndata(*root(make_group({}), make_group({})).group));
  EXPECT_FALSE(is_old_anndata(*make_group({}, {{"obs", make_frame(3)}}).group));
}

}  // namespace
}  // namespace lamella::anndata
