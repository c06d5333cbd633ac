package stat

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
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
		{"25 and 10 runs in one campaign", []int{25}, []int{10}, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			base, head := Sample{Sessions: normals(r, 0.1, c.base...)}, Sample{Sessions: normals(r, 0.1, c.head...)}
			if c.same && c.base[0] == c.head[0] {
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

// BenchmarkResample is the loop alone: drawing with replacement, and each value once.
func BenchmarkResample(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	base, head := normals(r, 0.1, 25), normals(r, 0.1, 10)
	turns, others := normals(r, 0.1, 10), normals(r, 0.1, 10)
	ob, oh := abba(10)
	for name, pair := range map[string][2]Sample{
		"25 and 10 runs":            {{Sessions: base}, {Sessions: head}},
		"10 and 10 runs with trend": {{turns, ob}, {others, oh}},
	} {
		p, err := prepare(pair[0], pair[1], Options{SameSession: true})
		if err != nil {
			b.Fatal(err)
		}
		f, _ := p.huber(slices.Concat(p.base.runs, p.head.runs), p.o.Floor)
		t, e := make([]float64, 1000), f.moved(0)
		for way, fill := range map[string]func(uint64){
			"bootstrap": func(seed uint64) { f.resample(t, e, seed) },
			"shuffle":   func(seed uint64) { f.shuffle(t, e, seed) },
		} {
			b.Run(name+"/"+way, func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					fill(uint64(i))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t)), "ns/resample")
			})
		}
	}
}

// BenchmarkTwoHundredComparisons is what a large gate asks for: run it with -cpu 2.
func BenchmarkTwoHundredComparisons(b *testing.B) {
	for name, same := range map[string]bool{"five sessions and one": false, "one campaign": true} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			sessions := []int{5, 5, 5, 5, 5}
			if same {
				sessions = []int{25}
			}
			base, head := Sample{Sessions: normals(r, 0.1, sessions...)}, Sample{Sessions: normals(r, 0.1, 10)}
			for range b.N {
				var workers sync.WaitGroup
				for w := range runtime.GOMAXPROCS(0) {
					workers.Go(func() {
						for i := w; i < 200; i += runtime.GOMAXPROCS(0) {
							if _, err := Compare(base, head, Options{Seed: uint64(i), SameSession: same}); err != nil {
								b.Error(err)
							}
						}
					})
				}
				workers.Wait()
			}
		})
	}
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
