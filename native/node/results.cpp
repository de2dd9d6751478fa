#include "node/results.h"

#include <algorithm>
#include <cstring>

namespace dcpscope::node {
namespace {

Napi::Value typedArray(Napi::Env env, ColumnType type, int64_t rows, Napi::ArrayBuffer buffer) {
  const auto n = static_cast<size_t>(rows);
  switch (type) {
    case ColumnType::i32:
      return Napi::Int32Array::New(env, n, buffer, 0);
    case ColumnType::i64:
      return Napi::BigInt64Array::New(env, n, buffer, 0);
    case ColumnType::f32:
      return Napi::Float32Array::New(env, n, buffer, 0);
    case ColumnType::f64:
      return Napi::Float64Array::New(env, n, buffer, 0);
    case ColumnType::u8:
      return Napi::Uint8Array::New(env, n, buffer, 0);
  }
  return env.Undefined();
}

}  // namespace

Napi::ArrayBuffer copyBuffer(Napi::Env env, const void* from, size_t bytes) {
  Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(env, bytes);
  if (bytes > 0) std::memcpy(buffer.Data(), from, bytes);
  return buffer;
}

Napi::Object takeChunk(Napi::Env env, const NamedRing& named, int64_t maxBytes) {
  Ring& ring = *named.ring;
  const int64_t rows = std::min(ring.size(), std::max<int64_t>(maxBytes / rowBytes(ring.columns()), 1));
  Napi::Object columns = Napi::Object::New(env);
  for (size_t i = 0; i < ring.columns().size(); ++i) {
    const ColumnSpec& spec = ring.columns()[i];
    Napi::ArrayBuffer buffer = Napi::ArrayBuffer::New(env, static_cast<size_t>(rows * width(spec.type)));
    ring.copy(i, rows, buffer.Data());
    columns.Set(spec.name, typedArray(env, spec.type, rows, buffer));
  }
  ring.discard(rows);
  Napi::Object chunk = Napi::Object::New(env);
  chunk.Set("table", named.table);
  chunk.Set("rank", named.rank);
  chunk.Set("rows", static_cast<double>(rows));
  chunk.Set("columns", columns);
  if (named.names != nullptr) {
    Napi::Array names = Napi::Array::New(env, named.names->size());
    for (size_t i = 0; i < named.names->size(); ++i) names.Set(static_cast<uint32_t>(i), (*named.names)[i]);
    chunk.Set("names", names);
  }
  return chunk;
}

Napi::Object captureObject(Napi::Env env, const Capture& capture) {
  Napi::Array tensors = Napi::Array::New(env, capture.tensors.size());
  for (size_t i = 0; i < capture.tensors.size(); ++i) {
    const Tensor& tensor = capture.tensors[i];
    Napi::Array shape = Napi::Array::New(env, tensor.shape.size());
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      shape.Set(static_cast<uint32_t>(d), static_cast<double>(tensor.shape[d]));
    Napi::Object object = Napi::Object::New(env);
    object.Set("name", tensor.name);
    object.Set("dtype", name(tensor.type));
    object.Set("shape", shape);
    object.Set("data", copyBuffer(env, tensor.data.data(), tensor.data.size()));
    tensors.Set(static_cast<uint32_t>(i), object);
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("step", capture.step);
  object.Set("layer", capture.layer);
  object.Set("rank", capture.rank);
  object.Set("tensors", tensors);
  if (!capture.leftOut.empty()) object.Set("leftOut", capture.leftOut);
  return object;
}

}  // namespace dcpscope::node
