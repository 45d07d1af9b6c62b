#include "anndata/awkward.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "lazy/concat.h"
#include "lazy/map.h"

namespace lamella::anndata {
namespace {

using Positions = std::vector<int64_t>;

// An awkward array of a store.
struct Source {
  TreePtr tree;
  Json form;
  int64_t length = 0;

  [[noreturn]] void corrupt(const std::string& what) const {
    throw Error(ErrorKind::Corrupt, tree->name + ": " + what);
  }
  std::string text(const Json& form, const char* key) const {
    if (!form.is_object() || !form.contains(key) || !form[key].is_string())
      corrupt(std::string("a form without \"") + key + "\"");
    return form[key];
  }
  lazy::ExprPtr buffer(const Json& form, const char* kind) const {
    const std::string name = text(form, "form_key") + "-" + kind;
    const TreePtr child = tree->child(name);
    if (!child || !child->values || child->values->shape().size() != 1)
      corrupt("has no buffer " + name + " of one axis");
    return child->values;
  }
  Positions integers(const Json& form, const char* kind) const {
    Heap heap;
    const Buffer raw = lazy::cast(buffer(form, kind), DType::int_(8))->read_all(heap);
    const auto* begin = reinterpret_cast<const int64_t*>(raw.data());
    return {begin, begin + raw.size() / 8};
  }
  void check(const Positions& at, int64_t length) const {
    for (int64_t one : at) {
      if (one < 0 || one >= length)
        corrupt("refers to element " + std::to_string(one) + " of " + std::to_string(length));
    }
  }
};

int64_t inner_count(const Json& form) {
  int64_t n = 1;
  for (const Json& length : form.value("inner_shape", Json::array())) n = checked_mul(n, length.get<int64_t>());
  return n;
}

// The kinds of buffers of a node; those of integers that are made anew. Throws Unsupported for a class that packed
// arrays do not have.
std::vector<const char*> kinds_of(const std::string& type, const std::string& name) {
  if (type == "NumpyArray") return {"data"};
  if (type == "ListOffsetArray") return {"offsets"};
  if (type == "IndexedOptionArray" || type == "IndexedArray") return {"index"};
  if (type == "ByteMaskedArray") return {"mask"};
  if (type == "UnionArray") return {"tags", "index"};
  if (type == "RegularArray" || type == "RecordArray" || type == "UnmaskedArray" || type == "EmptyArray") return {};
  throw Error(ErrorKind::Unsupported, name + ": rows of an awkward " + type + "; leave the element out");
}

bool is_length(const Json& value) { return value.is_number_integer() && value.get<int64_t>() >= 0; }

// What the rest relies on: members that a node of its class has.
void check_form(const Source& source, const Json& form) {
  const std::string type = source.text(form, "class");
  const auto need = [&](bool there, const char* member) {
    if (!there) source.corrupt("the form of an awkward " + type + " has no " + member + " that makes sense");
  };
  if (!kinds_of(type, source.tree->name).empty()) source.text(form, "form_key");
  const bool record = type == "RecordArray", several = record || type == "UnionArray";
  if (type == "RegularArray") need(form.contains("size") && is_length(form["size"]), "size");
  if (type == "NumpyArray" && form.contains("inner_shape")) {
    const Json& shape = form["inner_shape"];
    need(shape.is_array() && std::all_of(shape.begin(), shape.end(), is_length), "inner_shape");
  }
  if (several) {
    need(form.contains("contents") && form["contents"].is_array(), "contents");
    const Json fields = form.value("fields", Json());
    const bool named = fields.is_array() && fields.size() == form["contents"].size();
    if (record) need(named || fields.is_null(), "fields");
    for (const Json& content : form["contents"]) check_form(source, content);
  } else if (type != "NumpyArray" && type != "EmptyArray") {
    need(form.contains("content"), "content");
    check_form(source, form["content"]);
  }
}

Source source_of(const TreePtr& tree) {
  Source out{tree, {}, tree->length()};
  const array::Attribute* form = tree->attributes.find("form");
  if (form == nullptr || out.length < 0) out.corrupt("an awkward array without form or length");
  out.form = form->value.is_string() ? parse_json(form->value.get<std::string>(), tree->name + ": form") : form->value;
  check_form(out, out.form);
  return out;
}

bool is_index(const std::string& kind) { return kind == "offsets" || kind == "index"; }

void for_each_content(Json& form, const std::function<void(Json&)>& body) {
  if (form.contains("content")) body(form["content"]);
  if (form.contains("contents")) {
    for (Json& content : form["contents"]) body(content);
  }
}

using Buffers = std::vector<std::pair<std::string, lazy::ExprPtr>>;

lazy::ExprPtr integers_of(const Positions& values) {
  return lazy::in_memory({static_cast<int64_t>(values.size())}, DType::int_(8),
                         Buffer::copy_of(std::as_bytes(std::span(values))));
}

// A tree of that form, whose buffers `make` computes together when one is asked for. Indexes become 64 bits wide.
TreePtr make_awkward(const TreePtr& like, Json form, int64_t length, std::function<void(const Json&, Buffers&)> make) {
  struct Made {
    std::once_flag once;
    Buffers buffers;
  };
  auto out = std::make_shared<Tree>();
  out->attributes = like->attributes;
  out->name = like->name;
  const auto made = std::make_shared<Made>();
  std::vector<std::string> names;
  const std::function<void(Json&)> walk = [&](Json& node) {
    const std::string type = node.value("class", std::string());
    for (const char* kind : kinds_of(type, like->name)) {
      names.push_back(node.value("form_key", std::string()) + "-" + kind);
      if (is_index(kind)) node[kind] = "i64";
    }
    for_each_content(node, walk);
  };
  walk(form);
  for (const std::string& name : names) {
    out->add(name, [made, make, form, name]() -> TreePtr {
      std::call_once(made->once, [&] { make(form, made->buffers); });
      for (const auto& [one, expr] : made->buffers) {
        if (one == name) return make_array(expr);
      }
      return nullptr;
    });
  }
  out->attributes.set("form", Json(dump_json(form, -1)));
  out->attributes.set("length", Json(length));
  return out;
}

// Elements at positions.
struct Taker {
  const Source& source;
  Buffers& out;

  void put(const Json& form, const char* kind, lazy::ExprPtr expr) const {
    out.emplace_back(source.text(form, "form_key") + "-" + kind, std::move(expr));
  }

  void take(const Json& form, const Positions& at) const {
    const std::string type = source.text(form, "class");
    if (type == "NumpyArray") return take_data(form, at);
    if (type == "ListOffsetArray") return take_lists(form, at);
    if (type == "IndexedOptionArray" || type == "IndexedArray") return take_indexed(form, at);
    if (type == "UnionArray") return take_union(form, at);
    if (type == "EmptyArray") return source.check(at, 0);
    if (type == "RegularArray") return take(form["content"], spread(at, form["size"].get<int64_t>()));
    if (type == "RecordArray") {
      for (const Json& content : form["contents"]) take(content, at);
      return;
    }
    if (type == "ByteMaskedArray") put(form, "mask", picked(source.buffer(form, "mask"), at));
    take(form["content"], at);
  }

  static Positions spread(const Positions& at, int64_t size) {
    if (size == 1) return at;
    Positions out;
    for (int64_t one : at) {
      for (int64_t i = 0; i < size; ++i) out.push_back(checked_add(checked_mul(one, size), i));
    }
    return out;
  }
  lazy::ExprPtr picked(const lazy::ExprPtr& expr, const Positions& at) const {
    source.check(at, expr->shape()[0]);
    return lazy::take(expr, {at});
  }
  void take_data(const Json& form, const Positions& at) const {
    put(form, "data", picked(source.buffer(form, "data"), spread(at, inner_count(form))));
  }
  void take_lists(const Json& form, const Positions& at) const {
    const Positions offsets = source.integers(form, "offsets");
    source.check(at, static_cast<int64_t>(offsets.size()) - 1);
    Positions ends{0}, inside;
    for (int64_t one : at) {
      for (int64_t i = offsets[static_cast<size_t>(one)]; i < offsets[static_cast<size_t>(one) + 1]; ++i)
        inside.push_back(i);
      ends.push_back(static_cast<int64_t>(inside.size()));
    }
    put(form, "offsets", integers_of(ends));
    take(form["content"], inside);
  }
  void take_indexed(const Json& form, const Positions& at) const {
    const Positions index = source.integers(form, "index");
    source.check(at, static_cast<int64_t>(index.size()));
    Positions places, inside;
    for (int64_t one : at) {
      const int64_t to = index[static_cast<size_t>(one)];
      places.push_back(to < 0 ? -1 : static_cast<int64_t>(inside.size()));
      if (to >= 0) inside.push_back(to);
    }
    put(form, "index", integers_of(places));
    take(form["content"], inside);
  }
  void take_union(const Json& form, const Positions& at) const {
    const Positions tags = source.integers(form, "tags"), index = source.integers(form, "index");
    source.check(at, static_cast<int64_t>(std::min(tags.size(), index.size())));
    std::vector<Positions> inside(form["contents"].size());
    Positions places;
    for (int64_t one : at) {
      const int64_t tag = tags[static_cast<size_t>(one)];
      source.check({tag}, static_cast<int64_t>(inside.size()));
      places.push_back(static_cast<int64_t>(inside[static_cast<size_t>(tag)].size()));
      inside[static_cast<size_t>(tag)].push_back(index[static_cast<size_t>(one)]);
    }
    put(form, "tags", picked(source.buffer(form, "tags"), at));
    put(form, "index", integers_of(places));
    for (size_t i = 0; i < inside.size(); ++i) take(form["contents"][i], inside[i]);
  }
};

// The type that two forms have in common: keys of buffers and widths of indexes do not count.
Json common_form(const Json& a, const Json& b, bool outer, const std::string& name) {
  const auto differ = [&]() -> Json {
    throw Error(ErrorKind::Unsupported,
                name + ": awkward arrays of different types cannot be concatenated lazily; concatenate in memory");
  };
  const std::string type = a.value("class", std::string());
  if (type != b.value("class", std::string())) return differ();
  for (const char* key : {"primitive", "inner_shape", "size", "parameters", "valid_when"}) {
    if (a.value(key, Json()) != b.value(key, Json())) return differ();
  }
  Json out = a;
  if (out.contains("content")) out["content"] = common_form(a["content"], b["content"], outer, name);
  if (!out.contains("contents")) return out;
  const Json fields = a.value("fields", Json()), others = b.value("fields", Json());
  if (!fields.is_array() || !others.is_array()) {
    if (fields != others || a["contents"].size() != b["contents"].size()) return differ();
    for (size_t i = 0; i < out["contents"].size(); ++i)
      out["contents"][i] = common_form(a["contents"][i], b["contents"][i], outer, name);
    return out;
  }
  out["fields"] = out["contents"] = Json::array();
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto found = std::find(others.begin(), others.end(), fields[i]);
    if (found == others.end()) continue;
    out["fields"].push_back(fields[i]);
    out["contents"].push_back(
        common_form(a["contents"][i], b["contents"][static_cast<size_t>(found - others.begin())], outer, name));
  }
  if (outer && (out["fields"].size() != fields.size() || out["fields"].size() != others.size())) return differ();
  return out;
}

// Part of a concatenation at one node.
struct Run {
  const Source* source;
  const Json* form;
  int64_t length;
};

struct Joiner {
  Buffers& out;

  void put(const Json& form, const char* kind, lazy::ExprPtr expr) const {
    out.emplace_back(form["form_key"].get<std::string>() + "-" + kind, std::move(expr));
  }

  void join(const Json& form, const std::vector<Run>& runs) const {
    const std::string type = form["class"];
    if (type == "EmptyArray") return;
    if (type == "NumpyArray") return put(form, "data", buffers(runs, "data", inner_count(form)));
    if (type == "ByteMaskedArray") put(form, "mask", buffers(runs, "mask", 1));
    if (type == "UnionArray") return join_union(form, runs);
    std::vector<Run> inside = runs;
    if (type == "ListOffsetArray") inside = join_lists(form, runs);
    if (type == "IndexedOptionArray" || type == "IndexedArray") inside = join_indexed(form, runs);
    if (type == "RegularArray") {
      for (Run& run : inside) run.length = checked_mul(run.length, form["size"].get<int64_t>());
    }
    if (type == "RecordArray") return join_records(form, runs);
    for (Run& run : inside) run.form = &(*run.form)["content"];
    join(form["content"], inside);
  }

  static lazy::ExprPtr buffers(const std::vector<Run>& runs, const char* kind, int64_t each) {
    std::vector<lazy::ExprPtr> parts;
    for (const Run& run : runs) {
      const lazy::ExprPtr expr = run.source->buffer(*run.form, kind);
      const int64_t n = checked_mul(run.length, each);
      if (expr->shape()[0] < n) run.source->corrupt("a buffer is too short");
      parts.push_back(lazy::slice(expr, {{0}, {n}}));
    }
    return lazy::concat(std::move(parts), 0);
  }

  std::vector<Run> join_lists(const Json& form, std::vector<Run> runs) const {
    Positions ends{0};
    for (Run& run : runs) {
      const Positions offsets = run.source->integers(*run.form, "offsets");
      if (static_cast<int64_t>(offsets.size()) <= run.length || offsets[0] != 0 ||
          !std::is_sorted(offsets.begin(), offsets.end()))
        run.source->corrupt("offsets that do not ascend from 0");
      const int64_t before = ends.back();
      for (int64_t i = 1; i <= run.length; ++i) ends.push_back(before + offsets[static_cast<size_t>(i)]);
      run.length = ends.back() - before;
    }
    put(form, "offsets", integers_of(ends));
    return runs;
  }

  std::vector<Run> join_indexed(const Json& form, std::vector<Run> runs) const {
    Positions places;
    int64_t before = 0;
    for (Run& run : runs) {
      const Positions index = run.source->integers(*run.form, "index");
      if (static_cast<int64_t>(index.size()) < run.length) run.source->corrupt("a buffer is too short");
      int64_t most = 0;
      for (int64_t i = 0; i < run.length; ++i) {
        const int64_t to = index[static_cast<size_t>(i)];
        places.push_back(to < 0 ? -1 : before + to);
        most = std::max(most, to + 1);
      }
      run.length = most;
      before += most;
    }
    put(form, "index", integers_of(places));
    return runs;
  }

  void join_records(const Json& form, const std::vector<Run>& runs) const {
    for (size_t i = 0; i < form["contents"].size(); ++i) {
      std::vector<Run> inside = runs;
      for (Run& run : inside) {
        const Json& fields = run.form->contains("fields") ? (*run.form)["fields"] : Json();
        size_t at = i;  // a tuple has no names
        if (fields.is_array())
          at = static_cast<size_t>(std::find(fields.begin(), fields.end(), form["fields"][i]) - fields.begin());
        run.form = &(*run.form)["contents"][at];
      }
      join(form["contents"][i], inside);
    }
  }

  void join_union(const Json& form, const std::vector<Run>& runs) const {
    const size_t n = form["contents"].size();
    std::vector<std::vector<Run>> inside(n, runs);
    Positions before(n, 0), places;
    for (size_t r = 0; r < runs.size(); ++r) {
      const Run& run = runs[r];
      const Positions tags = run.source->integers(*run.form, "tags"), index = run.source->integers(*run.form, "index");
      if (static_cast<int64_t>(std::min(tags.size(), index.size())) < run.length)
        run.source->corrupt("a buffer is too short");
      Positions most(n, 0);
      for (size_t i = 0; i < static_cast<size_t>(run.length); ++i) {
        run.source->check({tags[i]}, static_cast<int64_t>(n));
        const auto tag = static_cast<size_t>(tags[i]);
        places.push_back(before[tag] + index[i]);
        most[tag] = std::max(most[tag], index[i] + 1);
      }
      for (size_t tag = 0; tag < n; ++tag) {
        inside[tag][r].form = &(*run.form)["contents"][tag];
        inside[tag][r].length = most[tag];
        before[tag] += most[tag];
      }
    }
    put(form, "tags", buffers(runs, "tags", 1));
    put(form, "index", integers_of(places));
    for (size_t tag = 0; tag < n; ++tag) join(form["contents"][tag], inside[tag]);
  }
};

}  // namespace

TreePtr take_awkward(const TreePtr& tree, const lazy::Picks& rows) {
  const Source source = source_of(tree);
  return make_awkward(tree, source.form, rows.count(), [source, rows](const Json& form, Buffers& out) {
    Positions at(static_cast<size_t>(rows.count()));
    for (size_t i = 0; i < at.size(); ++i) at[i] = rows[static_cast<int64_t>(i)];
    Taker{source, out}.take(form, at);
  });
}

TreePtr concat_awkward(const std::string& name, const std::vector<Part>& parts, bool outer) {
  const auto sources = std::make_shared<std::vector<Source>>();
  std::vector<std::pair<bool, int64_t>> runs;  // is it there, and how long is it
  Json form;
  int64_t length = 0;
  bool missing = false;
  for (const Part& part : parts) {
    runs.emplace_back(part.tree != nullptr, part.length);
    length += part.length;
    missing |= !part.tree;
    if (!part.tree) continue;
    sources->push_back(source_of(part.tree));
    form = sources->size() == 1 ? sources->front().form : common_form(form, sources->back().form, outer, name);
  }
  // An option around it all, where inputs lack the array.
  if (missing)
    form = {{"class", "IndexedOptionArray"},
            {"index", "i64"},
            {"content", form},
            {"parameters", Json::object()},
            {"form_key", "missing"}};
  return make_awkward(sources->front().tree, form, length, [sources, runs, missing](const Json& made, Buffers& out) {
    const Joiner joiner{out};
    std::vector<Run> inside;
    for (const Source& source : *sources) inside.push_back({&source, &source.form, source.length});
    if (!missing) return joiner.join(made, inside);
    Positions places;
    int64_t present = 0;
    for (const auto& [there, n] : runs) {
      for (int64_t i = 0; i < n; ++i) places.push_back(there ? present++ : -1);
    }
    joiner.put(made, "index", integers_of(places));
    joiner.join(made["content"], inside);
  });
}

}  // namespace lamella::anndata
