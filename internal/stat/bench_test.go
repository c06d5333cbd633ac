package stat

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// normals draws a sample of sessions × runs.
func normals(r *rand.Rand, sd float64, sessions ...int) [][]float64 {
	all := make([][]float64, len(sessions))
	for i, n := range sessions {
		for range n {
			all[i] = append(all[i], sd*r.NormFloat64())
		}
	}
	return all
}

func BenchmarkCompare(b *testing.B) {
	for _, c := range []struct {
		name       string
		base, head []int
		same       bool
	}{
		{"5 and 5 runs", []int{5}, []int{5}, false},
		{"25 and 10 runs", []int{5, 5, 5, 5, 5}, []int{10}, false},
		{"10 and 10 runs with trend", []int{10}, []int{10}, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			base, head := Sample{Sessions: normals(r, 0.1, c.base...)}, Sample{Sessions: normals(r, 0.1, c.head...)}
			if c.same {
				base.Order, head.Order = abba(c.base[0])
			}
			b.ReportAllocs()
			for i := range b.N {
				if _, err := Compare(base, head, Options{Seed: uint64(i), SameSession: c.same}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/9999, "ns/resample")
		})
	}
}

// abba is the order of n pairs in the sequence A B B A.
func abba(n int) (base, head [][]float64) {
	base, head = make([][]float64, 1), make([][]float64, 1)
	for pair := range n {
		first, second := float64(2*pair), float64(2*pair+1)
		if pair%2 == 1 {
			first, second = second, first
		}
		base[0], head[0] = append(base[0], first), append(head[0], second)
	}
	return base, head
}

func BenchmarkLevels(b *testing.B) {
	for _, looks := range [][]int{{6, 8, 10}, {4, 8, 12, 16, 20}} {
		b.Run(fmt.Sprint(looks), func(b *testing.B) {
			for range b.N {
				if _, err := Levels(looks, 0.025); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
