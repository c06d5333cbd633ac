package load

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/openai"
)

// conversation is one entry of a ShareGPT file. What else an entry holds is passed over.
type conversation struct {
	Turns []turn `json:"conversations"`
}

type turn struct {
	From  string `json:"from"`
	Value string `json:"value"`
}

// Who speaks in a ShareGPT file.
var (
	people = []string{"human", "user"}
	models = []string{"gpt", "chatgpt", "assistant", "bing", "bard", "model"}
)

// opening is what a conversation begins with: the first question and the answer that follows it at once.
func (c conversation) opening() (question, answer string, ok bool) {
	i := slices.IndexFunc(c.Turns, func(t turn) bool { return slices.Contains(people, t.From) })
	if i < 0 || i+1 >= len(c.Turns) || !slices.Contains(models, c.Turns[i+1].From) {
		return "", "", false
	}
	question, answer = c.Turns[i].Value, c.Turns[i+1].Value
	return question, answer, strings.TrimSpace(question) != ""
}

// leastTokens is the length below which a question or an answer is not used, as in vllm bench serve.
const leastTokens = 4

// selection chooses conversations from a file. The zero counts mean that nothing was read yet.
type selection struct {
	want    int     // conversations, at the most
	longest int     // tokens of a question
	perWord float64 // tokens
	random  *stream
	chosen  lot
	size    int // bytes of what is chosen
	// What was read, and why some of it was not used.
	read, unpaired, short, long int
}

// ticket is a conversation with the number that it drew.
type ticket struct {
	number   uint64
	place    int // in the file: settles a draw
	question string
	answer   int // tokens
}

// lot is a heap with the greatest number on top.
type lot []ticket

func (l lot) Len() int      { return len(l) }
func (l lot) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l lot) Less(i, j int) bool {
	if l[i].number != l[j].number {
		return l[i].number > l[j].number
	}
	return l[i].place > l[j].place
}
func (l *lot) Push(t any) { *l = append(*l, t.(ticket)) }
func (l *lot) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// take looks at one conversation. Every conversation draws a number, used or not, and the lowest numbers win: each is as
// likely as any other, what is kept does not grow with the file, and asking for more leaves the first ones as they were.
func (s *selection) take(c conversation) error {
	t := ticket{number: s.random.next(), place: s.read}
	s.read++
	question, answer, ok := c.opening()
	if !ok {
		s.unpaired++
		return nil
	}
	asked := countTokens(question, s.perWord)
	t.question, t.answer = question, countTokens(answer, s.perWord)
	switch {
	case asked < leastTokens || t.answer < leastTokens:
		s.short++
		return nil
	case asked > s.longest:
		s.long++
		return nil
	case len(s.chosen) == s.want && t.number >= s.chosen[0].number:
		return nil
	}
	heap.Push(&s.chosen, t)
	s.size += len(question)
	if len(s.chosen) > s.want {
		s.size -= len(heap.Pop(&s.chosen).(ticket).question)
	}
	if s.size > datasetLimits.file {
		return fmt.Errorf("%d chosen questions are more than %d bytes: ask for fewer requests, or for a smaller max_input_tokens", len(s.chosen), datasetLimits.file)
	}
	return nil
}

// result is what was chosen, in the order of the numbers drawn.
func (s *selection) result() ([]ticket, error) {
	if len(s.chosen) == 0 {
		return nil, fmt.Errorf("none of %d conversations can be used: %d have no question with an answer behind it, %d are shorter than %d tokens, %d questions are longer than max_input_tokens, %d",
			s.read, s.unpaired, s.short, leastTokens, s.long, s.longest)
	}
	slices.SortFunc(s.chosen, func(a, b ticket) int {
		if a.number < b.number || a.number == b.number && a.place < b.place {
			return -1
		}
		return 1
	})
	return s.chosen, nil
}

// shareGPT fills in questions of a ShareGPT file, chosen by the seed. An answer may be as long as the one in the file, and
// output_tokens is the ceiling. With fewer conversations than requests it begins anew.
func (w *Workload) shareGPT(s config.Scenario, folder string, cal bench.Calibration) error {
	switch {
	case s.OutputTokens < 1:
		return fmt.Errorf("output_tokens %d: want 1 or more", s.OutputTokens)
	case s.Dataset.Longest < 1:
		return fmt.Errorf("max_input_tokens %d: want 1 or more", s.Dataset.Longest)
	}
	f, err := Open(s.Dataset, folder)
	if err != nil {
		return err
	}
	defer f.Close()
	choice := &selection{want: s.Load.Requests, longest: s.Dataset.Longest, perWord: 1, random: newStream(s.Load.Seed, "sharegpt")}
	if size := cal.TokensPerWord; size > 0.1 && size < 100 {
		choice.perWord = size
	}
	if err := eachConversation(f, conversationLimits, choice.take); err != nil {
		return fmt.Errorf("dataset %q: %w", s.Dataset.Path, err)
	}
	chosen, err := choice.result()
	if err != nil {
		return fmt.Errorf("dataset %q: %w", s.Dataset.Path, err)
	}
	for i := range s.Load.Requests {
		t := chosen[i%len(chosen)]
		w.prompts = append(w.prompts, openai.Prompt{Text: t.question})
		w.output = append(w.output, min(t.answer, s.OutputTokens))
	}
	w.compare()
	return nil
}

// conversationLimits bound a ShareGPT file: the largest in common use has 700 MB.
var conversationLimits = limits{line: 16 << 20, file: 4 << 30}

// eachConversation reads a list of conversations, one at a time, so that the file never stands in memory.
func eachConversation(r io.Reader, max limits, use func(conversation) error) error {
	bounded := &meter{r: r, left: max.file}
	d, err := beginList(bounded)
	if err != nil {
		return err
	}
	number := 0
	for d.More() {
		number++
		bounded.entry = int(d.InputOffset()) + max.line
		c, err := oneConversation(d)
		if err == nil {
			err = use(c)
		}
		if err != nil {
			return fmt.Errorf("conversation %d: %w", number, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("behind conversation %d: %w", number, plainly(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something stands behind the list of %d conversations", number)
	}
	return nil
}

// beginList reads as far as the bracket of the list.
func beginList(r io.Reader) (*json.Decoder, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = bytes.TrimPrefix(head[:n], []byte(byteOrderMark))
	// A rune may be cut off at the end of the head: what is not UTF-8 is found later.
	if err := foreign(head[:min(len(head), 64)]); err != nil && !errors.Is(err, errNotUTF8) {
		return nil, err
	}
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(head), r))
	t, err := d.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, plainly(err)
	case t == json.Delim('{'):
		return nil, errors.New("a ShareGPT file is one list of conversations, and this begins with an object: of one object a line jq -s . makes a list")
	case t != json.Delim('['):
		return nil, fmt.Errorf("a ShareGPT file is one list of conversations, and this begins with %v", t)
	}
	return d, nil
}

func oneConversation(d *json.Decoder) (conversation, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return conversation{}, plainly(err)
	}
	if !utf8.Valid(raw) {
		return conversation{}, errNotUTF8
	}
	var c conversation
	if err := json.Unmarshal(raw, &c); err != nil {
		return conversation{}, fmt.Errorf("%w (want {\"conversations\": [{\"from\": \"human\", \"value\": …}, …]})", err)
	}
	return c, nil
}

// plainly words what a JSON decoder says of a file that ends early or is none.
func plainly(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the file is cut off")
	case errors.As(err, &syntax):
		return fmt.Errorf("%w, about byte %d: is the file damaged, or is this a conflict marker?", err, syntax.Offset)
	}
	return err
}

// meter reads no further than the limits of an entry and of the file. A decoder reads ahead, so an entry may be a little
// longer than its limit.
type meter struct {
	r           io.Reader
	left        int // bytes of the file
	read, entry int // bytes: read so far, and where the entry that is being read has to end; 0: no limit
}

func (m *meter) Read(p []byte) (int, error) {
	switch {
	case m.left <= 0:
		return 0, errors.New("the file is too large")
	case m.entry > 0 && m.read > m.entry:
		return 0, errors.New("it is longer than any conversation")
	}
	n, err := m.r.Read(p[:min(len(p), m.left)])
	m.read += n
	m.left -= n
	return n, err
}
