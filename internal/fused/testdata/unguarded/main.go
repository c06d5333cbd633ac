// Command unguarded prints numbers that depend on whether products are rounded before they are added, and one that does not.
package main

import "fmt"

func main() {
	// Two ways to write the logistic map, which makes any difference grow.
	x, y, r := 0.4, 0.4, 3.9
	for range 100 {
		x = r*x - r*x*x
		y += 2.9*y - r*y*y
	}
	a, b := 0.1, 0.7
	area := a * b
	fmt.Println(x, y, area-0.07, float64(a*b)-0.07)
}
