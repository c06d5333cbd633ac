package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/benchgate/benchgate/internal/sim"
)

type simCmd struct {
	Listen     string        `default:"127.0.0.1:8000" placeholder:"ADDR" help:"Where to listen."`
	Slots      int           `default:"8" help:"Requests served at once; more wait in a queue."`
	TTFT       time.Duration `name:"ttft" default:"30ms" help:"Prefill time of one request on an idle server."`
	TPOT       time.Duration `name:"tpot" default:"7.5ms" help:"Time per output token on an idle server."`
	RunSD      float64       `name:"run-sd" default:"0.03" help:"Log-sd between runs."`
	RequestSD  float64       `name:"request-sd" default:"0.05" help:"Log-sd between requests."`
	LoadFactor float64       `default:"0.35" help:"How much slower all work is with every slot busy: 0.35 is 35 percent."`
	Slow       string        `default:"0%" placeholder:"PERCENT" help:"Make everything slower by so much, as in 25%."`
	Seed       uint64        `default:"1" help:"Seed of all noise."`
	Fault      string        `placeholder:"NAME" help:"Misbehave; list prints the ways."`
	Model      string        `default:"simulated-8b" help:"Model name; it always says that it is simulated."`
}

// Run serves until interrupted.
func (c simCmd) Run(sh *shell) error {
	if c.Fault == "list" {
		for _, f := range sim.Faults() {
			fmt.Fprintf(sh.stdout, "%s\t%s\n", f.Name, f.Does)
		}
		return nil
	}
	slow, err := percent(c.Slow)
	if err != nil {
		return withHint(fmt.Errorf("--slow: %w", err), "write --slow 25%%")
	}
	s, err := sim.Listen(sim.Options{
		Model: c.Model, Slots: c.Slots, TTFT: c.TTFT, TPOT: c.TPOT, PrefillTokens: sim.Defaults().PrefillTokens, LoadFactor: c.LoadFactor, RunSD: c.RunSD, RequestSD: c.RequestSD,
		Slow: slow, Seed: c.Seed, Fault: c.Fault,
	}, c.Listen)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(sh.stdout, "simulated server on %s\n", s.BaseURL())
	select {
	case <-sh.ctx.Done():
		return nil
	case <-s.Done():
		return errors.New("the simulated server died, as its fault says")
	}
}

// percent reads a percentage such as "25%" as a fraction.
func percent(text string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	if !ok {
		return 0, fmt.Errorf("%q has no percent sign", text)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no percentage", text)
	}
	return v / 100, nil
}

// simulate starts a simulated server, and says how to reach it where that is not the network.
func (sh *shell) simulate(o sim.Options) (*sim.Running, func(context.Context, string, string) (net.Conn, error), error) {
	if sh.memory {
		m := sim.NewMemory()
		return sim.Serve(sim.New(o), m), m.Dial, nil
	}
	s, err := sim.Listen(o, "127.0.0.1:0")
	return s, nil, err
}
