package noise

import (
	"fmt"
	"math"
	"strconv"
)

// Sign is the unit in which changes of the metric are told.
func (m Metric) Sign() string {
	if m.points() {
		return " pts"
	}
	return " %"
}

// Spread writes a standard deviation.
func (m Metric) Spread(sd float64) string { return number(m.Percent(sd)) + m.Sign() }

// Told writes an effect with its interval, and a star where it can be told from nothing.
func (m Metric) Told(e Effect) string {
	change := m.Change(e.Change)
	text := fmt.Sprintf("%s%s ± %s%s", signed(change), number(math.Abs(change)), number(m.Percent(e.Half)), m.Sign())
	if e.Shown() {
		return text + " *"
	}
	return text
}

// Apart writes how far run i is from the middle of the others.
func (m Metric) Apart(i int) string {
	var others []float64
	for j, y := range m.levels {
		if j != i {
			others = append(others, y)
		}
	}
	change := m.Change(m.levels[i] - quantile(others, 0.5))
	return signed(change) + number(math.Abs(change)) + m.Sign()
}

// number writes a fraction in hundredths: two digits, or whole from 10 on.
func number(x float64) string {
	digits := 1
	if math.Abs(x) >= 0.0995 {
		digits = 0
	}
	return strconv.FormatFloat(100*x, 'f', digits, 64)
}

func signed(x float64) string {
	if x < 0 {
		return "−"
	}
	return "+"
}

// Words says how the load stands to what the server can do.
func (q Queue) Words(l Load) string {
	if q.InFlight == 0 {
		return "load: nothing is known of single requests"
	}
	text := fmt.Sprintf("load: %s requests in flight on average", figure(q.InFlight))
	switch {
	case q.Slots > 0:
		text += fmt.Sprintf(", for %d slots; %s of requests found every slot taken", q.Slots, percent(q.Full))
	case l.Rate > 0:
		text += fmt.Sprintf("; TTFT is %s times as long when many are as when few are", figure(q.Climb))
	}
	return text
}

// figure writes a number with two significant digits, small whole ones as they are.
func figure(x float64) string {
	if x >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}
