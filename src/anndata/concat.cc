#include "anndata/concat.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "anndata/concat_parts.h"
#include "anndata/element.h"
#include "anndata/index_union.h"
#include "anndata/values.h"
#include "base/error.h"
#include "lazy/concat.h"
#include "lazy/lookup.h"

namespace lamella::anndata {
namespace {

struct Input {
  TreePtr root;
  std::string name;                // the file, for messages
  int64_t length = 0;              // along the joined axis
  std::vector<std::string> other;  // index of the other axis
};

TreePtr index_column(const Tree& frame) {
  const auto name = frame.attributes.string("_index");
  TreePtr index = name ? frame.child(*name) : nullptr;
  if (!index) throw Error(ErrorKind::Corrupt, frame.name + ": a data frame without an index");
  return index;
}

// The names of a string column with something behind each.
TreePtr with_suffix(const TreePtr& column, const std::string& suffix) {
  if (column->encoding() == "nullable-string-array") {
    auto out = std::make_shared<Tree>();
    out->attributes = column->attributes;
    out->name = column->name;
    out->add("values", make_array(lazy::with_suffix(column->child("values")->values, suffix)));
    out->add("mask", column->child("mask"));
    return out;
  }
  if (!column->values) throw Error(ErrorKind::Unsupported, column->name + ": an index that holds no strings");
  return make_array(lazy::with_suffix(column->values, suffix));
}

// An index of given names, in the encoding that the inputs have.
TreePtr make_index(const std::vector<std::string>& names, bool nullable) {
  if (!nullable) return make_array(lazy::strings(names));
  auto out = make_group("nullable-string-array", "0.1.0");
  out->attributes.set("na-value", Json("NaN"));
  const Shape shape{static_cast<int64_t>(names.size())};
  out->add("mask", make_array(lazy::fill(shape, DType::boolean(), {})));
  out->add("values", make_array(lazy::strings(names)));
  return out;
}

std::string index_name(const std::vector<TreePtr>& frames) {
  std::string name = frames.front()->attributes.string("_index").value_or("_index");
  for (const TreePtr& frame : frames) {
    if (frame->attributes.string("_index").value_or("_index") != name) return "_index";
  }
  return name;
}

void check_unique(const std::vector<std::string>& names, const std::string& file, const std::string& frame) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(names.size());
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    throw Error(ErrorKind::Invalid, file + ": the name '" + name + "' occurs twice in " + frame +
                                        "; make names unique before concatenating along the other axis");
  }
}

std::vector<std::string> join_index(const std::vector<Input>& inputs, bool outer) {
  std::vector<const std::vector<std::string>*> lists;
  for (const Input& input : inputs) lists.push_back(&input.other);
  return outer ? index_union(lists) : index_intersection(lists);
}

Reindex reindex_to(const std::vector<std::string>& target, const std::vector<std::string>& from) {
  if (target == from) return {};
  std::unordered_map<std::string_view, int64_t> place;
  place.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) place.emplace(from[i], static_cast<int64_t>(i));
  auto positions = std::make_shared<matrix::Positions>();
  positions->reserve(target.size());
  Reindex out;
  for (const std::string& name : target) {
    const auto found = place.find(name);
    positions->push_back(found == place.end() ? -1 : found->second);
    out.gaps |= found == place.end();
  }
  out.positions = std::move(positions);
  return out;
}

std::string key_text(const Json& key) { return key.is_string() ? key.get<std::string>() : dump_json(key, -1); }

class Concatenation {
 public:
  Concatenation(const std::vector<Store>& stores, const ConcatOptions& options, std::vector<std::string>* warnings);
  Store make();

 private:
  Input open_input(const Store& store) const;
  void take_keys();
  TreePtr joined_index(const std::string& frame_name) const;
  TreePtr joined_frame();
  TreePtr other_frame();
  TreePtr label_column() const;
  std::vector<Part> parts_of(const std::string& group, const std::string& name) const;
  std::vector<std::vector<std::string>> keys_of(const std::string& group) const;
  std::vector<std::string> joined_keys(const std::string& group) const;
  TreePtr layers();
  TreePtr members(const TreePtr& index, const std::string& name);
  TreePtr pairs();
  TreePtr merged(const std::string& group, bool both_axes) const;
  TreePtr x();
  TreePtr raw();
  TreePtr uns() const;

  const ConcatOptions& options_;
  std::vector<std::string>* warnings_;
  std::string joined_, other_;  // "obs" and "var", or the other way round
  std::vector<Input> inputs_;
  std::vector<Json> keys_;
  std::vector<std::string> target_;  // index of the other axis
  std::string target_name_;
  bool nullable_ = false;  // its encoding
  std::vector<Reindex> reindex_;
  Fill fill_;
};

Concatenation::Concatenation(const std::vector<Store>& stores, const ConcatOptions& options,
                             std::vector<std::string>* warnings)
    : options_(options), warnings_(warnings), fill_(fill_of(options.outer ? options.fill_value : std::nullopt)) {
  if (stores.empty()) throw Error(ErrorKind::Invalid, "No objects to concatenate");
  if (options.axis != 0 && options.axis != 1)
    throw Error(ErrorKind::Invalid, "axis " + std::to_string(options.axis) + ": 0 (obs) or 1 (var)");
  joined_ = options.axis == 0 ? "obs" : "var";
  other_ = options.axis == 0 ? "var" : "obs";
  // Opening takes most of the time when there are many inputs.
  inputs_.resize(stores.size());
  std::vector<uint8_t> nullable(stores.size());
  ThreadPool::shared().parallel_for(static_cast<int64_t>(stores.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    inputs_[at] = open_input(stores[at]);
    nullable[at] = index_column(*inputs_[at].root->child(other_))->encoding() == "nullable-string-array";
  });
  std::vector<TreePtr> frames;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    frames.push_back(inputs_[i].root->child(other_));
    nullable_ |= nullable[i] != 0;
  }
  target_name_ = index_name(frames);
  target_ = join_index(inputs_, options.outer);
  reindex_.resize(inputs_.size());
  ThreadPool::shared().parallel_for(static_cast<int64_t>(inputs_.size()), [&](int64_t i) {
    reindex_[static_cast<size_t>(i)] = reindex_to(target_, inputs_[static_cast<size_t>(i)].other);
  });
  take_keys();
}

// Reads the index of the other axis, and opens what will be looked at.
Input Concatenation::open_input(const Store& store) const {
  Input input;
  input.root = store.root;
  input.name = store.inputs.empty() ? store.root->name : store.inputs.front();
  if (store.root->encoding() != "anndata") throw Error(ErrorKind::Invalid, input.name + ": is no AnnData");
  input.length = store.root->child(joined_)->length();
  input.other = read_strings(*index_column(*store.root->child(other_)));
  check_unique(input.other, input.name, other_);
  for (const std::string& group : {std::string("layers"), joined_, joined_ + "m"}) {
    const TreePtr tree = store.root->child(group);
    for (const std::string& name : tree ? tree->children() : std::vector<std::string>()) {
      const TreePtr child = tree->child(name);
      if (child && child->encoding() == "categorical") child->child("categories");
    }
  }
  if (store.root->has("X")) store.root->child("X");
  return input;
}

void Concatenation::take_keys() {
  keys_ = options_.keys;
  if (keys_.empty()) {
    for (size_t i = 0; i < inputs_.size(); ++i) keys_.push_back(std::to_string(i));
  }
  if (keys_.size() != inputs_.size())
    throw Error(ErrorKind::Invalid,
                std::to_string(keys_.size()) + " keys for " + std::to_string(inputs_.size()) + " inputs");
  const bool numbers = std::all_of(keys_.begin(), keys_.end(), [](const Json& key) { return key.is_number_integer(); });
  const bool strings = std::all_of(keys_.begin(), keys_.end(), [](const Json& key) { return key.is_string(); });
  if (!numbers && !strings) throw Error(ErrorKind::Invalid, "keys are strings, or whole numbers, all of one kind");
  std::set<std::string> seen;
  for (const Json& key : keys_) {
    if (!options_.label.empty() && !seen.insert(key_text(key)).second)
      throw Error(ErrorKind::Invalid, "the key '" + key_text(key) + "' stands for two inputs");
  }
}

// Names end to end, with their keys if that is asked for.
TreePtr Concatenation::joined_index(const std::string& frame_name) const {
  std::vector<Part> parts;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TreePtr index = index_column(*inputs_[i].root->child(frame_name));
    const std::string suffix = options_.index_unique ? *options_.index_unique + key_text(keys_[i]) : "";
    parts.push_back({suffix.empty() ? index : with_suffix(index, suffix), inputs_[i].length, inputs_[i].name});
  }
  return concat_column("index", parts);
}

TreePtr Concatenation::label_column() const {
  std::vector<lazy::ExprPtr> codes;
  const DType type = code_type(static_cast<int64_t>(keys_.size()));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Fill fill;
    fill.value = static_cast<double>(i);
    codes.push_back(lazy::fill({inputs_[i].length}, type, fill.element(type)));
  }
  auto out = make_group("categorical", "0.2.0");
  out->attributes.set("ordered", array::Attribute{false, DType::boolean(), {}, false});
  if (keys_.front().is_string()) {
    std::vector<std::string> names;
    for (const Json& key : keys_) names.push_back(key.get<std::string>());
    out->add("categories", make_array(lazy::strings(names)));
  } else {
    Buffer raw(static_cast<int64_t>(keys_.size()) * 8);
    auto* at = reinterpret_cast<int64_t*>(raw.data());
    for (const Json& key : keys_) *at++ = key.get<int64_t>();
    out->add("categories",
             make_array(lazy::in_memory({static_cast<int64_t>(keys_.size())}, DType::int_(8), std::move(raw))));
  }
  out->add("codes", make_array(lazy::concat(std::move(codes), 0)));
  return out;
}

TreePtr Concatenation::joined_frame() {
  std::vector<Part> parts;
  std::vector<TreePtr> frames;
  for (const Input& input : inputs_) {
    frames.push_back(input.root->child(joined_));
    parts.push_back({frames.back(), input.length, input.name});
  }
  const std::string name = index_name(frames);
  const TreePtr frame = concat_frames(parts, options_.outer, joined_index(joined_), name);
  if (options_.label.empty()) return frame;
  std::vector<std::pair<std::string, TreePtr>> columns;
  bool there = false;
  for (const std::string& column : column_order(*frame)) {
    there |= column == options_.label;
    columns.emplace_back(column, column == options_.label ? label_column() : frame->child(column));
  }
  if (!there) columns.emplace_back(options_.label, label_column());
  return make_frame(frame->child(name), name, columns);
}

TreePtr Concatenation::other_frame() {
  std::vector<std::vector<std::string>> keys;
  for (const Input& input : inputs_) keys.push_back(column_order(*input.root->child(other_)));
  std::vector<std::pair<std::string, TreePtr>> columns;
  for (const std::string& name : merge_keys(options_.merge, keys)) {
    std::vector<TreePtr> values;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<std::string>& own = keys[i];
      if (std::find(own.begin(), own.end(), name) == own.end()) continue;
      values.push_back(reindex_column(inputs_[i].root->child(other_)->child(name), reindex_[i]));
    }
    if (TreePtr value = merge_values(options_.merge, values)) columns.emplace_back(name, std::move(value));
  }
  return make_frame(make_index(target_, nullable_), target_name_, columns);
}

std::vector<std::vector<std::string>> Concatenation::keys_of(const std::string& group) const {
  std::vector<std::vector<std::string>> keys;
  for (const Input& input : inputs_) {
    const TreePtr tree = input.root->child(group);
    keys.push_back(tree ? tree->children() : std::vector<std::string>());
  }
  return keys;
}

std::vector<std::string> Concatenation::joined_keys(const std::string& group) const {
  return options_.outer ? keys_in_any(keys_of(group)) : keys_in_all(keys_of(group));
}

std::vector<Part> Concatenation::parts_of(const std::string& group, const std::string& name) const {
  std::vector<Part> parts;
  for (const Input& input : inputs_) {
    const TreePtr tree = group.empty() ? input.root : input.root->child(group);
    parts.push_back({tree && tree->has(name) ? tree->child(name) : nullptr, input.length, input.name});
    if (parts.back().tree && parts.back().tree->is_null) parts.back().tree = nullptr;
  }
  return parts;
}

TreePtr Concatenation::x() {
  const std::vector<Part> parts = parts_of("", "X");
  const auto missing = std::count_if(parts.begin(), parts.end(), [](const Part& part) { return !part.tree; });
  if (missing == static_cast<int64_t>(parts.size())) return nullptr;
  if (missing > 0 && !options_.outer) {
    if (warnings_ != nullptr) warnings_->push_back("X is left out: not all inputs have one");
    return nullptr;
  }
  return concat_arrays("X", parts, static_cast<size_t>(options_.axis), reindex_, fill_, options_.keep_types);
}

TreePtr Concatenation::layers() {
  auto out = make_group("dict", "0.1.0");
  for (const std::string& name : joined_keys("layers"))
    out->add(name, concat_arrays("layers/" + name, parts_of("layers", name), static_cast<size_t>(options_.axis),
                                 reindex_, fill_, options_.keep_types));
  return out;
}

// obsm, or varm along the other axis.
TreePtr Concatenation::members(const TreePtr& index, const std::string& name) {
  const std::string group = joined_ + "m";
  auto out = make_group("dict", "0.1.0");
  for (const std::string& key : joined_keys(group))
    out->add(key, concat_members(group + "/" + key, parts_of(group, key), options_.outer, index, name, fill_,
                                 options_.keep_types));
  return out;
}

TreePtr Concatenation::pairs() {
  auto out = make_group("dict", "0.1.0");
  if (!options_.pairwise) return out;
  const std::string group = joined_ + "p";
  for (const std::string& key : joined_keys(group)) out->add(key, block_diagonal(parts_of(group, key)));
  return out;
}

TreePtr Concatenation::merged(const std::string& group, bool both_axes) const {
  auto out = make_group("dict", "0.1.0");
  for (const std::string& name : merge_keys(options_.merge, keys_of(group))) {
    const std::vector<Part> parts = parts_of(group, name);
    std::vector<TreePtr> values;
    for (size_t i = 0; i < parts.size(); ++i) {
      TreePtr value = parts[i].tree;
      if (!value) continue;
      if (value->encoding() == "dataframe") {
        std::vector<std::pair<std::string, TreePtr>> columns;
        for (const std::string& column : column_order(*value))
          columns.emplace_back(column, reindex_column(value->child(column), reindex_[i]));
        value = make_frame(make_index(target_, nullable_), target_name_, columns);
      } else if (value->sparse || value->values) {
        value = reindex_array(value, 0, reindex_[i], Fill());  // fill_value is for what is joined
        if (both_axes) value = reindex_array(value, 1, reindex_[i], Fill());
      } else if (reindex_[i].positions) {
        throw Error(ErrorKind::Unsupported, parts[i].input + ": /" + group + "/" + name + ": elements of encoding '" +
                                                value->encoding() + "' cannot be brought to another index lazily");
      }
      values.push_back(std::move(value));
    }
    if (TreePtr value = merge_values(options_.merge, values)) out->add(name, std::move(value));
  }
  return out;
}

// The raws of all inputs are concatenated as AnnData of their own, with observations that have names only.
TreePtr Concatenation::raw() {
  std::vector<Store> stores;
  for (const Input& input : inputs_) {
    const TreePtr raw = input.root->has("raw") ? input.root->child("raw") : nullptr;
    if (!raw || raw->is_null || !raw->has("X") || !raw->has("var")) continue;
    const TreePtr obs = input.root->child("obs");
    const std::string name = obs->attributes.string("_index").value_or("_index");
    auto root = make_group("anndata", "0.1.0");
    root->name = raw->name;
    root->add("X", raw->child("X"));
    root->add("obs", make_frame(obs->child(name), name, {}));
    root->add("var", raw->child("var"));
    root->add("varm", raw->has("varm") ? raw->child("varm") : TreePtr(make_group("dict", "0.1.0")));
    stores.push_back({root, {input.name + ": /raw"}, "lazy"});
  }
  if (stores.empty()) return nullptr;
  if (stores.size() < inputs_.size()) {
    if (warnings_ != nullptr)
      warnings_->push_back("Only some AnnData objects have `.raw` attribute, not concatenating `.raw` attributes.");
    return nullptr;
  }
  ConcatOptions options = options_;
  options.merge = options.uns_merge = Merge::None;
  options.pairwise = false;
  const TreePtr made = Concatenation(stores, options, nullptr).make().root;
  auto out = make_group("raw", "0.1.0");
  for (const char* name : {"X", "var", "varm"}) {
    if (TreePtr part = made->child(name)) out->add(name, std::move(part));
  }
  return out;
}

TreePtr Concatenation::uns() const {
  if (options_.uns_merge == Merge::None) return make_group("dict", "0.1.0");
  std::vector<TreePtr> dicts;
  for (const Input& input : inputs_)
    dicts.push_back(input.root->has("uns") ? input.root->child("uns") : TreePtr(make_group("dict", "0.1.0")));
  return merge_dicts(options_.uns_merge, dicts);
}

Store Concatenation::make() {
  auto root = make_group("anndata", "0.1.0");
  std::string files;
  for (const Input& input : inputs_) files += (files.empty() ? "" : " + ") + input.name;
  root->name = files + ": /";
  if (TreePtr made = x()) root->add("X", std::move(made));
  root->add("layers", layers());
  const TreePtr joined = joined_frame();
  const std::string name = joined->attributes.string("_index").value_or("_index");
  const TreePtr index = joined->child(name);
  const std::vector<std::pair<std::string, TreePtr>> of_axes = {{joined_, joined},
                                                                {other_, other_frame()},
                                                                {joined_ + "m", members(index, name)},
                                                                {other_ + "m", merged(other_ + "m", false)},
                                                                {joined_ + "p", pairs()},
                                                                {other_ + "p", merged(other_ + "p", true)}};
  for (const char* one : {"obs", "obsm", "obsp", "uns", "var", "varm", "varp"}) {
    if (std::string(one) == "uns") {
      root->add("uns", uns());
      continue;
    }
    const auto found =
        std::find_if(of_axes.begin(), of_axes.end(), [&](const auto& pair) { return pair.first == one; });
    root->add(one, found->second);
  }
  if (TreePtr made = raw()) root->add("raw", std::move(made));
  return {root, {}, "lazy"};
}

}  // namespace

Store concat(const std::vector<Store>& stores, const ConcatOptions& options, std::vector<std::string>* warnings) {
  Store out = Concatenation(stores, options, warnings).make();
  for (const Store& store : stores) {
    for (const std::string& input : store.inputs) {
      if (std::find(out.inputs.begin(), out.inputs.end(), input) == out.inputs.end()) out.inputs.push_back(input);
    }
  }
  return out;
}

}  // namespace lamella::anndata
