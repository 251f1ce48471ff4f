package format_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
)

// objects reads JSON objects, one a line.
func objects(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
		var object map[string]any
		if err := decoder.Decode(&object); err != nil || decoder.More() {
			t.Fatalf("%q is not one object: %v", line, err)
		}
		all = append(all, object)
	}
	return all
}

// plain is a value of a JSON object as text; empty for none.
func plain(value any) string {
	switch typed := value.(type) {
	case json.Number:
		return typed.String()
	case string:
		return typed
	}
	return ""
}

func TestElasticsearchHoldsWhatTheTextHolds(t *testing.T) {
	for _, d := range datasets {
		g := d.table("")
		lines := objects(t, bytesOf(g, format.NewElasticsearch(g), 50))
		documents := map[string][]map[string]any{}
		for i := 0; i < len(lines); i += 2 {
			action, ok := lines[i]["index"].(map[string]any)
			if !ok || len(lines[i]) != 1 {
				t.Fatalf("line %d is %v and no action", i, lines[i])
			}
			index := plain(action["_index"])
			documents[index] = append(documents[index], lines[i+1])
		}
		for _, table := range d.names {
			names, want := reference(t, d, table)
			if len(documents[table]) != len(want) {
				t.Fatalf("%s has %d documents, want %d", table, len(documents[table]), len(want))
			}
			for i, document := range documents[table] {
				members := 0
				for column, name := range names {
					got := plain(document[name])
					if column == 0 {
						when, err := time.Parse(time.RFC3339Nano, plain(document["@timestamp"]))
						if err != nil {
							t.Fatal(err)
						}
						got = strconv.FormatInt(when.UnixNano(), 10)
					}
					if got != want[i][column] {
						t.Fatalf("%s, document %d: %s is %q, want %q", table, i, name, got, want[i][column])
					}
					if want[i][column] != "" {
						members++
					}
				}
				if len(document) != members {
					t.Fatalf("%s, document %d has %d members, want %d", table, i, len(document), members)
				}
			}
		}
	}
}

func TestOpenTSDBHoldsWhatTheTextHolds(t *testing.T) {
	for _, d := range datasets {
		g := d.table("")
		found := map[string][]map[string]any{}
		for _, point := range objects(t, bytesOf(g, format.NewOpenTSDB(g), 50)) {
			if len(point) != 4 {
				t.Fatalf("a point has %d members: %v", len(point), point)
			}
			metric := plain(point["metric"])
			found[metric] = append(found[metric], point)
		}
		for _, table := range d.names {
			names, want := reference(t, d, table)
			one := d.table(table)
			for column, name := range names {
				if isTag, field := kindOf(one, column); isTag || field == nil {
					continue
				}
				points := found[table+"."+name]
				for _, row := range want {
					if row[column] == "" {
						continue
					}
					checkPoint(t, one, points[0], names, row, column)
					points = points[1:]
				}
				if len(points) != 0 {
					t.Errorf("%s.%s has %d points too many", table, name, len(points))
				}
			}
		}
	}
}

// checkPoint compares one point with its row.
func checkPoint(t *testing.T, g dataset.Generator, point map[string]any, names, row []string, column int) {
	t.Helper()
	if plain(point["value"]) != row[column] || plain(point["timestamp"])+"000000" != row[0] {
		t.Fatalf("the point %v is not %s = %s at %s", point, names[column], row[column], row[0])
	}
	tags, _ := point["tags"].(map[string]any)
	present := 0
	for tag := 1; tag <= len(g.Tables()[0].Tags); tag++ {
		if row[tag] != plain(tags[names[tag]]) {
			t.Fatalf("the point %v has not the tag %s = %s", point, names[tag], row[tag])
		}
		if row[tag] != "" {
			present++
		}
	}
	if len(tags) != present || strings.ContainsAny(plain(point["metric"]), " \"") {
		t.Fatalf("the point %v has other tags too", point)
	}
}
