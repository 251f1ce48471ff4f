package main

import (
	"strings"
	"testing"

	"benchbook/benchload/program/programtest"
)

const (
	clock  = "--seed 1 --start 2016-01-01T00:00:00Z --end 2016-01-01T00:00:02Z --interval 1s"
	stress = "stress --scale 10 " + clock
	inch   = "inch --scale 6 --tags 3,2 " + clock
)

// run does a command of the client.
func run(arguments string) (code int, out, notes string) { return programtest.Run(client, arguments) }

func TestItIsBenchloadWithMore(t *testing.T) {
	_, groups, _ := run("calibrate --help")
	for _, word := range []string{"calibrate devops", "calibrate inch", "calibrate stress"} {
		if !strings.Contains(groups, word) {
			t.Errorf("the help of calibrate leaves %s out: %s", word, groups)
		}
	}
	_, text, _ := run("generate inch -h")
	for _, word := range []string{"--tags=N,... ", "m0 of inch", "ctr of stress"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " ")+" ", word) {
			t.Errorf("the help of inch leaves %s out: %s", word, text)
		}
	}
	if code, out, _ := run("generate devops --scale 1 " + clock); code != 0 || strings.Count(out, "\n") != 18 {
		t.Errorf("a dataset of benchload ends with %d and has %d lines", code, strings.Count(out, "\n"))
	}
}

func TestTheDigestIsOfTheOutput(t *testing.T) {
	for points, rows := range map[string]int{stress: 20, inch: 12} {
		code, out, notes := run("generate " + points)
		_, line, _ := run("generate " + points + " --digest")
		stated := programtest.Last(t, line)
		if code != 0 || strings.Count(out, "\n") != rows || stated["rows"] != float64(rows) || stated["bytes"] != float64(len(out)) {
			t.Errorf("%s: code %d, %s%v", points, code, notes, stated)
		}
	}
}

// A load for a time continues past the end of its dataset; a whole one has every row.
func TestLoads(t *testing.T) {
	server, at := programtest.NullServer(t)
	to := " --target influx --url " + at + " --workers 2 --batch-rows 7"
	for load, least := range map[string]float64{stress: 20, inch: 12, stress + " --duration 200ms": 21} {
		before := server.Counts().Rows
		code, out, notes := run("load " + load + to)
		summary, arrived := programtest.Last(t, out), float64(server.Counts().Rows-before)
		if code != 0 || summary["rows"] != arrived || arrived < least || summary["errors"] != 0.0 || summary["rows_unsent"] != 0.0 {
			t.Errorf("%s ends with %d: %v rows arrived, %v %s", load, code, arrived, summary, notes)
		}
	}
}

func TestMistakes(t *testing.T) {
	for arguments, word := range map[string]string{
		"generate inch --scale 4 " + clock:                    "--tags",
		"generate inch --scale 4 --tags 2,3 " + clock:         "--tags 2,3",
		"generate inch --scale 4 --tags 2,two " + clock:       "whole number",
		"generate inch --scale 2 --tags 2 --table x " + clock: "m0",
		"generate " + stress + " --table cpu":                 "ctr",
	} {
		if code, _, notes := run(arguments); code != 2 || !strings.Contains(notes, word) {
			t.Errorf("%s: code %d, %s", arguments, code, notes)
		}
	}
}
