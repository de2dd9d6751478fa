#include "node/config_reader.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"

namespace dcpscope::node {
namespace {

constexpr uint32_t kMaxEntries = 1 << 20;

[[noreturn]] void refuse(const std::string& field, const char* what) {
  throw EngineError(ErrorCode::config, field + ": must be " + what);
}

class Reader {
 public:
  explicit Reader(Napi::Object object) : object_(object) {}

  int64_t integer(const char* field) const { return readInteger(object_.Get(field), field); }

  int small(const char* field) const {
    const int64_t value = integer(field);
    constexpr int64_t most = std::numeric_limits<int>::max();
    if (value < -most || value > most) refuse(field, "a small whole number");
    return static_cast<int>(value);
  }

  double number(const char* field) const {
    const Napi::Value value = object_.Get(field);
    if (!value.IsNumber()) refuse(field, "a number");
    return value.As<Napi::Number>().DoubleValue();
  }

  bool flag(const char* field) const {
    const Napi::Value value = object_.Get(field);
    if (!value.IsBoolean()) refuse(field, "true or false");
    return value.As<Napi::Boolean>().Value();
  }

  std::string text(const char* field) const {
    const Napi::Value value = object_.Get(field);
    if (!value.IsString()) refuse(field, "text");
    return value.As<Napi::String>().Utf8Value();
  }

  template <class T>
  std::vector<T> list(const char* field) const {
    const Napi::Value value = object_.Get(field);
    if (!value.IsArray()) refuse(field, "a list");
    const auto array = value.As<Napi::Array>();
    if (array.Length() > kMaxEntries) refuse(field, "a list of at most 2^20 entries");
    std::vector<T> out;
    for (uint32_t i = 0; i < array.Length(); ++i) {
      const int64_t entry = readInteger(array.Get(i), field);
      if (entry < std::numeric_limits<T>::min() || entry > std::numeric_limits<T>::max())
        refuse(field, "a list of small whole numbers");
      out.push_back(static_cast<T>(entry));
    }
    return out;
  }

  std::vector<Napi::Object> objects(const char* field) const {
    const Napi::Value value = object_.Get(field);
    if (!value.IsArray()) refuse(field, "a list");
    const auto array = value.As<Napi::Array>();
    if (array.Length() > kMaxEntries) refuse(field, "a list of at most 2^20 entries");
    std::vector<Napi::Object> out;
    for (uint32_t i = 0; i < array.Length(); ++i) {
      const Napi::Value entry = array.Get(i);
      if (!entry.IsObject()) refuse(field, "a list of objects");
      out.push_back(entry.As<Napi::Object>());
    }
    return out;
  }

 private:
  Napi::Object object_;
};

Comm readComm(const std::string& text) {
  if (text == "ag_rs") return Comm::agRs;
  if (text == "a2a") return Comm::a2a;
  if (text == "p2p") return Comm::p2p;
  refuse("comm", "ag_rs, a2a or p2p");
}

KvType readKvType(const std::string& text) {
  if (text == "fp32") return KvType::fp32;
  if (text == "bf16") return KvType::bf16;
  if (text == "fp8") return KvType::fp8;
  if (text == "fp8_ds_mla") return KvType::fp8DsMla;
  refuse("kvDtype", "fp32, bf16, fp8 or fp8_ds_mla");
}

EmptyRow readEmptyRow(const std::string& text) {
  if (text == "neutral") return EmptyRow::neutral;
  if (text == "unwritten") return EmptyRow::unwritten;
  if (text == "plusInf") return EmptyRow::plusInf;
  if (text == "nan") return EmptyRow::nan;
  refuse("emptyRow", "neutral, unwritten, plusInf or nan");
}

bool readLseBf16(const std::string& text) {
  if (text == "bf16") return true;
  if (text == "fp32") return false;
  refuse("lseType", "fp32 or bf16");
}

LseLayout readLseLayout(const std::string& text) {
  if (text == "[T,H]") return LseLayout::tokens;
  if (text == "[B,H,q]") return LseLayout::requests;
  if (text == "[H,T]") return LseLayout::heads;
  refuse("lseLayout", "[T,H], [B,H,q] or [H,T]");
}

ZeroWeight readZeroWeight(const std::string& text) {
  if (text == "dropped") return ZeroWeight::dropped;
  if (text == "multiplied") return ZeroWeight::multiplied;
  refuse("zeroWeight", "dropped or multiplied");
}

AllEmpty readAllEmpty(const std::string& text) {
  if (text == "zero") return AllEmpty::zero;
  if (text == "nan") return AllEmpty::nan;
  refuse("allEmpty", "zero or nan");
}

bool readCuda(const std::string& text) {
  if (text == "cuda") return true;
  if (text == "cpu") return false;
  refuse("device", "cpu or cuda");
}

bool readBase2(const std::string& text) {
  if (text == "2") return true;
  if (text == "e") return false;
  refuse("lseBase", "e or 2");
}

uint32_t readSeed(int64_t seed) {
  if (seed < 0 || seed > std::numeric_limits<uint32_t>::max()) refuse("seed", "0 to 2^32 - 1");
  return static_cast<uint32_t>(seed);
}

Fault readFault(Napi::Object object) {
  const Reader read(object);
  const std::string name = read.text("fault");
  const std::optional<FaultKind> kind = faultKind(name);
  if (!kind) throw EngineError(ErrorCode::config, "faults: this engine cannot inject " + name);
  Fault fault;
  fault.kind = *kind;
  for (const int rank : read.list<int>("ranks")) {
    if (rank < 0 || rank >= 64) refuse("faults", "of ranks from 0 to 63");
    fault.ranks |= uint64_t{1} << rank;
  }
  fault.layers = read.list<int>("layers");
  fault.steps = read.list<int>("steps");
  fault.draft = read.flag("draft");
  fault.variant = read.small("variant");
  fault.amount = read.integer("amount");
  return fault;
}

}  // namespace

int64_t readInteger(const Napi::Value& value, const char* field) {
  constexpr double most = 9007199254740992.0;
  if (!value.IsNumber()) refuse(field, "a whole number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(std::abs(number) <= most) || number != std::floor(number)) refuse(field, "a whole number");
  return static_cast<int64_t>(number);
}

Config readConfig(const Napi::Value& value) {
  if (!value.IsObject()) refuse("config", "an object");
  const Reader read(value.As<Napi::Object>());
  Config c;
  c.ranks = read.small("ranks");
  c.heads = read.small("heads");
  c.kvLoraRank = read.small("kvLoraRank");
  c.ropeDim = read.small("ropeDim");
  c.kvHeads = read.small("kvHeads");
  c.headDim = read.small("headDim");
  c.layers = read.small("layers");
  c.softmaxScale = read.number("softmaxScale");
  c.interleave = read.small("interleave");
  c.restarts = read.flag("restarts");
  c.comm = readComm(read.text("comm"));
  c.wireFp32 = read.flag("wireFp32");
  c.replicateQ = read.flag("replicateQ");
  c.pageSize = read.small("pageSize");
  c.kvType = readKvType(read.text("kvDtype"));
  c.poolTokens = read.integer("poolTokens");
  c.shuffledPages = read.flag("shuffledPages");
  c.contextLens = read.list<int64_t>("contextLens");
  c.qLen = read.small("qLen");
  c.draft = read.flag("draft");
  c.acceptedPerStep = read.small("acceptedPerStep");
  c.steps = read.small("steps");
  c.warmup = read.small("warmup");
  c.seed = readSeed(read.integer("seed"));
  c.needles = read.flag("needles");
  c.topk = read.small("topk");
  c.base2 = readBase2(read.text("lseBase"));
  c.emptyRow = readEmptyRow(read.text("emptyRow"));
  c.lseBf16 = readLseBf16(read.text("lseType"));
  c.lseLayout = readLseLayout(read.text("lseLayout"));
  c.paddedHeads = read.small("paddedHeads");
  c.zeroWeight = readZeroWeight(read.text("zeroWeight"));
  c.allEmpty = readAllEmpty(read.text("allEmpty"));
  c.processes = read.flag("processes");
  c.cuda = readCuda(read.text("device"));
  c.graph = read.flag("graph");
  c.padRequests = read.small("padRequests");
  c.padLength = read.small("padLength");
  c.restOfLayerBytes = read.integer("restOfLayerBytes");
  c.restOfLayerFlops = read.integer("restOfLayerFlops");
  c.rowStats = read.flag("rowStats");
  c.observer = read.flag("observer");
  c.checkRows = read.small("checkRows");
  c.captureSteps = read.list<int>("captureSteps");
  c.captureLayers = read.list<int>("captureLayers");
  c.kernelSteps = read.list<int>("kernelSteps");
  for (const Napi::Object& fault : read.objects("faults")) c.faults.push_back(readFault(fault));
  return c;
}

std::optional<Member> readMember(const Napi::Value& value) {
  if (value.IsUndefined()) return std::nullopt;
  if (!value.IsObject()) refuse("member", "an object");
  const auto object = value.As<Napi::Object>();
  const Reader read(object);
  const Napi::Value base = object.Get("clockBaseNs");
  if (!base.IsBigInt()) refuse("clockBaseNs", "a bigint");
  bool whole = false;
  Member member;
  member.rank = read.small("rank");
  member.segment = read.text("segment");
  member.creates = read.flag("creates");
  member.clockBase = base.As<Napi::BigInt>().Int64Value(&whole);
  if (!whole) refuse("clockBaseNs", "nanoseconds of a clock");
  if (!object.Get("gpu").IsUndefined()) member.gpu = read.small("gpu");
  const Napi::Value network = object.Get("network");
  if (network.IsUndefined()) return member;
  if (!network.IsObject()) refuse("network", "an object");
  const Reader at(network.As<Napi::Object>());
  member.network = MeetingPoint{at.text("address"), at.small("port")};
  return member;
}

}  // namespace dcpscope::node
