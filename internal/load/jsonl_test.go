package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

func TestDatasetIsReadInItsOrder(t *testing.T) {
	text := "\xEF\xBB\xBF{\"prompt\":\"one\"}\r\n\n  \n" +
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"output_tokens":7}` + "\n" +
		`{"prompt":"three\n","output_tokens":1}`
	got, err := readJSONL(strings.NewReader(text), "d.jsonl", 9, datasetLimits)
	if err != nil {
		t.Fatal(err)
	}
	one, three, n1, n7 := "one", "three\n", 1, 7
	want := []line{
		{Prompt: &one, number: 1},
		{Messages: []openai.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}}, OutputTokens: &n7, number: 4},
		{Prompt: &three, OutputTokens: &n1, number: 5},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestDatasetFillsAWorkload(t *testing.T) {
	for _, c := range []struct {
		requests int
		texts    []string
		output   []int
	}{
		{1, []string{"one"}, []int{16}},
		{2, []string{"one", "two"}, []int{16, 9}},
		{5, []string{"one", "two", "one", "two", "one"}, []int{16, 9, 16, 9, 16}},
	} {
		w := made(t, scenario(config.Dataset{Kind: "jsonl", Path: "two.jsonl"}, c.requests), noCalibration, openai.Chat)
		if diff := cmp.Diff(prompts(c.texts...), w.prompts); diff != "" {
			t.Errorf("%d prompts (-want +got):\n%s", c.requests, diff)
		}
		if diff := cmp.Diff(c.output, w.OutputTokens()); diff != "" {
			t.Errorf("%d output lengths (-want +got):\n%s", c.requests, diff)
		}
	}
}

func TestDatasetWithoutAnOutputLengthIsRefused(t *testing.T) {
	s := scenario(config.Dataset{Kind: "jsonl", Path: "two.jsonl"}, 2)
	s.OutputTokens = 0
	if _, err := Prompts(s, "testdata", noCalibration, openai.Chat); err == nil || !strings.Contains(err.Error(), `"two.jsonl:1"`) {
		t.Errorf("error %v", err)
	}
}

func TestBadLineIsNamed(t *testing.T) {
	good := `{"prompt":"ok"}` + "\n"
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", `"d.jsonl": no line`},
		{"blank lines only", "\n \n", `"d.jsonl": no line`},
		{"cut", good + `{"prompt":"ab`, `"d.jsonl:2": the line is cut off`},
		{"two objects", good + `{"prompt":"a"}{"prompt":"b"}`, `:2": something stands after`},
		{"a list", good + "[]", `:2": json: cannot unmarshal array`},
		{"a string", good + `"ab"`, `:2": json: cannot unmarshal string`},
		{"null", good + "null", `:2": has neither`},
		{"unknown key", good + good + `{"prompt":"a","output_token":3}`, `:3": json: unknown field "output_token" (a line is an object`},
		{"both", good + `{"prompt":"a","messages":[{"role":"user","content":"x"}]}`, `:2": has both`},
		{"neither", good + `{"output_tokens":3}`, `:2": has neither`},
		{"empty prompt", good + `{"prompt":""}`, `:2": prompt is empty`},
		{"no messages", good + `{"messages":[]}`, `:2": has neither`},
		{"empty content", good + `{"messages":[{"role":"user","content":"a"},{"role":"user"}]}`, `:2": message 2 lacks`},
		{"parts for content", good + `{"messages":[{"role":"user","content":[{"type":"text"}]}]}`, `:2": json: cannot unmarshal array`},
		{"no tokens", good + `{"prompt":"a","output_tokens":0}`, `:2": output_tokens is 0`},
		{"half a token", good + `{"prompt":"a","output_tokens":1.5}`, `:2": json: cannot unmarshal number 1.5`},
		{"endless tokens", good + `{"prompt":"a","output_tokens":1e99}`, `:2": json: cannot unmarshal number`},
		{"too many tokens", good + `{"prompt":"a","output_tokens":9999999}`, `:2": output_tokens is 9999999`},
		{"NaN", good + `{"prompt":"a","output_tokens":NaN}`, `:2": invalid character 'N'`},
		{"conflict", good + "<<<<<<< HEAD\n", `:2": this is a conflict marker`},
		{"LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", `:1": this is a Git LFS pointer`},
		{"not UTF-8", good + "{\"prompt\":\"\xff\"}", `:2": not UTF-8`},
		{"zero bytes", good + "\x00\x00", `:2": invalid character`},
		{"deep", good + `{"messages":` + strings.Repeat("[", 100_000), `:2": `},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readJSONL(strings.NewReader(c.text), "d.jsonl", 9, datasetLimits)
			if err == nil || got != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d lines, error %v, want one that says %q", len(got), err, c.says)
			}
		})
	}
}

func TestABadLineBeyondTheNeededIsRefusedToo(t *testing.T) {
	if _, err := readJSONL(strings.NewReader("{\"prompt\":\"a\"}\n{"), "d.jsonl", 1, datasetLimits); err == nil {
		t.Error("no error")
	}
}

// endless is a line without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestDatasetIsBounded(t *testing.T) {
	_, err := readJSONL(io.LimitReader(endless{}, 200<<20), "d.jsonl", 9, datasetLimits)
	if err == nil || !strings.Contains(err.Error(), `"d.jsonl:1": the line is longer than 4194304 bytes`) {
		t.Errorf("one line: %v", err)
	}
	_, err = readJSONL(strings.NewReader(strings.Repeat("{\"prompt\":\"a\"}\n", 10_000)), "d.jsonl", 9, limits{line: 4096, file: 100_000})
	if err == nil || !strings.Contains(err.Error(), `"d.jsonl": larger than 100000 bytes`) {
		t.Errorf("many lines: %v", err)
	}
	exactly := strings.Repeat(`{"prompt":"a"}`+"\n", 10)
	if _, err := readJSONL(strings.NewReader(exactly), "d.jsonl", 9, limits{line: 16, file: len(exactly)}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
}

func TestAReadErrorIsPassedOn(t *testing.T) {
	broken := errors.New("disk on fire")
	r := io.MultiReader(strings.NewReader("{\"prompt\":\"a\"}\n"), iotest.ErrReader(broken))
	if _, err := readJSONL(r, "d.jsonl", 9, datasetLimits); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// FuzzReadJSONL: what is read can be written and read again.
func FuzzReadJSONL(f *testing.F) {
	for _, seed := range []string{
		`{"prompt":"one"}`,
		"{\"prompt\":\"one\",\"output_tokens\":3}\r\n\n{\"messages\":[{\"role\":\"user\",\"content\":\"u\\u0000\"}]}\n",
		`{"prompt":"\ud800"}`,
		"\xEF\xBB\xBF{\"PROMPT\":\"x\"}",
		`{"prompt":"a","prompt":"b"}`,
		`{"prompt":null,"messages":[{"role":"a","content":"b"}]}`,
		"{\"prompt\":\"a\"}\n{\"prompt\":",
		"<<<<<<< HEAD",
		strings.Repeat("[", 1000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, err := readJSONL(bytes.NewReader(data), "f", 100, limits{line: 1 << 16, file: 1 << 20})
		if err != nil {
			if !strings.Contains(err.Error(), `"f`) {
				t.Fatalf("error without its place: %v", err)
			}
			return
		}
		var again bytes.Buffer
		e := json.NewEncoder(&again)
		for _, l := range lines {
			if err := e.Encode(l); err != nil {
				t.Fatal(err)
			}
		}
		// Written characters may be longer than read ones: the second reading has more room.
		back, err := readJSONL(&again, "f", 100, limits{line: 1 << 20, file: 1 << 24})
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if diff := cmp.Diff(lines, back, cmpopts.IgnoreUnexported(line{})); diff != "" {
			t.Fatalf("written and read again (-want +got):\n%s", diff)
		}
	})
}
