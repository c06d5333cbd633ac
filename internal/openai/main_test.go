package openai

import (
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http prints what a server sends behind its answer; the program's main does the same
	goleak.VerifyTestMain(m)
}
