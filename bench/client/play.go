package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/load"
	"github.com/benchgate/benchgate/internal/openai"
	"github.com/benchgate/benchgate/internal/stat"
)

// job is a load to play: what each tool is told in its own words.
type job struct {
	Load     string  // open or closed
	Streams  int     // in flight: on average, or always
	Requests int     // in all
	Rate     float64 // requests per second in an open load
	Base     string  // of the server
	Model    string
	Seed     uint32
}

// account is what one tool says of its requests.
type account struct {
	Version string    `json:"version"`
	TTFT    []float64 `json:"ttft"` // seconds, of each successful request
	TPOT    []float64 `json:"tpot"`
	Events  int       `json:"events"` // 0: not told
	Late    float64   `json:"late"`   // p99 of sent minus scheduled, in seconds
	Failed  []string  `json:"failed"` // what was said of each failed request
}

// play is the process of the two clients written in Go.
func play(args []string, out io.Writer) error {
	set := flag.NewFlagSet("play", flag.ContinueOnError)
	set.SetOutput(os.Stderr)
	text := set.String("job", "", "the load, in JSON")
	bare := set.Bool("bare", false, "the bare read loop instead of benchgate's client")
	if err := set.Parse(args); err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal([]byte(*text), &j); err != nil {
		return err
	}
	with := playOwn
	if *bare {
		with = playBare
	}
	requests, err := with(context.Background(), j)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(accountOf(requests))
}

// connections is what is opened ahead: an open load has now and then more in flight than on average.
func (j job) connections() int { return j.Streams + j.Streams/4 + 8 }

func (j job) config() config.Load {
	if j.Load == open {
		return config.Load{Rate: j.Rate, Requests: j.Requests, Burstiness: 1, Seed: j.Seed}
	}
	return config.Load{Concurrency: j.Streams, Requests: j.Requests}
}

func prompt(i int) string { return fmt.Sprintf("stream %d", i) }

// playOwn is benchgate's own path, as a campaign takes it.
func playOwn(ctx context.Context, j job) ([]bench.Request, error) {
	client, err := openai.New(openai.Options{BaseURL: j.Base, Model: j.Model, Connections: j.connections()})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.Open(ctx, j.connections()); err != nil {
		return nil, err
	}
	prompts := make([]openai.Prompt, j.Requests)
	for i := range prompts {
		prompts[i].Text = prompt(i)
	}
	requests, _, err := load.Run(ctx, client, load.Pass{
		Load: j.config(), Prompts: prompts, OutputTokens: []int{tokens}, Exact: true,
	})
	return requests, err
}

func accountOf(requests []bench.Request) account {
	a := account{}
	var late []float64
	for _, r := range requests {
		a.Events += r.Chunks
		late = append(late, r.Sent-r.Scheduled)
		if r.Class != bench.OK {
			a.Failed = append(a.Failed, fmt.Sprintf("%s: %s", r.Class, r.Error))
			continue
		}
		first, _ := r.TTFT()
		each, _ := r.TPOT()
		a.TTFT, a.TPOT = append(a.TTFT, first), append(a.TPOT, each)
	}
	a.Late, _ = stat.Quantile(late, 0.99)
	return a
}
