#include "python/bindings.h"

// lamella._core: the thin part between numpy and the layers. python/lamella/ is what users see.
NB_MODULE(_core, module) {
  lamella::python::bind_errors(module);
  lamella::python::bind_nodes(module);
  lamella::python::bind_trees(module);
  lamella::python::bind_convert(module);
}
