package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

func talks(longest, output, requests int) config.Scenario {
	s := scenario(config.Dataset{Kind: "sharegpt", Path: "talks.json", Longest: longest}, requests)
	s.OutputTokens = output
	return s
}

func TestShareGPTAsksTheFirstQuestionOfEachConversation(t *testing.T) {
	w := made(t, talks(60, 20, 4), noCalibration, openai.Chat)
	got := map[string]int{}
	for i, p := range w.prompts {
		got[p.Text] = w.output[i]
	}
	want := map[string]int{
		"Explain to a curious child how a bicycle stays upright.":   20,
		"Write two sentences about the tide, and none about ships.": 20,
		"Is water wet, and is ice wet, in your opinion?":            15,
		"Nenne drei Vögel, die im Winter im Garten bleiben.":        19,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("questions and the lengths of their answers (-want +got):\n%s", diff)
	}
}

func TestShareGPTCountsTokensByTheCalibration(t *testing.T) {
	double := bench.Calibration{Method: MethodUsage, TokensPerWord: 2, Overhead: 20}
	once, twice := made(t, talks(60, 1000, 4), noCalibration, openai.Chat), made(t, talks(120, 1000, 4), double, openai.Chat)
	for i, n := range once.output {
		if twice.output[i] != 2*n {
			t.Errorf("answer %d: %d tokens, and %d where a word is two", i, n, twice.output[i])
		}
	}
}

func TestShareGPTBeginsAnewWhenItIsUsedUp(t *testing.T) {
	w := made(t, talks(60, 20, 10), noCalibration, openai.Chat)
	if diff := cmp.Diff(w.prompts[:4], w.prompts[4:8]); diff != "" {
		t.Errorf("second time around (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2}, w.cycle); diff != "" {
		t.Errorf("repeats (-want +got):\n%s", diff)
	}
}

func TestAnotherSeedChoosesOtherConversations(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint32(20) {
		s := talks(60, 20, 4)
		s.Load.Seed = seed
		orders[fmt.Sprint(made(t, s, noCalibration, openai.Chat).prompts)] = true
	}
	if len(orders) < 10 {
		t.Errorf("20 seeds give %d orders of 24", len(orders))
	}
}

// many is a file of n conversations whose questions are numbered.
func many(n int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"conversations":[{"from":"human","value":"question number %d of this file"},{"from":"gpt","value":"one two three four five"}]}`, i)
	}
	return b.String() + "]"
}

func choose(t *testing.T, text string, want int, seed uint32) []ticket {
	t.Helper()
	s := &selection{want: want, longest: 100, perWord: 1, random: newStream(seed, "sharegpt")}
	if err := eachConversation(strings.NewReader(text), conversationLimits, s.take); err != nil {
		t.Fatal(err)
	}
	chosen, err := s.result()
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

func TestAskingForMoreConversationsKeepsTheFirst(t *testing.T) {
	text := many(300)
	few, more := choose(t, text, 10, 42), choose(t, text, 200, 42)
	if diff := cmp.Diff(few, more[:10], cmp.AllowUnexported(ticket{})); diff != "" {
		t.Errorf("first ten (-few +more):\n%s", diff)
	}
}

func TestEveryConversationIsAsLikelyAsAnyOther(t *testing.T) {
	const of, want, seeds = 20, 5, 2000
	text, times := many(of), make([]int, of)
	for seed := range uint32(seeds) {
		for _, c := range choose(t, text, want, seed) {
			times[c.place]++
		}
	}
	// 500 each, standard deviation 19.
	for place, n := range times {
		if math.Abs(float64(n)-seeds*want/of) > 100 {
			t.Errorf("conversation %d was chosen %d times of %d", place, n, seeds)
		}
	}
}

func TestDuplicateQuestionsAreToldApart(t *testing.T) {
	path := t.TempDir() + "/d.json"
	one := `{"conversations":[{"from":"human","value":"what is the time of day"},{"from":"gpt","value":"it is half past nine"}]}`
	if err := os.WriteFile(path, []byte("["+one+","+one+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := talks(60, 20, 2)
	s.Dataset.Path = path
	got := made(t, s, noCalibration, openai.Chat).Salted("#12345678")
	if diff := cmp.Diff(prompts("#12345678 what is the time of day", "#12345678 1 what is the time of day"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBadConversationsAreNamed(t *testing.T) {
	good := `{"conversations":[{"from":"human","value":"a question of five words"},{"from":"gpt","value":"an answer of five words"}]}`
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "the file is empty"},
		{"white space", " \n ", "the file is empty"},
		{"one object", good, "begins with an object: of one object a line jq -s . makes a list"},
		{"a number", "7", "begins with 7"},
		{"a word", "hello", "invalid character 'h'"},
		{"no conversation", "[]", "none of 0 conversations can be used"},
		{"LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"},
		{"conflict", "<<<<<<< HEAD\n[]", "conflict marker"},
		{"conflict within", "[" + good + "\n=======\n" + good + "]", "is this a conflict marker?"},
		{"UTF-16", "\xFF\xFE[\x00]\x00", "UTF-16"},
		{"not UTF-8", `[{"conversations":[{"from":"human","value":"` + "\xff" + `"}]}]`, "conversation 1: not UTF-8"},
		{"cut between", "[" + good + ",", "conversation 2: the file is cut off"},
		{"cut within", "[" + good + "," + good[:40], "conversation 2: the file is cut off"},
		{"cut at the end", "[" + good, "behind conversation 1: the file is cut off"},
		{"something behind", "[" + good + "] 7", "something stands behind the list of 1 conversations"},
		{"a second list", "[" + good + "][" + good + "]", "something stands behind"},
		{"numbers for entries", "[" + good + ",7]", "conversation 2: json: cannot unmarshal number"},
		{"lists for entries", "[[]]", "conversation 1: json: cannot unmarshal array"},
		{"a number for text", `[{"conversations":[{"from":"human","value":7}]}]`, "conversation 1: json: cannot unmarshal number"},
		{"text for turns", `[{"conversations":"human: hi"}]`, "conversation 1: json: cannot unmarshal string"},
		{"another format", `[{"instruction":"do","output":"done"}]`, "none of 1 conversations can be used: 1 have no question with an answer"},
		{"nulls", `[null,{"conversations":null},{"conversations":[null,null]}]`, "none of 3 conversations can be used: 3 have no question"},
		{"unknown speakers", `[{"conversations":[{"from":"A","value":"a b c d e"},{"from":"B","value":"a b c d e"}]}]`, "1 have no question"},
		{"only short ones", `[{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"hello"}]}]`, "1 are shorter than 4 tokens"},
		{"only long ones", `[{"conversations":[{"from":"human","value":"` + strings.Repeat("word ", 101) + `"},{"from":"gpt","value":"a b c d e"}]}]`, "1 questions are longer than max_input_tokens, 100"},
		{"deep", "[" + strings.Repeat("[", 100_000), "conversation 1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &selection{want: 5, longest: 100, perWord: 1, random: newStream(1, "sharegpt")}
			err := eachConversation(strings.NewReader(c.text), conversationLimits, s.take)
			if err == nil {
				_, err = s.result()
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestShareGPTIsReadAfterAByteOrderMark(t *testing.T) {
	if n := len(choose(t, byteOrderMark+many(3), 9, 1)); n != 3 {
		t.Errorf("%d conversations, want 3", n)
	}
}

func TestAFileOfConversationsIsBounded(t *testing.T) {
	use := func(conversation) error { return nil }
	endlessEntry := io.MultiReader(strings.NewReader(`[{"conversations":[{"from":"human","value":"`), io.LimitReader(endless{}, 1<<30))
	if err := eachConversation(endlessEntry, limits{line: 1 << 20, file: 1 << 30}, use); err == nil || !strings.Contains(err.Error(), "conversation 1: it is longer than any conversation") {
		t.Errorf("an endless entry: %v", err)
	}
	if err := eachConversation(strings.NewReader(many(1000)), limits{line: 1 << 10, file: 10_000}, use); err == nil || !strings.Contains(err.Error(), "the file is too large") {
		t.Errorf("a large file: %v", err)
	}
	spaces := io.MultiReader(strings.NewReader("["), io.LimitReader(blank{}, 1<<30))
	if err := eachConversation(spaces, limits{line: 1 << 20, file: 1 << 22}, use); err == nil {
		t.Error("nothing but white space: no error")
	}
}

// blank is white space without end.
type blank struct{}

func (blank) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// What is chosen does not grow with the file: of a large one only the requests' own questions are kept.
func TestOnlyTheChosenConversationsAreKept(t *testing.T) {
	s := &selection{want: 7, longest: 100, perWord: 1, random: newStream(1, "sharegpt")}
	most := 0
	err := eachConversation(strings.NewReader(many(5000)), conversationLimits, func(c conversation) error {
		most = max(most, len(s.chosen))
		return s.take(c)
	})
	if err != nil || most > 7 || s.read != 5000 {
		t.Errorf("%d kept of %d, error %v", most, s.read, err)
	}
}

func TestPiecesAreCountedLikeATokenizerCuts(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "word": 1, " two words": 2, "internationally": 2, "1234567": 3, "a,b": 3, "(x)": 3, "!!!": 2,
		"line\nline": 3, "tab\tb": 3, "two  spaces": 3, "né": 2, "Москва": 3, "人工智能": 3,
	} {
		if got := pieceCount(text); got != want {
			t.Errorf("%q has %d pieces, want %d", text, got, want)
		}
	}
}

// FuzzShareGPT: what is read can be written and read again, and the same questions are chosen.
func FuzzShareGPT(f *testing.F) {
	for _, seed := range []string{
		many(3), "[]", "[{}]", "[null]", byteOrderMark + many(1), "[" + strings.Repeat("[", 1000),
		`[{"conversations":[{"from":"human","value":"\ud800 a b c d"},{"from":"gpt","value":"\u0000 a b c d"}],"x":1e999}]`,
		`[{"CONVERSATIONS":[{"FROM":"user","Value":"a b c d e"},{"from":"model","value":"a b c d e"}]}] `,
		"<<<<<<< HEAD", "version https://git-lfs.github.com/spec/v1", `{"conversations":[]}`, "[1,2", "[\xff]",
	} {
		f.Add([]byte(seed))
	}
	pick := func(data []byte) ([]conversation, []ticket, error) {
		var all []conversation
		s := &selection{want: 3, longest: 50, perWord: 1.5, random: newStream(7, "sharegpt")}
		err := eachConversation(bytes.NewReader(data), limits{line: 1 << 20, file: 1 << 24}, func(c conversation) error {
			all = append(all, c)
			return s.take(c)
		})
		slices.SortFunc(s.chosen, func(a, b ticket) int { return a.place - b.place })
		return all, s.chosen, err
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, chosen, err := pick(data)
		if err != nil || len(all) == 0 {
			return
		}
		again, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		back, same, err := pick(again)
		if err != nil {
			t.Fatalf("reading what was written: %v", err)
		}
		if diff := cmp.Diff(all, back); diff != "" {
			t.Fatalf("written and read again (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(chosen, same, cmp.AllowUnexported(ticket{})); diff != "" {
			t.Fatalf("chosen (-want +got):\n%s", diff)
		}
	})
}
