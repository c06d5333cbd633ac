package sim

// manners are contents of chunks that some servers send.
func manners() []fault {
	return []fault{
		{
			Fault:  Fault{"role-only-first", "sends a chunk with nothing but the role before it begins to work"},
			arrive: func(st *stream) error { return st.choices(roleOnly(st.answer)) },
		},
		{
			Fault: Fault{"reasoning", "thinks for the first half of its tokens, in reasoning_content"},
			shape: func(a *answer) { a.think("reasoning_content") },
		},
		{
			Fault: Fault{"reasoning-field", "thinks for the first half of its tokens, in reasoning"},
			shape: func(a *answer) { a.think("reasoning") },
		},
		{
			Fault: Fault{"tool-call", "answers a chat by a tool call alone"},
			shape: func(a *answer) {
				if a.chat {
					a.kind, a.finish = toolCall, "tool_calls"
				}
			},
		},
		{
			Fault: Fault{"reasoning-late", "thinks for the last half of its tokens, behind the text"},
			shape: func(a *answer) { a.think("reasoning_content"); a.thinksLate = true },
		},
		{
			Fault: Fault{"text-and-tool", "writes text for the first half of its tokens, then a tool call"},
			shape: func(a *answer) {
				if a.chat {
					a.kind, a.finish, a.toolFrom = toolCall, "tool_calls", a.length/2
				}
			},
		},
		{
			Fault: Fault{"role-each", "names the role in every chunk"},
			shape: func(a *answer) { a.roleEach = true },
		},
		{
			Fault: Fault{"one-event", "sends the whole answer in one event"},
			shape: func(a *answer) { a.perChunk = max(1, a.length) },
		},
		{
			Fault: Fault{"bad-utf8", "writes tokens that are not UTF-8"},
			shape: func(a *answer) { a.suffix = "\xff\xc3(" },
		},
		{
			Fault:   Fault{"cold-start", "takes ten times as long to the first token of its first eight answers"},
			coldFor: 8,
		},
		{
			Fault: Fault{"one-slot", "serves one request at a time, whatever it was started with"},
			slots: 1,
		},
		{
			Fault: Fault{"two-per-chunk", "sends two tokens in each chunk, as speculative decoding does"},
			shape: func(a *answer) { a.perChunk = 2 },
		},
		{
			Fault: Fault{"utf8", "writes tokens of several bytes a letter"},
			shape: func(a *answer) { a.suffix = "·水🌊" },
		},
		{
			Fault: Fault{"odd-chunks", "sends chunks without choices, with null deltas and with null content between the tokens"},
			each:  oddChunks,
		},
	}
}

func (a *answer) think(field string) {
	if a.chat {
		a.thoughts, a.thoughtsIn = a.length/2, field
	}
}

func roleOnly(a *answer) string {
	if !a.chat {
		return `{"index":0,"text":"","logprobs":null,"finish_reason":null}`
	}
	return `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`
}

func oddChunks(st *stream) error {
	odd := []string{"", `{"index":0,"delta":null,"finish_reason":null}`, `{"index":0,"delta":{"content":null},"finish_reason":null}`}
	if !st.answer.chat {
		odd = []string{"", `{"index":0,"text":null,"finish_reason":null}`}
	}
	for _, c := range odd {
		if err := st.choices(c); err != nil {
			return err
		}
	}
	return st.wire.event([]byte(`{"id":"x","object":"chat.completion.chunk"}`))
}
