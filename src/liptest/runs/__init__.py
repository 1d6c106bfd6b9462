"""Long runs: the driver, workers, checkpoints, interrupts, hashes of what is run."""
