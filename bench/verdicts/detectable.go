package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/benchgate/benchgate/internal/stat"
)

// smallest is the table of the smallest change that is found four times in five, by the spread of the runs and their number:
// exp(se·(t(0.975) + t(0.80))) − 1 with se = sd·√(2/n) and 2n − 2 degrees of freedom. It is computed, not simulated.
func smallest(b *bytes.Buffer) {
	counts := []int{3, 5, 6, 8, 10, 15, 20}
	columns := []string{"runs differ by"}
	for _, n := range counts {
		columns = append(columns, fmt.Sprintf("%d a side", n))
	}
	head(b, columns...)
	for _, sd := range []float64{0.05, 0.10, 0.125, 0.17, 0.21, 0.27} {
		fmt.Fprintf(b, "| %.3g %% ", 100*sd)
		for _, n := range counts {
			se := sd * math.Sqrt(2/float64(n))
			fmt.Fprintf(b, "| %.0f %% ", 100*math.Expm1(stat.SmallestDetectable(se, float64(2*n-2), 0.95, 0.80)))
		}
		b.WriteString("|\n")
	}
}
