package sim

// lies are faults of an answer that looks sound.
func lies() []fault {
	return []fault{
		{
			Fault: Fault{"ignores-limit", "writes four times as many tokens as asked, and 16 more"},
			shape: func(a *answer) { a.length, a.finish = 4*a.limit+16, "stop" },
		},
		{
			Fault: Fault{"ignores-max-completion-tokens", "obeys max_tokens only; without it writes four times as many tokens, and 16 more"},
			shape: func(a *answer) {
				if !a.oldLimit {
					a.length, a.finish = 4*a.limit+16, "stop"
				}
			},
		},
		{
			Fault: Fault{"ends-early", "stops at a third to all of the tokens asked, whatever ignore_eos and min_tokens say"},
			shape: endEarly,
		},
		{
			Fault: Fault{"no-usage", "never sends usage"},
			shape: func(a *answer) { a.wire.usage = usageNever },
		},
		{
			Fault: Fault{"usage-in-last", "sends usage in the event of the last token"},
			shape: func(a *answer) { a.wire.usage = usageInLast },
		},
		{
			Fault: Fault{"late-usage", "sends usage 300 ms after the last token"},
			shape: func(a *answer) { a.wire.usageDelay = lateUsage },
		},
		{
			Fault: Fault{"wrong-usage", "usage claims twice the tokens that were written"},
			shape: func(a *answer) { a.claims = &[2]int{a.prompt.tokens(), 2 * a.length} },
		},
		{
			Fault: Fault{"negative-usage", "usage claims -1 tokens"},
			shape: func(a *answer) { a.claims = &[2]int{-1, -1} },
		},
		{
			Fault:  Fault{"warm-cache", "serves a repeated prompt from a cache: a tenth of the prefill, cached_tokens in usage"},
			caches: true,
		},
	}
}

func endEarly(a *answer) {
	third := (a.limit + 2) / 3
	a.length = third + int(mix(a.prompt.key)%uint64(a.limit-third+1))
	a.finish = "stop"
}
