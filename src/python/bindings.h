#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "array/attributes.h"
#include "base/dtype.h"
#include "base/json.h"
#include "lazy/take.h"

// The seams between the files of the extension. Everything here is called with the interpreter's lock held.
namespace lamella::python {

namespace nb = nanobind;

// JSON as None, bool, int, float, str, list and dict.
nb::object to_python(const Json& value);

// Attribute values in stored order.
nb::dict to_python(const array::Attributes& attributes);

// What numpy.dtype() takes: a string, or a dict of names, formats, offsets and itemsize for records. Variable-length
// elements are "V16", the StringRef that strings() turns into objects.
nb::object dtype_description(const DType& type);

// Which parts of an element are of variable length: None, "str", "bytes", or a dict of a record's fields.
nb::object vlen_description(const DType& type);

// A selection of one axis: (start, step, count), or an int64 array.
lazy::Picks to_picks(nb::handle item);

// Reads a selection into memory that numpy owns: `address` and `strides` (bytes) are those of an array of its shape.
// Lets the interpreter go meanwhile.
void read_into(const lazy::Expr& expr, const nb::list& selection, uintptr_t address, std::vector<int64_t> strides,
               Heap& heap);

void bind_errors(nb::module_& module);
void bind_nodes(nb::module_& module);
void bind_trees(nb::module_& module);
void bind_convert(nb::module_& module);

}  // namespace lamella::python
