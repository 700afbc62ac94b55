"""Configuration of coding agents: add rootle to it and remove rootle from it."""
