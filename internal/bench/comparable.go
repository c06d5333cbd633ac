package bench

import (
	"maps"
	"slices"
	"strconv"
)

// Fact is one property on both sides; empty is unknown.
type Fact struct{ Name, Base, Head string }

// Comparability says why two digests may not be compared, or what has to be taken on trust.
type Comparability struct {
	// Incomparable holds the facts that differ, or that one side alone knows. Empty: the digests may be compared.
	Incomparable []Fact
	// Unknown names the facts that neither side knows, so that nobody can say whether they agree: a warning.
	Unknown []string
}

// keys are the facts that every digest should know.
var keys = [...]string{
	KeyMachine, KeyAccelerator, KeyDriver, KeyModel, KeyWorkload, KeyTopology, KeyDefinitions, KeyOutput, KeyTool,
}

// Compare says whether two digests of one scenario measured the same thing in the same place. What is under test may
// differ and is not looked at. The SLO is not looked at either: it matters to goodput alone.
func Compare(base, head Digest) Comparability {
	names := map[string]bool{}
	for _, k := range keys {
		names[k] = true
	}
	for k := range base.MustMatch {
		names[k] = true
	}
	for k := range head.MustMatch {
		names[k] = true
	}
	var c Comparability
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.fact(Fact{Name: name, Base: base.MustMatch[name], Head: head.MustMatch[name]})
	}
	if base.Simulated != head.Simulated {
		c.Incomparable = append(c.Incomparable, Fact{"simulated", strconv.FormatBool(base.Simulated), strconv.FormatBool(head.Simulated)})
	}
	// The runner's name is only a name, unless nothing else tells one machine from another.
	if slices.Contains(c.Unknown, KeyMachine) && base.Runner != head.Runner {
		c.Incomparable = append(c.Incomparable, Fact{"runner", base.Runner, head.Runner})
	}
	return c
}

func (c *Comparability) fact(f Fact) {
	switch {
	case f.Base == "" && f.Head == "":
		c.Unknown = append(c.Unknown, f.Name)
	case f.Base != f.Head:
		c.Incomparable = append(c.Incomparable, f)
	}
}
