package main

import (
	"runtime"
	"sync"
)

// decideAll decides n seeds on every core and counts the answers.
func decideAll(n int, decide func(seed uint64) [3]answer, into ...*tally) {
	answers := make([][3]answer, n)
	var workers sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for k := range cores {
		workers.Go(func() {
			for seed := k; seed < n; seed += cores {
				answers[seed] = decide(uint64(seed))
			}
		})
	}
	workers.Wait()
	for _, all := range answers {
		for i, t := range into {
			t.add(all[i], 1)
		}
	}
}
