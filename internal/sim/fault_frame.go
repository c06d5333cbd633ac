package sim

import "time"

const lateUsage = 300 * time.Millisecond

// framings are forms in which a sound stream may arrive. A client that reads the standard reads them all.
func framings() []fault {
	form := func(name, does string, set func(*wireForm)) fault {
		return fault{Fault: Fault{name, does}, shape: func(a *answer) { set(&a.wire) }}
	}
	return []fault{
		form("one-byte-writes", "writes every byte of the stream by itself", func(f *wireForm) { f.split = true }),
		form("crlf", "ends lines with CR LF", func(f *wireForm) { f.eol = "\r\n" }),
		form("cr", "ends lines with CR alone", func(f *wireForm) { f.eol = "\r" }),
		form("mixed-eol", "ends lines with LF, CR LF and CR by turns", func(f *wireForm) { f.mixed = true }),
		form("no-space", "writes data:{…} without the space", func(f *wireForm) { f.field = "data:" }),
		form("fields", "writes event, id and retry lines too", func(f *wireForm) { f.heading = "event: message\nid: 7\nretry: 1000" }),
		form("multiline", "spreads every event's JSON over several data lines", func(f *wireForm) { f.multiline = true }),
		form("comment-in-event", "puts a comment line into every event", func(f *wireForm) { f.comment = " keep-alive" }),
		form("huge-events", "pads every event to more than 128 KiB", func(f *wireForm) { f.padding = 128 << 10 }),
		form("buffered", "holds the whole stream back and sends it at its end, as a buffering proxy does", func(f *wireForm) { f.held = true }),
		form("bursts", "writes five events together, as a proxy that batches does", func(f *wireForm) { f.burst = 5 }),
		form("json-lines", "sends lines of JSON instead of events, as Ollama does on its own paths", func(f *wireForm) {
			f.bare, f.noDone, f.contentType = true, true, "application/x-ndjson"
		}),
		form("finish-early", "sends finish_reason with the first token already", func(f *wireForm) { f.finishEarly = true }),
		form("gzip", "compresses the stream, asked or not", func(f *wireForm) { f.zipped = true }),
		form("no-done", "does not end with [DONE]", func(f *wireForm) { f.noDone = true }),
		form("late-finish", "sends finish_reason in an event of its own", func(f *wireForm) { f.finishApart = true }),
		form("text-plain", "calls the stream text/plain", func(f *wireForm) { f.contentType = "text/plain" }),
		{
			Fault:  Fault{"bom", "begins the stream with a byte order mark"},
			arrive: func(st *stream) error { return st.wire.raw("\xEF\xBB\xBF") },
		},
		{
			Fault: Fault{"empty-data", "sends events with empty data between the tokens"},
			each:  func(st *stream) error { return st.wire.raw("data:\n\n") },
		},
		{
			Fault: Fault{"other-events", "sends a gateway's own events between the tokens"},
			each:  func(st *stream) error { return st.wire.raw("event: ping\ndata: {\"type\":\"ping\"}\n\n") },
		},
		{
			Fault:  Fault{"pings", "sends comment lines before the first token and between tokens"},
			arrive: func(st *stream) error { return st.wire.raw(":\n\n") },
			each:   func(st *stream) error { return st.wire.raw(": ping\n\n") },
		},
	}
}
