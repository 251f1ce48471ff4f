package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/program/programtest"
	"benchbook/benchload/stream"
	"benchbook/experiments/kline-mysql-vs-kv/client/kline"
)

const (
	flags  = "--seed 1 --scale 3 --start 2020-01-06T00:00:00Z --days 2"
	stocks = "kline " + flags
)

// run does a command of the client.
func run(arguments string) (code int, out, notes string) { return programtest.Run(client, arguments) }

// The commands of benchload are there, each group with the dataset kline beside its own.
func TestItIsBenchloadWithMore(t *testing.T) {
	_, help, _ := run("--help")
	_, groups, _ := run("calibrate --help")
	for _, word := range []string{"query --target", "blob --seed", "bars-load", "bars-service", "version"} {
		if !strings.Contains(help, word) {
			t.Errorf("the help leaves %s out", word)
		}
	}
	for _, word := range []string{"calibrate devops", "calibrate kline", "Starts a null server"} {
		if !strings.Contains(groups, word) {
			t.Errorf("the help of calibrate leaves %s out: %s", word, groups)
		}
	}
	if _, text, _ := run("generate kline -h"); !strings.Contains(text, "--days=N ") || !strings.Contains(strings.Join(strings.Fields(text), " "), "finance of kline") {
		t.Errorf("the help of the dataset is %s", text)
	}
	if code, out, _ := run("generate devops --seed 1 --scale 2 --start 2016-01-01T00:00:00Z --end 2016-01-01T00:00:01Z --interval 1s"); code != 0 || strings.Count(out, "\n") != 2*9 {
		t.Errorf("a dataset of benchload ends with %d and is %s", code, out)
	}
}

func TestTheDigestIsOfTheOutput(t *testing.T) {
	code, out, notes := run("generate " + stocks)
	_, line, _ := run("generate " + stocks + " --digest")
	stated := programtest.Last(t, line)
	if code != 0 || stated["rows"] != float64(strings.Count(out, "\n")) || stated["bytes"] != float64(len(out)) {
		t.Errorf("code %d, %s%v", code, notes, stated)
	}
}

func TestTheEndIsThatOfTheDays(t *testing.T) {
	_, days, _ := run("generate " + stocks)
	_, end, _ := run("generate kline --seed 1 --scale 3 --start 2020-01-06T00:00:00Z --end 2020-01-08T00:00:00Z")
	if days != end || strings.Count(days, "\n") != 3*2*240 {
		t.Errorf("%d bars of two days, %d up to the third", strings.Count(days, "\n"), strings.Count(end, "\n"))
	}
}

// A load for a time goes on with later working days, and a whole one has every bar.
func TestLoadsForATime(t *testing.T) {
	server, at := programtest.NullServer(t)
	to := "load " + stocks + " --target influx --url " + at + " --workers 2 --batch-rows 500"
	for options, least := range map[string]float64{" --duration 200ms": 1441, " --duration 1ms --whole": 1440, "": 1440} {
		before := server.Counts().Rows
		code, out, notes := run(to + options)
		summary, arrived := programtest.Last(t, out), float64(server.Counts().Rows-before)
		if code != 0 || summary["rows"] != arrived || arrived < least || summary["errors"] != 0.0 {
			t.Errorf("%s ends with %d: %v rows arrived, %v %s", options, code, arrived, summary, notes)
		}
	}
}

func TestMistakes(t *testing.T) {
	for arguments, word := range map[string]string{
		"generate " + stocks + " --interval 1m":                                         "--interval",
		"generate " + stocks + " --end 2020-01-08T00:00:00Z":                            "--days",
		"generate kline --seed 1 --scale 1 --start 2020-01-06T00:00:00Z --days 1048576": "2262",
		"generate " + stocks + " --table cpu":                                           "allowed are finance",
		"bars-load " + flags + " --target mysql":                                        "such as --url mysql://root@127.0.0.1:3306",
		"bars-load " + flags + " --target mysql --url mysql://root@127.0.0.1":           "it has no port",
		"bars-load " + flags + " --target mysql --url redis://127.0.0.1:1":              "not an address for --target mysql",
		"bars-load " + flags + " --target null --through http://127.0.0.1:1":            "--through is for the packed days of redis",
		"bars-read " + flags + " --target null --requests /nowhere":                     "make it with benchload bars-requests",
		"bars-service --store http://127.0.0.1:1":                                       "not an address of Redis",
	} {
		if code, _, notes := run(arguments); code != 2 || !strings.Contains(notes, word) {
			t.Errorf("%s: code %d, %s", arguments, code, notes)
		}
	}
}

// Golden digests: bytes are never to change by accident.
func TestGoldenDigestsOfFormats(t *testing.T) {
	extent := dataset.Extent{Seed: 4, Scale: 3, Start: 1451606400e9, Interval: 10e9, WindowStart: 1451606400e9, SeriesCount: 3}
	extent.End = kline.NewCalendar(extent.Start).End(1)
	extent.WindowEnd = extent.End
	g := kline.New(extent)
	for name, f := range map[string]format.Format{
		"a3e7a7f62a5fee31": format.NewPostgres(g), "5bff9317c0af2675": format.NewArrow(g), "e942333320c1b43d": format.NewCSV(g),
		"2f14aba0a770b89d": format.NewElasticsearch(g), "b6e17978046e603e": format.NewInflux(g), "8e0be48cba35e617": format.NewOpenTSDB(g),
		"6d682ef8f2ccf7ab": format.NewParquet(g), "e2717b012b275173": format.NewRows(g),
	} {
		s := stream.New(g, f, stream.Options{PieceRows: 100, Workers: 2})
		sum := sha256.New()
		sum.Write(s.Header())
		framed, isFramed := f.(format.Framed)
		for piece, more := s.Next(); more; piece, more = s.Next() {
			if isFramed {
				sum.Write(framed.Place(piece.Bytes))
			} else {
				sum.Write(piece.Bytes)
			}
			s.Release(piece)
		}
		if isFramed {
			sum.Write(framed.Footer())
		}
		s.Close()
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != name {
			t.Errorf("the digest of %T is %s, want %s", f, got, name)
		}
	}
}
