// A count with noise, in one of three ways, for `liptest samples --command`.
//   javac -d build Noiser.java;  java -cp build Noiser laplace | discrete | snapped
// It reads lines {"dataset": [0, 1], "n": 100, "seed": 7} and answers {"outputs": [..]}.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.security.SecureRandom;
import java.util.SplittableRandom;

public final class Noiser {
  private static final SplittableRandom BITS = new SplittableRandom(new SecureRandom().nextLong());

  private static double laplace() {
    double u = BITS.nextDouble() - 0.5;
    return -Math.signum(u) * Math.log1p(-2 * Math.abs(u));
  }

  private static long geometric() {
    return (long) Math.floor(-Math.log1p(-BITS.nextDouble()));
  }

  private static double draw(String kind, long sum) {
    switch (kind) {
      case "discrete": return sum + geometric() - geometric();
      case "snapped": return Math.rint((sum + laplace()) * 4) / 4;
      default: return sum + laplace();
    }
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = input.readLine()) != null; ) {
      String data = line.substring(line.indexOf('['), line.indexOf(']'));
      long sum = data.chars().filter(c -> c == '1').count();
      long n = Long.parseLong(line.replaceAll(".*\"n\": *(\\d+).*", "$1"));
      StringBuilder answer = new StringBuilder("{\"outputs\": [");
      for (long k = 0; k < n; k++) answer.append(k > 0 ? ", " : "").append(draw(arguments[0], sum));
      System.out.println(answer.append("]}"));
    }
  }
}
