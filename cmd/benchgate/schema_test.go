package main

import (
	"bytes"
	"testing"
)

// A campaign has a line for each request: what reads the schema anew for each would take minutes for a night's.
func TestACampaignIsCheckedByOneReadingOfTheSchema(t *testing.T) {
	line := []byte(`{"request":{"scenario":"chat","run":1,"i":0,"scheduled":0,"sent":0,"end":0,"class":"ok"}}` + "\n")
	cost := func(lines int) float64 {
		data := bytes.Repeat(line, lines)
		return testing.AllocsPerRun(1, func() {
			if problems, err := (schemaCmd{Kind: "campaign"}).problems(data); err != nil || len(problems) > 0 {
				t.Fatalf("%d lines: %q, %v", lines, problems, err)
			}
		})
	}
	if one, hundred := cost(1), cost(100); hundred > 5*one {
		t.Errorf("a line takes %v allocations, a hundred %v", one, hundred)
	}
}
