package command

import "testing"

// Of a dataset that is far too large to be sent, a load that lasts so long
// sends a part, all of which is acknowledged, and ends well.
func TestALoadForATimeEndsWell(t *testing.T) {
	server, at := nullServing(t)
	code, lines, _, notes := run(t, words("load stress --seed 1 --scale 1000 --start 2016-01-01T00:00:00Z --end 2016-01-07T00:00:00Z "+
		"--interval 1s --target influx --url "+at+" --workers 2 --batch-rows 500 --for 50ms")...)
	if code != 0 || len(lines) < 2 {
		t.Fatalf("it ends with %d: %v %s", code, lines, notes)
	}
	last, arrived := lines[len(lines)-1], float64(server.Counts().Rows)
	if last["type"] != "summary" || last["rows"] != arrived || arrived == 0 || arrived >= 6*86400*1000 {
		t.Errorf("%v rows arrived, the summary is %v", arrived, last)
	}
	if last["rows_unsent"] != 0.0 || last["errors"] != 0.0 {
		t.Errorf("what was not to be sent is missed: %v", last)
	}
}
