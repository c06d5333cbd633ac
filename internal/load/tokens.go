package load

import (
	"math"
	"unicode/utf8"
)

// What one token covers of real text, in common tokenizers: a word of so many letters, three digits, or four bytes of
// text that is not ASCII.
const (
	lettersAToken = 9
	digitsAToken  = 3
	bytesAToken   = 4
)

// countTokens estimates how many tokens a text is, for a server that makes perWord tokens of a short English word. It is
// meant for the lengths of a workload, which have to be the same everywhere, and is no tokenizer.
func countTokens(text string, perWord float64) int {
	return int(math.Ceil(float64(pieceCount(text)) * perWord))
}

// pieceCount cuts a text as tokenizers do before they look anything up: words, numbers, signs. A single space belongs to what
// follows it.
func pieceCount(text string) int {
	n := 0
	for i := 0; i < len(text); {
		kind := kindOf(text[i])
		start := i
		for i < len(text) && kindOf(text[i]) == kind {
			i++
		}
		switch size := i - start; kind {
		case letter:
			n += parts(size, lettersAToken)
		case digit:
			n += parts(size, digitsAToken)
		case foreignByte:
			n += parts(size, bytesAToken)
		case sign:
			n += parts(size, 2)
		case space:
			if size > 1 || text[start] != ' ' {
				n++
			}
		}
	}
	return n
}

func parts(size, each int) int { return (size + each - 1) / each }

type byteKind int

const (
	space byteKind = iota
	letter
	digit
	foreignByte
	sign
)

func kindOf(b byte) byteKind {
	switch {
	case b <= ' ':
		return space
	case b >= utf8.RuneSelf:
		return foreignByte
	case b >= '0' && b <= '9':
		return digit
	case b|0x20 >= 'a' && b|0x20 <= 'z':
		return letter
	}
	return sign
}
