"""Add rootle to the configuration of coding agents, and remove it."""
