package frames

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"benchbook/benchload/dataset"
)

func joins(rows int64, table string) *Joins {
	x := extent(rows, 0)
	x.Table = table
	return NewJoins(x)
}

func TestTheBytesOfTheJoinTablesNeverChange(t *testing.T) {
	sum := sha256.Sum256([]byte(lines(t, joins(1000, ""), 2)))
	if got, want := hex.EncodeToString(sum[:]), "6fb7405b15815044d898335c92f0717d2aa60ef7a169019ab43286a4cdcbd0a3"; got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

func TestAnyPartitionOfTheJoinTablesIsTheWhole(t *testing.T) {
	whole := lines(t, joins(1000, ""), 1)
	var parts string
	for _, part := range [][2]int64{{0, 1}, {1, 700}, {701, 299}} {
		x := extent(1000, 0)
		x.SeriesFirst, x.SeriesCount = part[0], part[1]
		parts += lines(t, NewJoins(x), 3)
	}
	if parts != whole {
		t.Error("the parts differ from the whole")
	}
}

// rowsOf reads the rows of line protocol: table, then column and value.
func rowsOf(t *testing.T, text string) map[string][]map[string]string {
	t.Helper()
	rows := map[string][]map[string]string{}
	for line := range strings.Lines(text) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		values, _, _ := strings.Cut(rest, " ")
		table, tags, _ := strings.Cut(head, ",")
		row := map[string]string{}
		for _, pair := range strings.Split(tags+","+values, ",") {
			name, value, _ := strings.Cut(pair, "=")
			row[name] = strings.TrimSuffix(value, "i")
		}
		rows[table] = append(rows[table], row)
	}
	return rows
}

// Nine of ten values of a key are on both sides, and every value is in the row of some table.
func TestNineOfTenKeysMatch(t *testing.T) {
	const size = 20_000
	rows := rowsOf(t, lines(t, joins(size, ""), 2))
	values := func(table, key string) map[string]bool {
		seen := map[string]bool{}
		for _, row := range rows[table] {
			seen[row[key]] = true
		}
		return seen
	}
	for _, want := range []struct {
		table, key           string
		rows, values, common int
	}{
		{"small", "id1", 10, 10, 9},
		{"medium", "id1", 20, 10, 9}, {"medium", "id2", 20, 20, 18}, {"medium", "id5", 20, 20, 18},
		{"big", "id1", size, 10, 9}, {"big", "id2", size, 20, 18}, {"big", "id3", size, size, size * 9 / 10},
	} {
		left, right := values(TableName, want.key), values(want.table, want.key)
		common := 0
		for value := range left {
			if right[value] {
				common++
			}
		}
		if len(rows[want.table]) != want.rows || len(left) != want.values || len(right) != want.values || common != want.common {
			t.Errorf("%s of %s, which has %d rows, has %d values, x has %d, and %d are on both sides; want %+v",
				want.key, want.table, len(rows[want.table]), len(right), len(left), common, want)
		}
	}
}

func TestEveryRowHasItsKeysAsTextAndAValue(t *testing.T) {
	for table, rows := range rowsOf(t, lines(t, joins(2000, ""), 2)) {
		for _, row := range rows {
			for number, text := range map[string]string{"id1": "id4", "id2": "id5", "id3": "id6"} {
				if row[number] != strings.TrimPrefix(row[text], "id") {
					t.Fatalf("%s: %s is %s, but %s is %s", table, number, row[number], text, row[text])
				}
			}
			name := "v2"
			if table == TableName {
				name = "v1"
			}
			value, err := strconv.ParseFloat(row[name], 64)
			if err != nil || value < 0 || value > 100 {
				t.Fatalf("%s: %s is %q", table, name, row[name])
			}
		}
	}
}

func TestATableAloneHasTheSameRows(t *testing.T) {
	whole := lines(t, joins(20_000, ""), 1)
	for i, table := range JoinTableNames() {
		var want strings.Builder
		for line := range strings.Lines(whole) {
			if strings.HasPrefix(line, table+",") {
				want.WriteString(line)
			}
		}
		alone := joins(20_000, table)
		if got := lines(t, alone, 2); got != want.String() {
			t.Errorf("the rows of %s alone differ from those in the whole", table)
		}
		if found, all := dataset.Census(alone)[0], dataset.Census(joins(20_000, ""))[i]; found.Rows != all.Rows || found.Rows != int64(strings.Count(want.String(), "\n")) {
			t.Errorf("%s is counted as %d rows alone and %d in the whole", table, found.Rows, all.Rows)
		}
	}
}
