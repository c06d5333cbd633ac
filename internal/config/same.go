package config

import (
	"reflect"
	"slices"
)

// SameBuild reports whether two configs put the same build under test, beside the same reference, and read the same data for
// every scenario that both have. Rules, loads and limits may differ.
func SameBuild(a, b Config) bool {
	if !reflect.DeepEqual(a.Target, b.Target) || !reflect.DeepEqual(a.Reference, b.Reference) {
		return false
	}
	return !slices.ContainsFunc(a.Scenarios, func(s Scenario) bool {
		other, ok := b.Scenario(s.Name)
		return ok && s.Dataset != other.Dataset
	})
}
