#include "anndata/describe_concat.h"

#include <algorithm>
#include <map>

#include "anndata/concat_parts.h"
#include "anndata/element.h"
#include "anndata/values.h"

namespace lamella::anndata {
namespace {

std::vector<std::string> index_of(const Tree& frame) {
  const TreePtr index = frame.child(frame.attributes.string("_index").value_or(""));
  return index ? read_strings(*index) : std::vector<std::string>();
}

// What an element is, in a word or two: two inputs with other words have other types.
std::string kind_of(const Tree& tree) {
  if (tree.sparse) return tree.encoding() + " " + to_string(tree.sparse->type());
  if (tree.values) return tree.values->type().kind == TypeKind::String ? "string" : to_string(tree.values->type());
  if (tree.encoding() == "categorical") {
    const TreePtr categories = tree.child("categories");
    return "categorical of " + std::to_string(categories ? categories->length() : 0);
  }
  return tree.encoding();
}

struct Seen {
  std::map<std::string, int64_t> kinds;  // to how many inputs
  int64_t inputs = 0;
};

Json differences(const std::vector<std::pair<std::string, Seen>>& elements, int64_t inputs) {
  Json out = Json::array();
  for (const auto& [name, seen] : elements) {
    if (seen.inputs == inputs && seen.kinds.size() == 1) continue;
    out.push_back({{"element", name}, {"in", seen.inputs}, {"kinds", seen.kinds}});
  }
  return out;
}

}  // namespace

Json describe_concat(const std::vector<Store>& stores, const ConcatOptions& options) {
  const std::string joined = options.axis == 0 ? "obs" : "var", other = options.axis == 0 ? "var" : "obs";
  std::map<std::string, int64_t> names;
  std::vector<std::pair<std::string, Seen>> elements;
  const auto note = [&](const std::string& path, const Tree& tree) {
    auto found = std::find_if(elements.begin(), elements.end(), [&](const auto& one) { return one.first == path; });
    if (found == elements.end()) found = elements.insert(elements.end(), {path, Seen()});
    ++found->second.inputs;
    ++found->second.kinds[kind_of(tree)];
  };
  int64_t length = 0;
  for (const Store& store : stores) {
    for (const std::string& name : index_of(*store.root->child(other))) ++names[name];
    length += store.root->child(joined)->length();
    if (const TreePtr x = store.root->child("X"); x && !x->is_null) note("X", *x);
    for (const std::string& group : {std::string("layers"), joined + "m"}) {
      const TreePtr tree = store.root->child(group);
      for (const std::string& name : tree ? tree->children() : std::vector<std::string>())
        note(join(group, name), *tree->child(name));
    }
    const TreePtr frame = store.root->child(joined);
    for (const std::string& column : column_order(*frame)) note(join(joined, column), *frame->child(column));
  }
  const auto inputs = static_cast<int64_t>(stores.size());
  int64_t shared = 0;
  for (const auto& [name, n] : names) shared += n == inputs ? 1 : 0;
  return {{"count", inputs},
          {"axis", joined},
          {"length", length},
          {"other_axis", other},
          {"other_shared", shared},
          {"other_any", static_cast<int64_t>(names.size())},
          {"other_result", options.outer ? static_cast<int64_t>(names.size()) : shared},
          {"differences", differences(elements, inputs)}};
}

std::string render_concat(const Json& about) {
  if (about.is_null()) return "";
  const auto text = [&](const char* key) { return std::to_string(about[key].get<int64_t>()); };
  const std::string other = about["other_axis"];
  std::string out = text("count") + " inputs, " + text("length") + " " + about["axis"].get<std::string>() + "; " +
                    text("other_shared") + " of " + text("other_any") + " " + other + " are in all of them, " +
                    text("other_result") + " in the result\n";
  for (const Json& one : about["differences"]) {
    out += "  " + one["element"].get<std::string>() + ": in " + std::to_string(one["in"].get<int64_t>()) + " inputs";
    const char* before = ", as ";
    for (const auto& [kind, n] : one["kinds"].items()) {
      out += before + kind + " in " + std::to_string(n.get<int64_t>());
      before = ", ";
    }
    out += "\n";
  }
  return out;
}

}  // namespace lamella::anndata
