// A count with noise, in one of three ways, for `liptest samples --command`.
//   g++ -O2 -o noiser noiser.cpp;  ./noiser laplace | discrete | snapped | doubled
// It reads lines {"dataset": [0, 1], "n": 100, "seed": 7} and answers {"outputs": [..]}.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

static std::mt19937_64 bits{std::random_device{}()};

static double uniform() { return std::ldexp(double(bits() >> 11) + 0.5, -53); }

// The textbook's inverse: floats near 0 are finer than floats near 1, and this shows.
static double laplace(double scale) {
  double u = uniform() - 0.5;
  return (u < 0 ? scale : -scale) * std::log1p(-2 * std::fabs(u));
}

// Whole numbers: the difference of two geometric ones; epsilon 1.
static long geometric() { return long(std::floor(-std::log(uniform()))); }

int main(int argc, char **argv) {
  std::string kind = argc > 1 ? argv[1] : "laplace", line;
  while (std::getline(std::cin, line)) {
    size_t open = line.find('['), close = line.find(']');
    long sum = 0, n = std::atol(line.c_str() + line.find("\"n\":") + 4);
    for (size_t i = open; i < close; i++) sum += line[i] == '1';
    std::printf("{\"outputs\": [");
    for (long k = 0; k < n; k++) {
      double scale = kind == "doubled" ? 0.5 : 1.0;  // doubled: epsilon 2, not 1
      double noisy = sum + laplace(scale);
      if (kind == "discrete") noisy = double(sum + geometric() - geometric());
      // Mironov 2012, in outline: a coarse grid and a bound hide how the float came about.
      if (kind == "snapped") noisy = std::fmax(-64, std::fmin(64, std::round(noisy * 4) / 4));
      std::printf("%s%.17g", k ? ", " : "", noisy);
    }
    std::printf("]}\n");
    std::fflush(stdout);
  }
}
