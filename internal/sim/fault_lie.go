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
			Fault: Fault{"usage-fewer", "usage claims half of the tokens that were written"},
			shape: func(a *answer) { a.claims = &[2]int{a.prompt.tokens(), (a.length + 1) / 2} },
		},
		{
			Fault: Fault{"usage-each", "sends usage so far with every token, and once more at the end"},
			shape: func(a *answer) { a.wire.usage = usageEach },
		},
		{
			Fault:  Fault{"usage-first", "sends usage before the first token and never again"},
			shape:  func(a *answer) { a.wire.usage = usageNever },
			arrive: (*stream).sendUsage,
		},
		{
			Fault: Fault{"usage-before-finish", "sends usage before the finish reason"},
			shape: func(a *answer) { a.wire.usage, a.wire.finishApart = usageBeforeFinish, true },
		},
		{
			Fault: Fault{"hidden-answer", "counts its tokens in usage, but sends none"},
			shape: func(a *answer) { a.unsent, a.wire.finishApart = a.length, true },
		},
		{
			Fault: Fault{"hidden-reasoning", "thinks for the first half of its tokens, counts them in usage and does not send them"},
			shape: func(a *answer) { a.unsent = a.length / 2 },
		},
		{
			Fault: Fault{"two-choices", "answers twice in every chunk, though asked once"},
			shape: func(a *answer) { a.twice, a.claims = true, &[2]int{a.prompt.tokens(), 2 * a.length} },
		},
		{
			Fault:  Fault{"warm-cache", "serves a repeated prompt from a cache: a tenth of the prefill, cached_tokens in usage"},
			caches: true,
		},
		{
			Fault:  Fault{"salt-blind-cache", "serves a prompt from its cache though a new first word makes it new, as a cache of text anywhere in a prompt does"},
			caches: true, saltBlind: true,
		},
	}
}

func endEarly(a *answer) {
	third := (a.limit + 2) / 3
	a.length = third + int(mix(a.prompt.key)%uint64(a.limit-third+1))
	a.finish = "stop"
}
