package load

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// prefix fills in prompts that begin like others of their group and go on with words of their own. The salt stands before
// the prefix, so a prefix is shared within a run and with no other run. Groups, prefixes, lengths and words have a
// generator each.
func (w *Workload) prefix(s config.Scenario, cal bench.Calibration, api string) error {
	d := s.Dataset
	if err := checkPrefix(s, cal, api); err != nil {
		return err
	}
	ids := cal.Method == MethodTokens
	size := int(math.Max(1, math.Round(float64(d.PrefixTokens)/perWord(cal))))
	text, tokens := prefixes(s, size, ids)
	seed := s.Load.Seed
	groups, lengths, words := newStream(seed, "groups"), newStream(seed, "lengths"), newStream(seed, "words")
	low, high := bounds(d.InputTokens, d.Range)
	for range s.Load.Requests {
		g := groups.below(d.Groups)
		own := max(leastOwn, payload(d.PrefixTokens+low+lengths.below(high-low+1), cal)-size)
		if ids {
			// The salt replaces the first ids: they are there for it.
			all := append(slices.Clone(tokens[g]), randomTokens(words, own)...)
			w.prompts = append(w.prompts, openai.Prompt{Tokens: all})
		} else {
			w.prompts = append(w.prompts, openai.Prompt{Text: unsalted + " " + text[g] + " " + sentence(words, own)})
		}
		w.output = append(w.output, s.OutputTokens)
	}
	w.compare()
	return nil
}

// prefixes are those of all groups, as text or as token ids.
func prefixes(s config.Scenario, size int, ids bool) (text []string, tokens [][]int) {
	words := newStream(s.Load.Seed, "prefixes")
	for range s.Dataset.Groups {
		if ids {
			tokens = append(tokens, randomTokens(words, max(saltTokens+1, size)))
		} else {
			text = append(text, sentence(words, size))
		}
	}
	return text, tokens
}

func checkPrefix(s config.Scenario, cal bench.Calibration, api string) error {
	d := s.Dataset
	switch {
	case d.PrefixTokens < 1 || d.PrefixTokens > maxInput:
		return fmt.Errorf("prefix_tokens %d: want 1 to %d", d.PrefixTokens, maxInput)
	case d.Groups < 1 || d.Groups > maxTotal/d.PrefixTokens:
		return fmt.Errorf("%d groups of %d prefix_tokens: want 1 to %d tokens", d.Groups, d.PrefixTokens, maxTotal)
	case s.Load.Requests > maxTotal/(d.PrefixTokens+max(1, min(maxInput, d.InputTokens))):
		return fmt.Errorf("%d requests of %d prefix_tokens and %d input_tokens are more than %d tokens", s.Load.Requests, d.PrefixTokens, d.InputTokens, maxTotal)
	}
	return checkRandom(s, cal, api)
}

// perWord is how many tokens a word is, or a token id.
func perWord(cal bench.Calibration) float64 {
	if cal.Method == MethodTokens {
		return 1
	}
	return cal.TokensPerWord
}
