#include "anndata/convert.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "hand_made.h"

namespace lamella::anndata {
namespace {

using Children = std::vector<std::pair<std::string, array::Node>>;

array::Opened make_anndata(Children more = {}, array::Attributes attributes = encoded("anndata", "0.1.0")) {
  more.insert(more.begin(), {{"obs", make_frame(4)}, {"var", make_frame(3)}});
  return {make_group(std::move(attributes), std::move(more)), "hdf5"};
}

std::map<std::string, plan::Item> recipe(const array::Opened& opened, const ConvertOptions& options = {}) {
  std::map<std::string, plan::Item> out;
  for (const plan::Item& item : make_recipe(opened, "in.h5ad", options).items) {
    const std::string path = std::visit([](const auto& one) { return one.path; }, item);
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos) EXPECT_TRUE(out.count(path.substr(0, slash))) << path << " before its parent";
    EXPECT_TRUE(out.emplace(path, item).second) << path << " twice";
  }
  return out;
}

std::string encoding_of(const plan::Item& item) {
  return std::visit([](const auto& one) { return one.attributes.string("encoding-type").value_or(""); }, item);
}

// Expects Corrupt that names the file and the element.
void expect_corrupt(const array::Opened& opened, const std::string& element) {
  try {
    make_recipe(opened, "in.h5ad", {});
    ADD_FAILURE() << "nothing thrown for " << element;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    EXPECT_NE(std::string(error.what()).find("in.h5ad: /" + element), std::string::npos) << error.what();
  }
}

TEST(Convert, MakesEveryStandardGroup) {
  const auto items = recipe(make_anndata());
  EXPECT_EQ(encoding_of(items.at("")), "anndata");
  for (const char* name : {"layers", "obsm", "varm", "obsp", "varp", "uns"})
    EXPECT_EQ(encoding_of(items.at(name)), "dict") << name;
  EXPECT_EQ(items.count("X"), 0u);
  EXPECT_EQ(items.count("raw"), 0u);
}

TEST(Convert, StringsOfFramesInThreeForms) {
  ConvertOptions options;
  EXPECT_EQ(encoding_of(recipe(make_anndata(), options).at("obs/_index")), "nullable-string-array");
  for (Strings strings : {Strings::Plain, Strings::Keep}) {
    options.strings = strings;
    EXPECT_EQ(encoding_of(recipe(make_anndata(), options).at("obs/_index")), "string-array");
  }
}

TEST(Convert, SparseShapesOfAnyNumberType) {
  for (const Json& shape : {Json{4, 3}, Json{4.0, 3.0}, Json{4u, 3u}}) {
    const auto items = recipe(make_anndata({{"X", make_csr({4, 3}, shape)}}));
    const auto& x = std::get<plan::MatrixItem>(items.at("X"));
    EXPECT_EQ(x.source.shape(), (Shape{4, 3}));
    EXPECT_EQ(x.layout, matrix::Layout::Csr);
  }
  for (const Json& shape : {Json{4, -3}, Json{4, 3.5}, Json{4, "3"}, Json{4}, Json("4")})
    expect_corrupt(make_anndata({{"X", make_csr({4, 3}, shape)}}), "X");
}

TEST(Convert, FormsThatAreAskedFor) {
  const array::Opened opened =
      make_anndata({{"X", make_csr({4, 3}, {4, 3})},
                    {"layers", make_group(encoded("dict", "0.1.0"), {{"d", make_array({4, 3}, DType::float_(4))}})},
                    {"obsm", make_group(encoded("dict", "0.1.0"), {{"pca", make_array({4, 2}, DType::float_(4))}})}});
  ConvertOptions options;
  options.sparse = SparseForm::Csc;
  auto items = recipe(opened, options);
  EXPECT_EQ(std::get<plan::MatrixItem>(items.at("X")).layout, matrix::Layout::Csc);
  EXPECT_EQ(std::get<plan::MatrixItem>(items.at("layers/d")).layout, matrix::Layout::Csc);
  EXPECT_TRUE(std::holds_alternative<plan::ArrayItem>(items.at("obsm/pca")));
  options.sparse = SparseForm::Dense;
  items = recipe(opened, options);
  EXPECT_EQ(std::get<plan::MatrixItem>(items.at("X")).layout, matrix::Layout::Dense);
  EXPECT_TRUE(std::holds_alternative<plan::ArrayItem>(items.at("layers/d")));
}

TEST(Convert, WhatDoesNotFitIsCorrupt) {
  const auto in = [](const char* group, array::Node node) {
    return make_anndata({{group, make_group(encoded("dict", "0.1.0"), {{"one", std::move(node)}})}});
  };
  const auto matrix = [](int64_t rows, int64_t columns) { return make_array({rows, columns}, DType::float_(4)); };
  expect_corrupt(make_anndata({{"X", matrix(5, 3)}}), "X");
  expect_corrupt(make_anndata({{"X", matrix(4, 4)}}), "X");
  expect_corrupt(in("layers", matrix(3, 4)), "layers/one");
  expect_corrupt(in("obsm", matrix(3, 2)), "obsm/one");
  expect_corrupt(in("obsm", make_frame(3)), "obsm/one");
  expect_corrupt(in("varm", matrix(4, 2)), "varm/one");
  expect_corrupt(in("obsp", matrix(4, 3)), "obsp/one");
  expect_corrupt(in("varp", make_csr({4, 4}, {4, 4})), "varp/one");
  expect_corrupt(make_anndata({{"uns", make_group(encoded("categorical", "0.2.0"))}}), "uns");
  expect_corrupt({make_group(encoded("anndata", "0.1.0"), {{"obs", make_frame(2)}}), "hdf5"}, "");
}

TEST(Convert, GraphsOfOldFilesMove) {
  const auto graphs = [](array::Attributes attributes, int64_t n) {
    const array::Node neighbors = make_group({}, {{"distances", make_csr({n, n}, {n, n})}, {"params", make_group({})}});
    return make_anndata({{"uns", make_group({}, {{"neighbors", neighbors}})}}, std::move(attributes));
  };
  auto items = recipe(graphs({}, 4));
  EXPECT_EQ(items.count("obsp/distances"), 1u);
  EXPECT_EQ(items.count("uns/neighbors/distances"), 0u);
  EXPECT_EQ(items.count("uns/neighbors/params"), 1u);
  items = recipe(graphs({}, 5));  // no graph of these cells
  EXPECT_EQ(items.count("uns/neighbors/distances"), 1u);
  items = recipe(graphs(encoded("anndata", "0.1.0"), 4));  // not old
  EXPECT_EQ(items.count("uns/neighbors/distances"), 1u);
}

TEST(Convert, PlainTreesStayAsTheyAre) {
  const array::Node group = make_group(attributes({{"a", 1}}), {{"b", make_array({2}, DType::string())}});
  const auto items = recipe({group, "zarr3"});
  EXPECT_EQ(items.size(), 2u);
  EXPECT_EQ(encoding_of(items.at("")), "");
  EXPECT_EQ(encoding_of(items.at("b")), "");
}

TEST(Convert, AnElementBecomesTheRoot) {
  ConvertOptions options;
  options.element = "/obs/n/";
  EXPECT_EQ(recipe(make_anndata(), options).count(""), 1u);
  options.target = array::SinkFormat::Hdf5;
  const auto items = recipe(make_anndata(), options);
  EXPECT_TRUE(std::holds_alternative<plan::GroupItem>(items.at("")));
  EXPECT_TRUE(std::holds_alternative<plan::ArrayItem>(items.at("n")));
  options.element = "obs";
  EXPECT_EQ(encoding_of(recipe(make_anndata(), options).at("")), "dataframe");
  options.element = "obs/none";
  EXPECT_THROW(recipe(make_anndata(), options), Error);
}

TEST(Convert, TypesThatTheTargetWants) {
  const auto type = [](DType from, array::SinkFormat target) {
    ConvertOptions options;
    options.target = target;
    const array::Opened opened{make_group({}, {{"a", make_array({2}, std::move(from))}}), "hdf5"};
    return to_string(std::get<plan::ArrayItem>(recipe(opened, options).at("a")).source->type());
  };
  const DType big = DType::make(TypeKind::Float, 4, true), text = DType::make(TypeKind::Unicode, 8);
  EXPECT_EQ(type(big, array::SinkFormat::Zarr3), "<f4");
  EXPECT_EQ(type(big, array::SinkFormat::Zarr2), ">f4");
  EXPECT_EQ(type(big, array::SinkFormat::Hdf5), ">f4");
  EXPECT_EQ(type(text, array::SinkFormat::Hdf5), "string");
  EXPECT_EQ(type(text, array::SinkFormat::Zarr3), "<U2");
}

}  // namespace
}  // namespace lamella::anndata
