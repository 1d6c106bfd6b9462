"""Testing functions: is one Lipschitz, up to a set of small mass?"""
