package world

import (
	"math"
	"math/rand/v2"
)

const (
	servers  = 8    // of the queue, and slots of the closed loop that throughput is counted in
	load     = 0.75 // of the queue
	prefill  = 0.12 // s, median
	decoding = 3.0  // s, median, in the queue
	ttft     = 0.2  // s, median, without a queue
	tpot     = 0.02 // s, median
	output   = 150  // tokens, median
	neighbor = 0.9  // correlation of neighbouring requests
)

// workload is what the prompts and the schedule of a scenario fix once and for all runs.
type workload struct {
	queue   bool
	prompt  []float64 // log factor on TTFT, without a queue
	prefill []float64 // s, in the queue
	decode  []float64 // s, in the queue
	arrival []float64 // s
	tokens  []float64
}

func (w World) workload(r *rand.Rand) *workload {
	n := w.requests()
	k := &workload{queue: w.Queue, tokens: make([]float64, n)}
	for i := range n {
		k.tokens[i] = math.Max(1, math.Floor(output*math.Exp(0.5*r.NormFloat64())))
	}
	if !w.Queue {
		k.prompt = make([]float64, n)
		for i := range n {
			k.prompt[i] = 0.45 * r.NormFloat64()
		}
		return k
	}
	k.prefill, k.decode, k.arrival = make([]float64, n), make([]float64, n), make([]float64, n)
	service := prefill*math.Exp(0.6*0.6/2) + decoding*math.Exp(0.5*0.5/2)
	gap := service / (load * servers)
	at := 0.0
	for i := range n {
		k.prefill[i] = prefill * math.Exp(0.6*r.NormFloat64())
		k.decode[i] = decoding * math.Exp(0.5*r.NormFloat64())
		at += gap * r.ExpFloat64()
		k.arrival[i] = at
	}
	return k
}

// luck is what chance did to one pass of the workload: logarithms of factors.
type luck struct {
	run        float64
	ttft, tpot []float64 // request by request
}

// luck draws a pass that is slower by the logarithm run. Without a queue requests scatter by 0.2 and the host comes and goes
// by 0.08; in the queue both are 0.05, on the work of a request.
func (k *workload) luck(r *rand.Rand, run float64) luck {
	n := len(k.tokens)
	both := make([]float64, 2*n)
	l := luck{run: run, ttft: both[:n:n], tpot: both[n:]}
	own, host := 0.2, wave{spread: 0.08, memory: neighbor}
	if k.queue {
		own, host.spread = 0.05, 0.05
	}
	for i := range n {
		l.ttft[i] = own*r.NormFloat64() + host.next(r)
		l.tpot[i] = 0.08 * r.NormFloat64()
	}
	return l
}

// Effect is how much slower the candidate truly is: 0.2 is 20 %. The zero value is an equal build.
type Effect struct {
	// TTFT multiplies the time to first token of every request, so that all its statistics change by exactly that.
	TTFT float64
	// Service multiplies the work of every request. A queue amplifies it.
	Service float64
}

// pass is one run, request by request.
type pass struct {
	ttft, tpot, e2el []float64
	work             float64 // s of a slot, over all requests
}

func newPass(n int) *pass {
	return &pass{ttft: make([]float64, n), tpot: make([]float64, n), e2el: make([]float64, n)}
}

// serve fills p with what the requests of a pass see.
func (k *workload) serve(p *pass, l luck, e Effect) {
	p.work = 0
	slow := math.Exp(l.run) * (1 + e.Service)
	if k.queue {
		k.wait(p, l, slow)
	} else {
		for i, x := range l.ttft {
			p.ttft[i] = ttft * math.Exp(k.prompt[i]+x) * slow
		}
	}
	pace := tpot * math.Exp(l.run/2) * (1 + e.Service)
	for i := range p.ttft {
		p.ttft[i] *= 1 + e.TTFT
		p.tpot[i] = pace * math.Exp(l.tpot[i])
		p.e2el[i] = p.ttft[i] + p.tpot[i]*(k.tokens[i]-1)
		if !k.queue {
			p.work += p.e2el[i]
		}
	}
}

// wait plays the schedule through the servers: a request goes to the one that is free first.
func (k *workload) wait(p *pass, l luck, slow float64) {
	var free [servers]float64
	for i, x := range l.ttft {
		factor := math.Exp(x) * slow
		first := 0
		for j, t := range free {
			if t < free[first] {
				first = j
			}
		}
		start := math.Max(free[first], k.arrival[i])
		fill := k.prefill[i] * factor
		service := fill + k.decode[i]*factor
		p.ttft[i] = start - k.arrival[i] + fill
		free[first] = start + service
		p.work += service
	}
}
