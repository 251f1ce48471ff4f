"""Run: carries out a plan, trial by trial, and writes what happened into folders."""
