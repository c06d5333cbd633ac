package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// workload is what a file says of the load it played. It names what has to agree before two imports are compared.
type workload struct {
	// asked is what was set: backend, number of prompts, rate and so on, each with its name, always the same names in the
	// same order. What was not set has no value.
	asked []fact
	// input is the number of prompt tokens of all requests together, −1 where failures hide it. Lengths is a hash over
	// the single prompts' lengths; empty where the file does not hold them.
	input   int
	lengths string
}

type fact struct{ name, value string }

// differs names the first thing on which two workloads disagree; what one of them does not know cannot differ.
func (w workload) differs(o workload) string {
	for i, f := range w.asked {
		if f != o.asked[i] {
			return fmt.Sprintf("%s is %s and %s", f.name, quote(f.value), quote(o.asked[i].value))
		}
	}
	if w.input >= 0 && o.input >= 0 && w.input != o.input {
		return fmt.Sprintf("%d and %d input tokens", w.input, o.input)
	}
	if w.lengths != "" && o.lengths != "" && w.lengths != o.lengths {
		return "the lengths of the prompts"
	}
	return ""
}

// with adds what another pass knows of the same workload.
func (w workload) with(o workload) workload {
	w.input = max(w.input, o.input)
	if w.lengths == "" {
		w.lengths = o.lengths
	}
	return w
}

// String is the workload in words, with a hash over all of them: equal for equal workloads alone.
func (w workload) String() string {
	all := slices.Clone(w.asked)
	if w.input >= 0 {
		all = append(all, fact{"input tokens", fmt.Sprint(w.input)})
	}
	all = append(all, fact{"lengths", w.lengths})
	var words []string
	for _, f := range all {
		if f.value != "" {
			words = append(words, f.name+" "+strings.ToValidUTF8(fmt.Sprintf("%.40s", f.value), "?"))
		}
	}
	return strings.Join(words, ", ") + " #" + hash(fmt.Sprintf("%q", all))
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}
