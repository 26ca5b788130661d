// Products of a strip with a vector, for a strip of NUMBERs. No guard: included once for each type.

// Four columns at a time have sums of their own, so that no addition waits for the one before.
static void NAMED(add_forward)(const NUMBER *a, size_t n, const double *x, double *sum) {
  WideD sums[WIDTH][PARTS];
  for (int j = 0; j < WIDTH; ++j)
    for (int r = 0; r < PARTS; ++r) sums[j][r] = wide_set_double(0);
  for (; n >= WIDTH; n -= WIDTH, a += WIDTH * SIDE, x += WIDTH)
    for (int j = 0; j < WIDTH; ++j)
      for (int r = 0; r < PARTS; ++r)
        sums[j][r] = wide_fma_double(LOAD(a + j * SIDE + r * LANES), wide_set_double(x[j]), sums[j][r]);
  for (; n > 0; --n, a += SIDE, ++x)
    for (int r = 0; r < PARTS; ++r)
      sums[0][r] = wide_fma_double(LOAD(a + r * LANES), wide_set_double(*x), sums[0][r]);
  for (int r = 0; r < PARTS; ++r) {
    WideD all = (sums[0][r] + sums[1][r]) + (sums[2][r] + sums[3][r]);
    wide_store_double(sum + r * LANES, wide_load_double(sum + r * LANES) + all);
  }
}

static void NAMED(add_backward)(const NUMBER *a, size_t n, const double *y, double *sum) {
  const WideD rows[PARTS] = {wide_load_double(y), wide_load_double(y + LANES),
                             wide_load_double(y + 2 * LANES)};
  for (; n > 0; --n, a += SIDE, sum += LANES) {
    WideD s = wide_load_double(sum);
    for (int r = 0; r < PARTS; ++r) s = wide_fma_double(LOAD(a + r * LANES), rows[r], s);
    wide_store_double(sum, s);
  }
}
