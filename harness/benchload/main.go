// Benchload generates the datasets of database benchmarks, loads them and
// drives queries. It writes JSON lines, described in docs/benchload-events.md.
package main

import "benchbook/benchload/program"

func main() { program.Benchload.Main() }
