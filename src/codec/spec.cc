#include "codec/spec.h"

#include <charconv>

#include "base/error.h"
#include "codec/table.h"

namespace lamella::codec {
namespace {

CodecSpec make_spec(const Row& row, const Json& configuration, int64_t item_size) {
  return {std::string(row.name), canonical_configuration(row, configuration, item_size)};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) parts.emplace_back();
    else if (c != ' ') parts.back() += c;
  }
  return parts;
}

// A word of the user's: a number where it looks like one.
Json word_value(const std::string& word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size()) return number;
  if (word == "true" || word == "false") return word == "true";
  return word;
}

CodecSpec parse_codec(const std::string& text) {
  std::vector<std::string> words = split(text, ':');
  const Row& row = row_of(words[0]);
  if (row.kind() != CodecKind::Bytes) {
    throw Error(ErrorKind::Invalid, "codec \"" + words[0] + "\" is no compressor; it follows from the element type");
  }
  Json configuration = Json::object();
  const auto& members = row.definition->words;
  for (size_t i = 1; i < words.size(); ++i) {
    if (i > members.size() || members[i - 1].empty()) {
      throw Error(ErrorKind::Invalid, "codec \"" + text + "\": nothing is known to \"" + words[0] + "\" that \"" +
                                          words[i] + "\" could set");
    }
    configuration[std::string(members[i - 1])] = word_value(words[i]);
  }
  return make_spec(row, configuration, 0);
}

// "blosc:lz4:5:shuffle"; words at the end that say nothing new are left out.
std::string codec_text(const CodecSpec& codec) {
  const Row& row = row_of(codec.name);
  std::string text = codec.name;
  if (row.kind() != CodecKind::Bytes) return text;
  const Json defaults = canonical_configuration(row, Json::object(), 0);
  std::string pending;
  for (std::string_view member : row.definition->words) {
    const auto value = codec.configuration.find(std::string(member));
    if (member.empty() || value == codec.configuration.end()) break;
    pending += ":" + (value->is_string() ? value->get<std::string>() : value->dump());
    if (*value != defaults[std::string(member)]) text += std::exchange(pending, {});
  }
  return text;
}

const std::string& name_member(const Json& config, const char* key) {
  const auto name = config.find(key);
  if (name == config.end() || !name->is_string()) {
    throw Error(ErrorKind::Corrupt, "a codec without \"" + std::string(key) + "\": " + config.dump());
  }
  return name->get_ref<const std::string&>();
}

}  // namespace

std::string to_string(const CodecList& codecs) {
  std::string text;
  for (const CodecSpec& codec : codecs) {
    if (codec.name == "bytes" && codec.configuration.empty()) continue;
    text += (text.empty() ? "" : ", ") + codec_text(codec);
  }
  return text.empty() ? "none" : text;
}

CodecKind kind_of(const CodecSpec& codec) { return row_of(codec.name).kind(); }

CodecSpec canonical(const CodecSpec& codec, int64_t item_size) {
  return make_spec(row_of(codec.name), codec.configuration, item_size);
}

CodecList parse_codecs(const std::string& text) {
  CodecList codecs;
  if (text == "none") return codecs;
  for (const std::string& part : split(text, ',')) codecs.push_back(parse_codec(part));
  return codecs;
}

CodecSpec from_zarr2(const Json& config, int64_t item_size) {
  if (!config.is_object())
    throw Error(ErrorKind::Corrupt, "a codec must be an object with \"id\", not " + config.dump());
  const Row& row = row_of_zarr2(name_member(config, "id"));
  Json configuration = config;
  configuration.erase("id");
  return make_spec(row, configuration, item_size);
}

Json to_zarr2(const CodecSpec& codec) {
  const Row& row = row_of(codec.name);
  if (row.zarr2.empty())
    throw Error(ErrorKind::Unsupported, "codec \"" + codec.name + "\" cannot be stored in Zarr v2");
  Json out = {{"id", row.zarr2}};
  const Json full = canonical_configuration(row, codec.configuration, 0);
  out.update(row.definition->to_zarr ? row.definition->to_zarr(full, 2) : full);
  return out;
}

CodecSpec from_zarr3(const Json& config, int64_t item_size) {
  if (config.is_string())
    return make_spec(row_of_zarr3(config.get_ref<const std::string&>()), Json::object(), item_size);
  if (!config.is_object())
    throw Error(ErrorKind::Corrupt, "a codec must be an object with \"name\", not " + config.dump());
  const Row& row = row_of_zarr3(name_member(config, "name"));
  const auto configuration = config.find("configuration");
  const bool given = configuration != config.end() && !configuration->is_null();
  return make_spec(row, given ? *configuration : Json::object(), item_size);
}

Json to_zarr3(const CodecSpec& codec) {
  const Row& row = row_of(codec.name);
  if (row.zarr3[0].empty())
    throw Error(ErrorKind::Unsupported, "codec \"" + codec.name + "\" cannot be stored in Zarr v3");
  const Json full = canonical_configuration(row, codec.configuration, 0);
  return {{"name", row.zarr3[0]}, {"configuration", row.definition->to_zarr ? row.definition->to_zarr(full, 3) : full}};
}

CodecSpec from_hdf5(const Hdf5Filter& filter, int64_t item_size) {
  const Row& row = row_of_hdf5(filter.number, filter.name);
  const Json given = row.definition->from_hdf5 ? row.definition->from_hdf5(filter.values, item_size) : Json::object();
  return make_spec(row, given, item_size);
}

Hdf5Filter to_hdf5(const CodecSpec& codec, int64_t item_size, int64_t chunk_bytes) {
  const Row& row = row_of(codec.name);
  if (row.hdf5 == 0) throw Error(ErrorKind::Unsupported, "codec \"" + codec.name + "\" has no HDF5 filter");
  Hdf5Filter filter{row.hdf5};
  const Json full = canonical_configuration(row, codec.configuration, item_size);
  if (row.definition->to_hdf5) filter.values = row.definition->to_hdf5(full, item_size, chunk_bytes);
  // Readers then know the filter by name when they lack its plug-in. The library leaves its own filters nameless.
  if (row.hdf5 >= 256) filter.name = row.name == "hdf5-lz4" ? "lz4" : row.name;
  filter.optional = row.name != "fletcher32";
  return filter;
}

CodecList hdf5_codecs(const CodecList& codecs, int64_t item_size, int64_t chunk_bytes) {
  CodecList out;
  for (const CodecSpec& codec : codecs) {
    if (codec.name == "bytes") out.push_back(codec);
    else out.push_back(from_hdf5(to_hdf5(codec, item_size, chunk_bytes), item_size));
  }
  return out;
}

bool has_hdf5(const CodecSpec& codec) { return row_of(codec.name).hdf5 != 0; }
bool has_zarr2(const CodecSpec& codec) { return !row_of(codec.name).zarr2.empty(); }

}  // namespace lamella::codec
