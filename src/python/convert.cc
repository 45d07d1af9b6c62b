#include "anndata/convert.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "anndata/info.h"
#include "array/array.h"
#include "base/memory.h"
#include "plan/convert.h"
#include "python/bindings.h"

namespace lamella::python {
namespace {

// Keeps the last report of the thread that writes, for the thread that holds the interpreter.
class LastReport final : public Progress {
 public:
  struct Report {
    int64_t done = 0;
    int64_t total = 0;
    std::string element;
  };

  void advance(int64_t done, int64_t total, const std::string& element) override {
    std::lock_guard lock(mutex_);
    report_ = Report{done, total, element};
  }
  std::optional<Report> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(report_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<Report> report_;
};

// Runs `work` in a thread of its own. The caller's thread calls `callback` and looks for signals (Ctrl-C) meanwhile, so
// that Python code runs where the user called from and the workers never need the interpreter.
template <class Work>
void run_watched(const Work& work, LastReport& progress, CancelFlag& cancel, const nb::object& callback) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr failure;  // of the work
  std::exception_ptr stopped;  // of Python: a signal, or the callback's own exception
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    std::lock_guard lock(mutex);
    done = true;
    changed.notify_one();
  });
  const auto report = [&] {
    const auto last = progress.take();
    if (last && !callback.is_none()) callback(last->done, last->total, last->element);
  };
  for (bool finished = false; !finished && !stopped;) {
    {
      nb::gil_scoped_release unlocked;
      std::unique_lock lock(mutex);
      finished = changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; });
    }
    try {
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      report();
    } catch (...) {
      stopped = std::current_exception();
      cancel.raise();
    }
  }
  {
    nb::gil_scoped_release unlocked;
    thread.join();
  }
  if (stopped) std::rethrow_exception(stopped);
  if (failure) std::rethrow_exception(failure);
}

nb::dict summary(const plan::WriteResult& result) {
  nb::dict dict;
  dict["elements"] = result.elements;
  dict["decoded_bytes"] = result.read_bytes;
  dict["written_bytes"] = result.written_bytes;
  dict["seconds"] = result.seconds;
  dict["peak_bytes"] = result.peak_bytes;
  return dict;
}

// The arguments as Python checked and spelled them.
struct Request {
  std::string source, target, element, sparse, strings, command;
  std::string format;  // "hdf5", "zarr2", "zarr3"
  bool zip = false;
  std::optional<std::string> codec;
  std::optional<std::vector<int64_t>> chunks, shards;
  bool no_shards = false;
  bool overwrite = false, resume = false, dry_run = false;
  int64_t memory = 0;
  int threads = 0;
};

plan::WriteOptions write_options(const Request& request) {
  plan::WriteOptions out;
  out.target = request.target;
  out.format = request.format == "hdf5"    ? array::SinkFormat::Hdf5
               : request.format == "zarr2" ? array::SinkFormat::Zarr2
                                           : array::SinkFormat::Zarr3;
  out.zip = request.zip;
  if (request.codec) out.codecs = codec::parse_codecs(*request.codec);
  out.chunks = request.chunks;
  out.shards = request.shards;
  out.no_shards = request.no_shards;
  out.overwrite = request.overwrite;
  out.resume = request.resume;
  out.memory = request.memory;
  out.memory_on_top = true;  // the interpreter and the user's own data are not ours to count
  out.threads = request.threads;
  out.command = request.command;
  return out;
}

// `store`: what is written, or nothing: request.source then says what to open.
nb::object convert(const Request& request, const nb::object& callback, const std::optional<anndata::Store>& store) {
  const plan::WriteOptions write = write_options(request);
  anndata::ConvertOptions options;
  options.target = write.format;
  options.element = request.element;
  options.sparse = anndata::parse_sparse_form(request.sparse);
  options.strings = anndata::parse_strings(request.strings);
  LastReport progress;
  CancelFlag cancel;
  plan::WriteResult result;
  Json plan;
  run_watched(
      [&] {
        const plan::Recipe recipe = store ? anndata::make_recipe(*store, options)
                                          : anndata::make_recipe(array::open(request.source), request.source, options);
        if (request.dry_run) plan = plan::describe(recipe, write);
        else result = plan::write(recipe, write, &progress, &cancel);
      },
      progress, cancel, callback);
  return request.dry_run ? to_python(plan) : nb::object(summary(result));
}

nb::object info(const std::string& path, const std::string& element) {
  Json tree;
  {
    nb::gil_scoped_release unlocked;
    tree = anndata::describe_tree(array::open(path), element);
  }
  return to_python(tree);
}

}  // namespace

void bind_convert(nb::module_& module) {
  nb::class_<Request>(module, "Request")
      .def(nb::init<>())
      .def_rw("source", &Request::source)
      .def_rw("target", &Request::target)
      .def_rw("element", &Request::element)
      .def_rw("sparse", &Request::sparse)
      .def_rw("strings", &Request::strings)
      .def_rw("command", &Request::command)
      .def_rw("format", &Request::format)
      .def_rw("zip", &Request::zip)
      .def_rw("codec", &Request::codec)
      .def_rw("chunks", &Request::chunks)
      .def_rw("shards", &Request::shards)
      .def_rw("no_shards", &Request::no_shards)
      .def_rw("overwrite", &Request::overwrite)
      .def_rw("resume", &Request::resume)
      .def_rw("dry_run", &Request::dry_run)
      .def_rw("memory", &Request::memory)
      .def_rw("threads", &Request::threads);
  module.def("convert", &convert, nb::arg("request"), nb::arg("callback").none(), nb::arg("store").none());
  module.def("info", &info);
  module.def("parse_bytes", &parse_bytes);
}

}  // namespace lamella::python
