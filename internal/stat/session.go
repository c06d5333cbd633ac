package stat

// acrossSessions is the interval when the sides come from different sessions: a session's mean is off by an effect of its
// day, and the spread of the base's sessions tells how far. See [Days] for the model.
func acrossSessions(base, head [][]float64, o Options) (delta, daySD float64, i interval) {
	b, h := summarise(base), summarise(head)
	d := fitDays(b, h, o)
	se, df := d.After(0)
	delta = h.mean - b.mean
	return delta, d.SD(), tInterval(delta, se, df, o.Confidence)
}
