package load

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// saltRule names the way in which prompts are salted. It is part of the workload's hash: change both together.
const saltRule = "first word/1"

// unsalted stands in a random prompt where the salt goes, so that a salt changes no length. It is not a salt.
const unsalted = "@00000000"

// Salt is the first word of every prompt of one run, so that no run finds its prompts in the server's prefix cache. It is
// the same for both sides of an interleaved pair, which share seed, campaign and number of the run.
//
// It is "#" and eight digits. Letters would do as well for a cache, but a tokenizer cuts a mix of letters and digits into
// now four, now eight tokens; digits alone are cut evenly, one by one or in threes, by every tokenizer in common use.
func Salt(seed uint32, campaign string, run int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "benchgate.salt/1\x00%d\x00%s\x00%d", seed, campaign, run))
	return fmt.Sprintf("#%08d", binary.BigEndian.Uint64(h[:8])%100_000_000)
}
