#!/usr/bin/env bash
# Formulas stand in headers that a device compiler can read: clang compiles them as OpenCL C, for single numbers and for
# vectors of eight.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v clang >/dev/null || { echo "skipped: no clang"; exit 77; }

# prelude REAL SELECTION: the vocabulary of the formulas on a device.
prelude() {
  cat <<TEXT
typedef $1 Real;
#define REAL_INLINE static inline
REAL_INLINE Real real_set(float a) { return (Real)(a); }
REAL_INLINE Real real_max(Real a, Real b) { return fmax(a, b); }
REAL_INLINE Real real_fma(Real a, Real b, Real c) { return fma(a, b, c); }
REAL_INLINE Real real_sqrt(Real a) { return sqrt(a); }
REAL_INLINE Real real_power(Real a, float exponent) { return pow(a, (Real)(exponent)); }
REAL_INLINE Real real_if_positive(Real x, Real a, Real b) { return $2; }
enum { FLO_KERNEL_CUBIC_SPLINE, FLO_KERNEL_WENDLAND_C2, FLO_KERNEL_WENDLAND_C4, FLO_KERNEL_QUINTIC, FLO_KERNEL_POLY6,
       FLO_KERNEL_SPIKY, FLO_KERNEL_VISCOSITY };
TEXT
}

# compile TREE REAL SELECTION
compile() {
  { prelude "$2" "$3"; printf '#include "%s"\n' kernel.h pair.h tension_kernel.h particle.h; } |
    clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only -nostdlibinc -Wall -Werror -Wno-unused-function \
      -I "$1/src/sph" -
}

check() { compile "$1" float 'x > 0 ? a : b' && compile "$1" float8 'select(b, a, x > (Real)(0))'; }

# formulas FOLDER: the headers of formulas become those of the small tree.
formulas() {
  new_tree
  mkdir -p "$work/tree/src/sph"
  cp "$root"/src/sph/{kernel,pair,tension_kernel,particle}.h "$work/tree/src/sph"
}

formulas
expect_pass
sed -i 's/int which/int kernel/' "$work/tree/src/sph/kernel.h"
expect_fault 'kernel'
formulas
sed -i '1i #include <stdlib.h>' "$work/tree/src/sph/pair.h"
expect_fault "stdlib"

finish
