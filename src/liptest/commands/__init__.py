"""What the commands of the command line do; imported only when one of them runs."""
