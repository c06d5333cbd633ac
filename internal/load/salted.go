package load

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/openai"
)

// saltTokens is how many token ids of a prompt its salt replaces.
const saltTokens = 4

// withSalt returns the prompt with the salt in it. The prompt itself is not changed.
func withSalt(p openai.Prompt, word string) openai.Prompt {
	switch {
	case len(p.Tokens) > 0:
		return openai.Prompt{Tokens: withTokens(p.Tokens, word)}
	case len(p.Messages) > 0:
		return openai.Prompt{Messages: withMessage(p.Messages, word)}
	default:
		return openai.Prompt{Text: withWord(p.Text, word)}
	}
}

// withWord replaces the place kept for a salt, or goes before the text.
func withWord(text, word string) string {
	if rest, kept := strings.CutPrefix(text, unsalted+" "); kept {
		return word + " " + rest
	}
	return word + " " + text
}

func withMessage(messages []openai.Message, word string) []openai.Message {
	salted := slices.Clone(messages)
	first := slices.IndexFunc(salted, func(m openai.Message) bool { return m.Role == "system" || m.Role == "user" })
	first = max(first, 0)
	salted[first].Content = withWord(salted[first].Content, word)
	return salted
}

func withTokens(tokens []int, word string) []int {
	salted := slices.Clone(tokens)
	h := sha256.Sum256([]byte(word))
	for i := range min(saltTokens, len(salted)) {
		salted[i] = token(uint64(binary.BigEndian.Uint32(h[4*i:])) << 32)
	}
	return salted
}
