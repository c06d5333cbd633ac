package load

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// Workload is what one scenario asks of a server: a prompt and an output length a request, and the load. It is the same on
// every machine for the same scenario and calibration.
type Workload struct {
	prompts []openai.Prompt // unsalted, in the order of the schedule
	output  []int
	// cycle is how many times the dataset had been used up before each prompt; nil when no prompt comes twice.
	cycle []int
	// shared is the share of prompt tokens that the dataset itself makes some requests of a run have in common.
	shared float64
	load   config.Load
	api    string // what the prompts are sent to: a chat template changes what the model reads
}

// maxRequests bounds one run: a typing error must not fill the memory.
const maxRequests = 10_000_000

// MostRequests is where a closed loop with a time to fill stops, however fast the server is.
const MostRequests = 1_000_000

// Prompts makes the workload of a scenario. The file of a dataset is looked for in folder, which is that of the config file.
// cal is what Calibrate found or what the baseline holds; a jsonl dataset does not need it: see Calibrated. api is
// openai.Chat or openai.Completions.
func Prompts(s config.Scenario, folder string, cal bench.Calibration, api string) (Workload, error) {
	w := Workload{load: s.Load, api: api}
	if s.Load.Requests < 1 || s.Load.Requests > maxRequests {
		return w, fmt.Errorf("scenario %q: %d requests: want 1 to %d", s.Name, s.Load.Requests, maxRequests)
	}
	s.Load.Requests = ahead(s)
	var err error
	switch s.Dataset.Kind {
	case "random":
		err = w.random(s, cal, api)
	case "prefix":
		err = w.prefix(s, cal, api)
	case "jsonl":
		err = w.jsonl(s, folder, api)
	case "sharegpt":
		err = w.shareGPT(s, folder, cal)
	default:
		err = fmt.Errorf("unknown dataset kind %q: want random, jsonl, sharegpt or prefix", s.Dataset.Kind)
	}
	if err != nil {
		return w, fmt.Errorf("scenario %q: %w", s.Name, err)
	}
	return w, nil
}

// A closed loop with a time to fill has prompts of its dataset for so many times its requests, as long as made-up ones
// have no more than so many tokens. Beyond them the same come again.
const (
	aheadTimes  = 8
	aheadTokens = 1 << 23
)

// ahead is how many prompts are made.
func ahead(s config.Scenario) int {
	n := s.Load.Requests
	if s.Load.MinDuration <= 0 {
		return n
	}
	more := min(aheadTimes*n, MostRequests)
	if size := s.Dataset.InputTokens + s.Dataset.PrefixTokens; size > 0 {
		more = min(more, aheadTokens/size)
	}
	return max(n, more)
}

// More makes the prompt of an index beyond those that Salted returns, of the run with the same salt: a prompt comes again
// with a number at its head that it has not had.
func (w Workload) More(salt string, index int) openai.Prompt {
	i := index % len(w.prompts)
	if salt == "" || w.load.ReusePrompts {
		return w.prompts[i]
	}
	times, most := 0, 0
	if w.cycle != nil {
		times, most = w.cycle[i], slices.Max(w.cycle)
	}
	return withSalt(w.prompts[i], salt+" "+strconv.Itoa(index/len(w.prompts)*(most+1)+times))
}

// MadeUp reports whether the prompts of a dataset are made up, so that their lengths are known without them.
func MadeUp(d config.Dataset) bool { return d.Kind == "random" || d.Kind == "prefix" }

// Calibrated reports whether Prompts needs to know how many tokens a word is.
func Calibrated(d config.Dataset) bool { return d.Kind != "jsonl" }

// OutputTokens is how many tokens each request asks for.
func (w Workload) OutputTokens() []int { return w.output }

// SharedTokens is the share of all prompt tokens of a run, from 0 to 1, that a server may take from its prefix cache because
// the scenario wants it to: 1 where prompts are reused, 0 where all text is new. It is an upper bound: what a server that
// keeps everything would find.
func (w Workload) SharedTokens() float64 {
	if w.load.ReusePrompts {
		return 1
	}
	return w.shared
}

// Salted returns the prompts of one run: see Salt. Where the load reuses prompts, or the salt is empty, they are the
// unsalted ones.
//
// In a text the salt is the first word, in a conversation the first word of the first message of the system or the user.
// Token ids have no words: there the first ones are replaced by ids made from the salt. A prompt that the dataset gives
// again gets the number of the repeat as its second word, or it would find its twin in the cache.
func (w Workload) Salted(salt string) []openai.Prompt {
	if salt == "" || w.load.ReusePrompts {
		return w.prompts
	}
	salted := make([]openai.Prompt, len(w.prompts))
	for i, p := range w.prompts {
		word := salt
		if w.cycle != nil && w.cycle[i] > 0 {
			word += " " + strconv.Itoa(w.cycle[i])
		}
		salted[i] = withSalt(p, word)
	}
	return salted
}

// Hash names the workload: SHA-256 over the unsalted prompts, the API that they are sent to, the salt rule, the schedule and the output lengths. The
// schedule stands in it by what makes it, not by its times, whose last bits may differ between processors.
func (w Workload) Hash() string {
	h := sha256.New()
	writeString(h, "benchgate.workload/1")
	rule := saltRule
	if w.load.ReusePrompts {
		rule = "none"
	}
	writeString(h, rule)
	writeString(h, w.api)
	writeString(h, schedule(w.load))
	for i, p := range w.prompts {
		writePrompt(h, p)
		writeInt(h, w.output[i])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func schedule(l config.Load) string {
	if !l.Open() {
		closed := fmt.Sprintf("closed concurrency=%d requests=%d", l.Concurrency, l.Requests)
		if l.MinDuration > 0 {
			closed += " min_duration=" + number(l.MinDuration)
		}
		return closed
	}
	return fmt.Sprintf("open seed=%d rate=%s burstiness=%s requests=%d max_concurrency=%d",
		l.Seed, number(l.Rate), number(l.Burstiness), l.Requests, l.MaxConcurrency)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func writePrompt(h hash.Hash, p openai.Prompt) {
	writeString(h, p.Text)
	writeInt(h, len(p.Tokens))
	for _, t := range p.Tokens {
		writeInt(h, t)
	}
	writeInt(h, len(p.Messages))
	for _, m := range p.Messages {
		writeString(h, m.Role)
		writeString(h, m.Content)
	}
}

// writeString puts the length first, so that no two lists of strings look alike.
func writeString(h hash.Hash, s string) {
	writeInt(h, len(s))
	h.Write([]byte(s))
}

func writeInt(h hash.Hash, n int) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}
