// A count with noise, in one of three ways, for `liptest samples --command`.
//   rustc -O -o noiser noiser.rs;  ./noiser laplace | discrete | snapped
// It reads lines {"dataset": [0, 1], "n": 100, "seed": 7} and answers {"outputs": [..]}.
use std::io::{self, BufRead, Read, Write};

struct Bits(u64);

impl Bits {
    // SplitMix64 (Steele, Lea and Flood 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) * 2f64.powi(-53)
    }

    // The textbook's inverse: floats near 0 are finer than floats near 1, and this shows.
    fn laplace(&mut self) -> f64 {
        let u = self.uniform() - 0.5;
        -u.signum() * (-2.0 * u.abs()).ln_1p()
    }

    // Whole numbers: the difference of two geometric ones; epsilon 1.
    fn geometric(&mut self) -> f64 {
        (-self.uniform().ln()).floor()
    }
}

fn main() -> io::Result<()> {
    let kind = std::env::args().nth(1).unwrap_or("laplace".to_string());
    let mut seed = [0u8; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let mut bits = Bits(u64::from_le_bytes(seed));
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (open, close) = (line.find('[').unwrap(), line.find(']').unwrap());
        let sum = line[open..close].matches('1').count() as f64;
        let after = line[line.find("\"n\":").unwrap() + 4..].trim_start();
        let n: usize = after.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        let outputs: Vec<String> = (0..n)
            .map(|_| match kind.as_str() {
                "discrete" => sum + bits.geometric() - bits.geometric(),
                // Mironov 2012, in outline: a coarse grid and a bound hide how the float came about.
                "snapped" => (4.0 * (sum + bits.laplace())).round().clamp(-256.0, 256.0) / 4.0,
                _ => sum + bits.laplace(),
            })
            .map(|noisy| format!("{noisy:?}"))
            .collect();
        println!("{{\"outputs\": [{}]}}", outputs.join(", "));
        io::stdout().flush()?;
    }
    Ok(())
}
