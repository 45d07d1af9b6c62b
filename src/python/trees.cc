#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "anndata/concat.h"
#include "anndata/element.h"
#include "anndata/load.h"
#include "anndata/subset.h"
#include "array/array.h"
#include "base/error.h"
#include "matrix/compressed.h"
#include "matrix/densify.h"
#include "matrix/reduce.h"
#include "matrix/values.h"
#include "python/bindings.h"

namespace lamella::python {
namespace {

using anndata::Store;
using anndata::Tree;
using matrix::Matrix;

// numpy.ndarray of the buffer's bytes, which it owns from now on.
nb::object to_bytes_array(Buffer buffer) {
  auto* owner = new Buffer(std::move(buffer));
  const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<Buffer*>(p); });
  const size_t shape[1] = {static_cast<size_t>(owner->size())};
  return nb::cast(nb::ndarray<nb::numpy, uint8_t>(owner->data(), 1, shape, capsule));
}

nb::tuple read_sparse(const Matrix& matrix) {
  if (!matrix.sparse) throw Error(ErrorKind::Invalid, "a dense matrix has no sparse parts");
  matrix::Compressed parts;
  {
    nb::gil_scoped_release unlocked;
    parts = matrix::read_compressed(*matrix.sparse, ThreadPool::shared());
  }
  const char* index = parts.index_type.size == 4 ? "<i4" : "<i8";
  return nb::make_tuple(to_bytes_array(std::move(parts.data)), to_bytes_array(std::move(parts.indices)),
                        to_bytes_array(std::move(parts.indptr)), index);
}

nb::object expr_or_none(const lazy::ExprPtr& expr) {
  return expr ? nb::cast(std::const_pointer_cast<lazy::Expr>(expr)) : nb::none();
}

// A matrix that is dense or sparse, as one Python class.
Matrix matrix_of(const Tree& tree) { return tree.matrix(); }

lazy::Operation operation_of(const std::string& name) {
  if (name == "add") return lazy::Operation::Add;
  if (name == "multiply") return lazy::Operation::Multiply;
  if (name == "power") return lazy::Operation::Power;
  if (name == "log1p") return lazy::Operation::Log1p;
  if (name == "expm1") return lazy::Operation::Expm1;
  if (name == "sqrt") return lazy::Operation::Sqrt;
  if (name == "abs") return lazy::Operation::Abs;
  throw Error(ErrorKind::Invalid, "no operation '" + name + "'");
}

std::shared_ptr<const std::vector<double>> shared(std::vector<double> values) {
  return std::make_shared<const std::vector<double>>(std::move(values));
}

Shape grain_of(const Matrix& matrix) {
  if (matrix.dense) return matrix.dense->grain();
  return {};
}

void bind_matrix(nb::module_& module) {
  nb::class_<Matrix>(module, "Matrix")
      .def_prop_ro("shape", [](const Matrix& m) { return m.shape(); })
      .def_prop_ro(
          "format",
          [](const Matrix& m) {
            return m.layout() == matrix::Layout::Dense ? "dense" : m.layout() == matrix::Layout::Csr ? "csr" : "csc";
          })
      .def_prop_ro("dtype", [](const Matrix& m) { return dtype_description(m.type()); })
      .def_prop_ro("chunks", grain_of)
      .def_prop_ro("most_entries",
                   [](const Matrix& m) { return m.sparse ? m.sparse->most_entries() : count(m.shape()); })
      .def("stored_bytes",
           [](const Matrix& m) { return m.sparse ? m.sparse->stored_bytes() : m.dense->stored_bytes(); })
      .def_prop_ro("dense", [](const Matrix& m) { return expr_or_none(m.dense); })
      .def("densified",
           [](const Matrix& m) {
             return m.dense ? m : Matrix{matrix::densify(m.sparse), nullptr};
           })
      .def("relaid",
           [](const Matrix& m) {
             return m.sparse ? Matrix{nullptr, matrix::relaid(m.sparse)} : m;
           })
      .def("read_sparse", read_sparse)
      .def("take", [](const Matrix& m, nb::handle rows,
                      nb::handle columns) { return matrix::take(m, to_picks(rows), to_picks(columns)); })
      .def("cast", [](const Matrix& m, const std::string& type) { return matrix::cast(m, parse_dtype(type)); })
      .def("transposed", [](const Matrix& m) { return matrix::transposed(m); })
      .def("map", [](const Matrix& m, const std::string& operation,
                     double operand) { return matrix::map(m, operation_of(operation), operand); })
      .def("scale", [](const Matrix& m, size_t axis,
                       std::vector<double> factors) { return matrix::scale(m, axis, shared(std::move(factors))); })
      .def("add_along",
           [](const Matrix& m, size_t axis, std::vector<double> terms) {
             if (m.sparse)
               throw Error(ErrorKind::Unsupported, "adding to a sparse matrix would fill it; make it dense first");
             return Matrix{lazy::broadcast(m.dense, lazy::Operation::Add, axis, shared(std::move(terms))), nullptr};
           })
      .def("reduce", [](const Matrix& m, const std::string& what, size_t axis, int64_t memory) {
        std::vector<double> out;
        {
          nb::gil_scoped_release unlocked;
          out = matrix::reduce(m, matrix::parse_reduction(what), axis, {ThreadPool::shared(), memory});
        }
        auto* owner = new std::vector<double>(std::move(out));
        const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
        const size_t shape[1] = {owner->size()};
        return nb::cast(nb::ndarray<nb::numpy, double>(owner->data(), 1, shape, capsule));
      });
}

}  // namespace

void bind_trees(nb::module_& module) {
  nb::class_<lazy::Expr>(module, "Expr")
      .def_prop_ro("shape", [](const lazy::Expr& e) { return e.shape(); })
      .def_prop_ro("dtype", [](const lazy::Expr& e) { return dtype_description(e.type()); })
      .def_prop_ro("vlen", [](const lazy::Expr& e) { return vlen_description(e.type()); })
      .def_prop_ro("chunks", [](const lazy::Expr& e) { return e.grain(); })
      .def_prop_ro("stored_bytes", [](const lazy::Expr& e) { return e.stored_bytes(); })
      .def("read",
           [](const lazy::Expr& e, const nb::list& selection, uintptr_t address, std::vector<int64_t> strides,
              const std::shared_ptr<Heap>& heap) { read_into(e, selection, address, std::move(strides), *heap); });

  nb::class_<Tree>(module, "Tree")
      .def_prop_ro("name", [](const Tree& tree) { return tree.name; })
      .def_prop_ro("encoding", [](const Tree& tree) { return tree.encoding(); })
      .def("attributes", [](const Tree& tree) { return to_python(tree.attributes); })
      .def_prop_ro("is_null", [](const Tree& tree) { return tree.is_null; })
      .def_prop_ro("is_matrix",
                   [](const Tree& tree) {
                     return tree.sparse != nullptr ||
                            (tree.values && tree.values->shape().size() == 2 && tree.values->type().is_numeric());
                   })
      .def_prop_ro("is_sparse", [](const Tree& tree) { return tree.sparse != nullptr; })
      .def_prop_ro("values", [](const Tree& tree) { return expr_or_none(tree.values); })
      .def_prop_ro("shape", [](const Tree& tree) { return tree.shape(); })
      .def_prop_ro("codec", [](const Tree& tree) { return tree.like ? codec::to_string(tree.like->codecs) : ""; })
      .def_prop_ro("length", [](const Tree& tree) { return tree.length(); })
      .def_prop_ro("matrix", matrix_of)
      .def("children", [](const Tree& tree) { return tree.children(); })
      .def("child", [](const Tree& tree, const std::string& name) -> nb::object {
        anndata::TreePtr child;
        {
          nb::gil_scoped_release unlocked;
          child = tree.child(name);
        }
        return child ? nb::cast(std::const_pointer_cast<Tree>(child)) : nb::none();
      });

  bind_matrix(module);

  nb::class_<Store>(module, "Store")
      .def_prop_ro("root", [](const Store& store) { return std::const_pointer_cast<Tree>(store.root); })
      .def_prop_ro("inputs", [](const Store& store) { return store.inputs; })
      .def_prop_ro("format", [](const Store& store) { return store.format; })
      .def("subset", [](const Store& store, nb::handle obs, nb::handle var) {
        return anndata::subset(store, to_picks(obs), to_picks(var));
      });

  module.def("is_anndata", [](const array::Group& group) {
    nb::gil_scoped_release unlocked;
    return anndata::is_anndata(group);
  });
  module.def("concat", [](const std::vector<Store>& stores, const nb::dict& given) {
    anndata::ConcatOptions options;
    options.axis = nb::cast<int>(given["axis"]);
    options.outer = nb::cast<bool>(given["outer"]);
    options.merge = anndata::parse_merge(nb::cast<std::string>(given["merge"]));
    options.uns_merge = anndata::parse_merge(nb::cast<std::string>(given["uns_merge"]));
    options.label = nb::cast<std::string>(given["label"]);
    for (nb::handle key : nb::cast<nb::list>(given["keys"]))
      options.keys.push_back(nb::isinstance<nb::str>(key) ? Json(nb::cast<std::string>(key))
                                                          : Json(nb::cast<int64_t>(key)));
    options.index_unique = nb::cast<std::optional<std::string>>(given["index_unique"]);
    const nb::object fill = given["fill_value"];
    if (nb::isinstance<nb::bool_>(fill)) options.fill_value = nb::cast<bool>(fill);
    else if (nb::isinstance<nb::int_>(fill)) options.fill_value = nb::cast<int64_t>(fill);
    else if (!fill.is_none()) options.fill_value = nb::cast<double>(fill);
    options.pairwise = nb::cast<bool>(given["pairwise"]);
    options.keep_types = nb::cast<bool>(given["keep_types"]);
    std::vector<std::string> warnings;
    Store made;
    {
      nb::gil_scoped_release unlocked;
      made = anndata::concat(stores, options, &warnings);
    }
    return nb::make_tuple(made, warnings);
  });
  module.def("load_many", [](const std::vector<std::string>& paths) {
    nb::gil_scoped_release unlocked;
    return anndata::load_many(paths);
  });
  module.def("load", [](const std::string& path, const std::string& element) {
    nb::gil_scoped_release unlocked;
    return anndata::load(array::open(path), path, element);
  });
}

}  // namespace lamella::python
