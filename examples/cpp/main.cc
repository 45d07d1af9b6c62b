// Prints the tree of a store, and the first elements of one array: tree PATH [ARRAY]

#include <lamella.h>

#include <algorithm>
#include <iostream>

namespace {

using lamella::array::Array;
using lamella::array::Group;
using lamella::array::Node;

void print(const std::string& name, const Node& node, const std::string& indent) {
  std::cout << indent << name;
  if (node.array) {
    const auto& spec = node.array->spec();
    std::cout << "  " << lamella::to_string(spec.shape) << " " << to_string(spec.type) << "\n";
    return;
  }
  std::cout << "/  " << node.attributes().string("encoding-type").value_or("") << "\n";
  for (const std::string& child : node.group->children()) print(child, node.group->child(child), indent + "  ");
}

// The first block of an array, at most 2 along each axis: cast to float64 whatever it holds.
void print_block(std::shared_ptr<const Array> array) {
  const auto numbers = lamella::lazy::cast(lamella::lazy::source(array), lamella::DType::float_(8));
  lamella::Box block = lamella::Box::whole(array->spec().shape);
  for (int64_t& length : block.shape) length = std::min<int64_t>(length, 2);
  std::vector<double> values(static_cast<size_t>(lamella::count(block.shape)));
  lamella::Heap heap;
  const auto to = lamella::View::c_order(reinterpret_cast<std::byte*>(values.data()), block.shape, sizeof(double));
  numbers->read(block, to, heap, lamella::ThreadPool::shared());
  std::cout << array->name() << " " << to_string(block) << ":";
  for (double value : values) std::cout << " " << value;
  std::cout << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: tree PATH [ARRAY]\n";
    return 2;
  }
  try {
    const auto store = lamella::array::open(argv[1]);
    print(argv[1], store.root, "");
    if (argc > 2 && store.root.group) print_block(store.root.group->at(argv[2]).array);
  } catch (const lamella::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
