package campaign

import (
	"fmt"
	"strings"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/host"
	"github.com/benchgate/benchgate/internal/openai"
)

// identity says who answered, and where.
func (d *doctor) identity(caps openai.Capabilities) {
	c := Check{Section: "server", Name: "identity", State: Good, Found: caps.Server()}
	for _, k := range []string{"quantisation", "slots", "context"} {
		if v := caps.Facts[k]; v != "" {
			c.Found += fmt.Sprintf(", %s %s", k, v)
		}
	}
	if caps.Facts[bench.KeyVersion] == "" {
		c.State, c.Why = Warn, "a report cannot say which version was measured"
		c.Next = "note the version in the commit, or in the name of the model"
	}
	d.add(c)
	if len(caps.Models) > 0 && !caps.ModelListed {
		d.add(Check{
			Section: "server", Name: "model", State: Warn, Found: fmt.Sprintf("%q answers, and is not among the models that the server lists: %s", d.target.Model, strings.Join(caps.Models, ", ")),
			Why: "it may be another server, or another model, than you mean", Next: "set target.model to a name that the server lists",
		})
	} else {
		d.good("server", "model", "%s", d.target.Model)
	}
	if host.Local(caps.Address) {
		d.good("server", "host", "%s, this machine: client and server share its cores", caps.Address)
	} else {
		d.good("server", "host", "%s, another machine: the network between is in the numbers", caps.Address)
	}
}

// manners says what preflight found.
func (d *doctor) manners(caps openai.Capabilities) {
	length := Check{Section: "server", Name: "length", State: Good, Found: caps.Length()}
	if !caps.Exact {
		length.State = Warn
		length.Why = "each answer is another workload: ttft and tpot are judged, e2el, output.rate and goodput only while mean lengths agree within 2 %"
		length.Next = "nothing, if ttft and tpot are what you gate; else a server that obeys ignore_eos"
	}
	d.add(length)
	counts := Check{Section: "server", Name: "token counts", State: Good, Found: "by the server's usage"}
	if !caps.Usage {
		counts.State, counts.Found = Warn, "by chunks: the server's usage gives no count"
		if caps.UsageRefused {
			counts.Found = "by chunks: the server refuses stream_options, by which usage is asked for"
		}
		counts.Why = "a chunk may hold several tokens, so tpot and output.rate may be off by that, and are compared with their like alone"
		counts.Next = "let the server send usage in its streams (stream_options.include_usage)"
	}
	d.add(counts)
	stream := Check{Section: "server", Name: "stream", State: Good, Found: "token by token"}
	if caps.Buffered {
		stream.State, stream.Found = Warn, "buffered: a whole answer comes at once"
		stream.Why = "ttft and tpot would be those of whatever holds the stream back, and the gate refuses them"
		stream.Next = "switch off buffering in the proxy before the server (nginx: proxy_buffering off), or measure the server itself"
	}
	d.add(stream)
	reasoning := "none came"
	if caps.Reasoning != "" {
		reasoning = "in " + caps.Reasoning + ": its tokens count for ttft, and ttfot is the first of the answer"
	}
	d.good("server", "reasoning", "%s", reasoning)
	cached := Check{Section: "server", Name: "cached tokens", State: Good, Found: "told"}
	if !caps.CachedTokens {
		cached.Found = "not told: that prompts met no cache rests on their being new to the server"
	}
	d.add(cached)
	d.good("server", "tokenizer", "%s", map[bool]string{true: "/tokenize answers", false: "no /tokenize: the length of prompts comes from usage"}[caps.Tokenize])
}
