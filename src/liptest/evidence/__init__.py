"""Verdicts that can be kept: certificates, their verification, the ledger."""
