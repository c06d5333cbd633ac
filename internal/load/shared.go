package load

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/openai"
)

// compare numbers the prompts that a run gives again, and measures how much of them a prefix cache could serve.
func (w *Workload) compare() {
	w.cycle = nil
	flat := make([]string, len(w.prompts))
	given := map[string]int{}
	for i, p := range w.prompts {
		flat[i] = flatten(p)
		times := given[flat[i]]
		given[flat[i]] = times + 1
		if times > 0 && w.cycle == nil {
			w.cycle = make([]int, len(w.prompts))
		}
		if times > 0 {
			w.cycle[i] = times
		}
	}
	w.shared = sharedBytes(flat, w.cycle)
}

// sharedBytes is the share of all bytes of the prompts that stand in the same place of another prompt, behind the same
// beginning: in their alphabetical order that is what each has in common with the one before. A prompt with the number of
// its repeat at its head has nothing in common with any.
func sharedBytes(prompts []string, cycle []int) float64 {
	var alone []string
	all, common := 0, 0
	for i, p := range prompts {
		all += len(p)
		if cycle == nil || cycle[i] == 0 {
			alone = append(alone, p)
		}
	}
	slices.Sort(alone)
	for i := 1; i < len(alone); i++ {
		common += commonPrefix(alone[i-1], alone[i])
	}
	return float64(common) / float64(max(1, all))
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// flatten puts a prompt into one string, in the order in which a model reads it and without the place of a salt.
func flatten(p openai.Prompt) string {
	if len(p.Messages) == 0 && len(p.Tokens) == 0 {
		return strings.TrimPrefix(p.Text, unsalted+" ")
	}
	var b []byte
	if len(p.Tokens) > saltTokens {
		for _, t := range p.Tokens[saltTokens:] {
			b = binary.BigEndian.AppendUint32(b, uint32(t))
		}
	}
	for _, m := range p.Messages {
		b = append(append(append(b, m.Role...), 0), m.Content...)
		b = append(b, 0)
	}
	return string(b)
}
