package sim

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// prompt is what a request asks, in tokens.
type prompt struct {
	ids  []int
	salt uint64 // of the run; 0: none
	key  uint64 // hash of ids
	over int    // tokens that a chat adds
}

// tokens is the length that usage reports.
func (p prompt) tokens() int { return len(p.ids) + p.over }

const (
	chatPerMessage = 3
	chatOpening    = 3
	// Words have ids below saltBase, salts above: so a prompt that arrives as ids still shows which run it belongs to.
	wordBase, wordIDs = 256, 31744
	saltBase, saltIDs = 1 << 20, 1 << 30
)

var salted = regexp.MustCompile(`^#[0-9a-f]{8}$`)

// Key is what Record.Prompt holds for a completion prompt, or a chat of one message, of this text.
func Key(text string) uint64 { return keyOf(idsOf(text)) }

func promptOf(ids []int) prompt {
	p := prompt{ids: ids, key: keyOf(ids)}
	if len(ids) > 0 && ids[0] >= saltBase {
		p.salt = uint64(ids[0])
	}
	return p
}

// unsalted is the key of the prompt without the salts in it.
func (p prompt) unsalted() uint64 {
	return keyOf(slices.DeleteFunc(slices.Clone(p.ids), func(id int) bool { return id >= saltBase }))
}

// chatPrompt joins the messages. The salt may stand at the head of any of them: a system message may come first.
func chatPrompt(messages []string) prompt {
	var ids []int
	salt := uint64(0)
	for _, m := range messages {
		more := promptOf(idsOf(m))
		if salt == 0 {
			salt = more.salt
		}
		ids = append(ids, more.ids...)
	}
	p := promptOf(ids)
	p.salt, p.over = salt, chatPerMessage*len(messages)+chatOpening
	return p
}

func idsOf(text string) []int {
	words := strings.Fields(text)
	ids := make([]int, len(words))
	for i, w := range words {
		ids[i] = idOf(w)
	}
	return ids
}

func idOf(word string) int {
	if word[0] == '#' && salted.MatchString(word) {
		return saltBase + int(fnv1a(word)%saltIDs)
	}
	return wordBase + int(fnv1a(word)%wordIDs)
}

func keyOf(ids []int) uint64 {
	h := mix(uint64(len(ids)))
	for _, id := range ids {
		h = mix(h ^ uint64(id))
	}
	return h
}

func fnv1a(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
