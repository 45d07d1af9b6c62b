#include <exception>

#include "base/error.h"
#include "python/bindings.h"

namespace lamella::python {
namespace {

// The class of lamella.errors for a kind.
const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::NotFound: return "NotFoundError";
    case ErrorKind::Exists: return "ExistsError";
    case ErrorKind::Invalid: return "InvalidError";
    case ErrorKind::Corrupt: return "CorruptError";
    case ErrorKind::Unsupported: return "UnsupportedError";
    case ErrorKind::OutOfBudget: return "OutOfBudgetError";
    case ErrorKind::Io: return "IoError";
    case ErrorKind::Cancelled: return "CancelledError";
    case ErrorKind::Bug: return "BugError";
  }
  return "Error";
}

void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    try {
      const nb::object type = nb::module_::import_("lamella.errors").attr(class_name(error.kind()));
      PyErr_SetString(type.ptr(), error.what());
    } catch (nb::python_error& python_error) {
      python_error.restore();
    }
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace lamella::python
