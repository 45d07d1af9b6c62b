#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "array/array.h"
#include "base/error.h"
#include "lazy/take.h"
#include "python/bindings.h"

namespace lamella::python {
namespace {

using array::Array;
using array::Group;
using array::Node;

using Indices = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object to_python(const Node& node) {
  // nanobind knows no const; what is bound below only reads.
  if (node.array) return nb::cast(std::const_pointer_cast<Array>(node.array));
  if (node.group) return nb::cast(std::const_pointer_cast<Group>(node.group));
  return nb::none();
}

// str (or bytes) objects of `count` StringRefs that lie `stride` bytes apart.
nb::list strings(uintptr_t address, int64_t stride, int64_t count, bool as_bytes, const std::shared_ptr<Heap>&) {
  nb::list list;
  for (int64_t i = 0; i < count; ++i) {
    StringRef ref;
    std::memcpy(&ref, reinterpret_cast<const std::byte*>(address) + i * stride, sizeof ref);
    const char* data = ref.data ? ref.data : "";
    PyObject* object = as_bytes ? PyBytes_FromStringAndSize(data, static_cast<Py_ssize_t>(ref.size))
                                : PyUnicode_DecodeUTF8(data, static_cast<Py_ssize_t>(ref.size), "surrogateescape");
    if (!object) nb::raise_python_error();
    list.append(nb::steal(object));
  }
  return list;
}

}  // namespace

lazy::Picks to_picks(nb::handle item) {
  if (nb::isinstance<nb::tuple>(item)) {
    const auto [start, step, count] = nb::cast<std::tuple<int64_t, int64_t, int64_t>>(item);
    return lazy::Stride{start, step, count};
  }
  const auto indices = nb::cast<Indices>(item);
  return std::vector<int64_t>(indices.data(), indices.data() + indices.shape(0));
}

void read_into(const lazy::Expr& expr, const nb::list& selection, uintptr_t address, std::vector<int64_t> strides,
               Heap& heap) {
  std::vector<lazy::Picks> picks;
  View to{reinterpret_cast<std::byte*>(address), {}, std::move(strides)};
  for (nb::handle item : selection) {
    picks.push_back(to_picks(item));
    to.shape.push_back(picks.back().count());
  }
  if (to.strides.size() != to.shape.size()) throw Error(ErrorKind::Invalid, "one stride an axis is needed");
  nb::gil_scoped_release unlocked;
  lazy::read_picks(expr, picks, to, heap, ThreadPool::shared());
}

void bind_nodes(nb::module_& module) {
  nb::class_<Heap>(module, "Heap").def(nb::new_([] { return std::make_shared<Heap>(); }));

  nb::class_<Array>(module, "Array")
      .def_prop_ro("name", [](const Array& array) { return array.name(); })
      .def_prop_ro("shape", [](const Array& array) { return array.spec().shape; })
      .def_prop_ro("chunks", [](const Array& array) { return array.spec().chunks; })
      .def_prop_ro("shards", [](const Array& array) { return array.spec().shards; })
      .def_prop_ro("codec", [](const Array& array) { return to_string(array.spec().codecs); })
      .def_prop_ro("null_space", [](const Array& array) { return array.spec().null_space; })
      .def_prop_ro("dtype", [](const Array& array) { return dtype_description(array.spec().type); })
      .def_prop_ro("vlen", [](const Array& array) { return vlen_description(array.spec().type); })
      .def("attributes", [](const Array& array) { return to_python(array.attributes()); })
      .def(
          "stored_bytes", [](const Array& array) { return array.stored_bytes(); },
          nb::call_guard<nb::gil_scoped_release>())
      .def("read", [](const std::shared_ptr<Array>& array, const nb::list& selection, uintptr_t address,
                      std::vector<int64_t> strides, const std::shared_ptr<Heap>& heap) {
        read_into(*lazy::source(array), selection, address, std::move(strides), *heap);
      });

  nb::class_<Group>(module, "Group")
      .def_prop_ro("name", [](const Group& group) { return group.name(); })
      .def("attributes", [](const Group& group) { return to_python(group.attributes()); })
      .def(
          "children", [](const Group& group) { return group.children(); }, nb::call_guard<nb::gil_scoped_release>())
      .def("at",
           [](const Group& group, const std::string& path) {
             Node node;
             {
               nb::gil_scoped_release unlocked;
               node = group.at(path);
             }
             return to_python(node);
           })
      .def("has", [](const Group& group, const std::string& name) {
        nb::gil_scoped_release unlocked;
        return static_cast<bool>(group.child(name));
      });

  module.def("open", [](const std::string& path) {
    array::Opened opened;
    {
      nb::gil_scoped_release unlocked;
      opened = array::open(path);
    }
    return nb::make_tuple(to_python(opened.root), opened.format);
  });
  module.def("strings", &strings);
}

}  // namespace lamella::python
