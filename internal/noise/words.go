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
	text := m.Moved(e)
	if e.Shown() {
		text += " *"
	}
	return text
}

// Moved writes an effect with its interval.
func (m Metric) Moved(e Effect) string {
	low, high := m.Change(e.Change-e.Half), m.Change(e.Change+e.Half)
	return fmt.Sprintf("%s%s (%s to %s)", sign(m.Change(e.Change)), m.Sign(), sign(low), sign(high))
}

// sign writes a fraction in hundredths with its sign; beyond tenfold there is no number worth a place.
func sign(x float64) string {
	if !(x <= 10) {
		return ">1000"
	}
	if x < 0 {
		return "−" + number(-x)
	}
	return "+" + number(x)
}

// Apart writes how far run i is from the middle of the others.
func (m Metric) Apart(i int) string {
	var others []float64
	for j, y := range m.levels {
		if j != i {
			others = append(others, y)
		}
	}
	return sign(m.Change(m.levels[i]-quantile(others, 0.5))) + m.Sign()
}

// number writes a fraction in hundredths: two digits, or whole from 10 on.
func number(x float64) string {
	digits := 1
	if math.Abs(x) >= 0.0995 {
		digits = 0
	}
	return strconv.FormatFloat(100*x, 'f', digits, 64)
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
		if l.Rate > 0 && q.Full > 0.05 {
			text += ", so TTFT's p95 is a time in the queue"
		}
	case l.Rate > 0:
		text += fmt.Sprintf("; the median TTFT is %s times that of requests that came when fewest were", figure(q.Climb))
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
