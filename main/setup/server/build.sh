#!/bin/sh
# Builds the engine into dist/native. Needs CMake 3.18, a C++20 compiler and make or ninja; for GPUs also nvcc.
set -eu

help() {
  cat <<'TEXT'
./build.sh [--tests]
Builds the native engine, and the CUDA engine where nvcc is found: named by DCPSCOPE_NVCC or CUDACXX, on PATH, in
CUDA_HOME or in /usr/local/cuda. DCPSCOPE_NVCC=none leaves it out.
--tests  also builds the tests and the benchmark of the GPU kernels: build/cuda/dcpscope_gpu_tests, dcpscope_gpu_bench
TEXT
}

say() { printf 'dcpscope: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 2
}

tests=no
for argument in "$@"; do
  case $argument in
    --tests) tests=yes ;;
    --help | -h)
      help
      exit 0
      ;;
    *) fail "unknown argument $argument; see --help" ;;
  esac
done

cd "$(dirname "$(readlink -f "$0")")"
has() { command -v "$1" >/dev/null 2>&1; }
has cmake || fail 'cmake is missing'
has c++ || has g++ || has clang++ || [ -n "${CXX:-}" ] || fail 'a C++ compiler is missing'
has make || has ninja || fail 'make or ninja is missing'
generator=''
has make || generator='-GNinja'
mkdir -p build

# Runs a command and shows what it wrote only when it fails.
quietly() {
  "$@" >build/build.log 2>&1 && return
  cat build/build.log >&2
  fail "$1 failed; the lines above are in $PWD/build/build.log"
}

# Folder of the sources, then what else CMake is to know.
configure() {
  quietly cmake -S "$1" -B "build/$2" $generator -DCMAKE_BUILD_TYPE=Release "$3" "$4"
}

compile() {
  folder=build/$1
  shift
  quietly cmake --build "$folder" --parallel "$(nproc)" "$@"
}

find_nvcc() {
  named=${DCPSCOPE_NVCC:-${CUDACXX:-}}
  if [ "$named" = none ]; then return; fi
  if [ -n "$named" ]; then
    command -v "$named" || fail "no CUDA compiler $named (DCPSCOPE_NVCC or CUDACXX)"
    return
  fi
  for nvcc in nvcc "${CUDA_HOME:-}/bin/nvcc" "${CUDA_PATH:-}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    if command -v "$nvcc"; then return; fi
  done
}

# Only code for the GPUs of this machine, where they are known: it takes half the time.
architectures() {
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -u) || found=''
  case $found in
    9.0) echo 90a-real ;;
    8.?) echo 80-real ;;
    *) echo '80;90a-real' ;;
  esac
}

say 'compiling the engine ...'
configure native native "-DDCPSCOPE_NODE_API_HEADERS=$PWD/include/node-api-headers" \
  "-DDCPSCOPE_NODE_ADDON_API=$PWD/include/node-addon-api"
compile native
if [ "$tests" = yes ]; then compile native --target dcpscope_tests; fi

nvcc=$(find_nvcc)
if [ -z "$nvcc" ]; then
  if [ "${DCPSCOPE_NVCC:-}" = none ]; then
    say 'the CUDA engine is left out: DCPSCOPE_NVCC is none'
  else
    say 'the CUDA engine is left out: nvcc is not on this machine; install the CUDA toolkit or set DCPSCOPE_NVCC to have it'
  fi
  say 'done: ./dcpscope run --device cpu works'
  exit 0
fi
say "compiling the CUDA engine with $nvcc ..."
configure native/cuda cuda "-DCMAKE_CUDA_COMPILER=$nvcc" "-DDCPSCOPE_CUDA_ARCHITECTURES=$(architectures)"
compile cuda
if [ "$tests" = yes ]; then
  say 'compiling the tests and the benchmark of the GPU kernels ...'
  compile cuda --target dcpscope_gpu_tests dcpscope_gpu_bench
fi
say 'done: ./dcpscope doctor says what it can use'
