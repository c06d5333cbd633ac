package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/benchgate/benchgate/internal/bench"
)

// ParseAgainst reads a config of a head that is held against a base: target is the head's, since it is what is under test,
// and everything else is base's, so that a change cannot soften the rules it is judged by. What reference does not set
// comes from target as it stands at base. Rules and scenarios stand at the lines of head's text that ask the same, and at none
// where it no longer does. Both texts have to be sound, the head's too: it is what the next change will be held against. Where
// base has no such file, use [Parse].
func ParseAgainst(name string, head, base []byte) (Config, Edits, error) {
	return against(name, head, base, nil, "")
}

// ParseAgainstBeside is ParseAgainst for a reference with a config of its own: see [ParseBeside].
func ParseAgainstBeside(name string, head, base []byte, besideName string, beside []byte) (Config, Edits, error) {
	t, err := parseTarget(besideName, beside)
	if err != nil {
		return Config{}, Edits{}, err
	}
	return against(name, head, base, &t, filepath.Dir(besideName))
}

func against(name string, head, base []byte, beside *target, folder string) (Config, Edits, error) {
	h, headRoot, e := newReader(name, head)
	if e != nil {
		return Config{}, Edits{}, e
	}
	own, err := h.sound(name, headRoot)
	if err != nil {
		return Config{}, Edits{}, err
	}
	b, baseRoot, e := newReader(name+" at base", base)
	if e != nil {
		return Config{}, Edits{}, e
	}
	b.place, b.base, b.baseFolder = h.place, beside, folder
	c, err := b.sound(name, baseRoot)
	if err != nil {
		return Config{}, Edits{}, err
	}
	edits := Edits{Was: c.Target}
	if was, is := c.Target.Model, own.Target.Model; was != is {
		edits.Model = Edit{"target.model", brief("model", was), brief("model", is)}
	}
	edits.compare("", baseRoot, headRoot)
	c.Target = own.Target
	c.standIn(own)
	return c, edits, nil
}

// Edits are what a head's text changes in its config.
type Edits struct {
	// Was is the target as it stands at base.
	Was Target
	// Target are the changed keys of the target: they have an effect at once, since the head's target is what is under test.
	Target []Edit
	// Keys are outside target: they have no effect before they are merged. Those of base come first, in the order of its
	// text.
	Keys []Edit
	// Model is the change of target.model: the head then measures another model than base did. Its Key is empty where
	// there is none.
	Model Edit
}

// Edit is one changed key, such as gate.rules[0].tolerance, with its value in short. Before is empty where the head adds
// it, After where the head removes it. The texts come from the files: they may hold anything that can be printed.
type Edit struct{ Key, Before, After string }

func (e Edit) String() string {
	switch {
	case e.Before == "":
		return e.Key + ": added " + e.After
	case e.After == "":
		return e.Key + ": removed " + e.Before
	}
	return e.Key + ": " + e.Before + " → " + e.After
}

// Lines are the edits outside target, a line each, at most so many; the last then says how many more there are.
// Edits of what a verdict is made by come first, as a change that means to loosen it makes them.
func (e Edits) Lines(most int) []string {
	keys := slices.Clone(e.Keys)
	slices.SortStableFunc(keys, func(a, b Edit) int { return a.place() - b.place() })
	return linesOf(keys, most)
}

// place is 0 for an edit that may loosen a rule: one that is not merely added, or a waiver. All others are 1.
func (e Edit) place() int {
	rule := strings.HasPrefix(e.Key, "gate") || strings.Contains(e.Key, ".primary") || strings.Contains(e.Key, ".slo")
	if rule && (e.Before != "" || strings.Contains(e.Key, "waivers")) {
		return 0
	}
	return 1
}

// UnderTest is Lines of the edits of target.
func (e Edits) UnderTest(most int) []string { return linesOf(e.Target, most) }

func linesOf(edits []Edit, most int) []string {
	var lines []string
	for i, k := range edits {
		if i == most-1 && len(edits) > most {
			return append(lines, fmt.Sprintf("and %d more", len(edits)-i))
		}
		lines = append(lines, k.String())
	}
	return lines
}

// compare notes where two values differ, as deep inside as it can be told.
func (e *Edits) compare(key string, base, head ast.Node) {
	b, baseMap := base.(*ast.MappingNode)
	h, headMap := head.(*ast.MappingNode)
	if baseMap && headMap {
		e.compareMaps(key, b, h)
		return
	}
	bs, baseList := base.(*ast.SequenceNode)
	hs, headList := head.(*ast.SequenceNode)
	switch {
	case baseList && headList:
		if e.compareLists(key, bs.Values, hs.Values) == 0 && exact(base) != exact(head) && !mappings(bs.Values) {
			e.note(key, base, head) // another order: of rules it means nothing, of arguments it does
		}
	case exact(base) != exact(head):
		e.note(key, base, head)
	}
}

func (e *Edits) compareMaps(key string, base, head *ast.MappingNode) {
	inside := func(name string) string { return strings.TrimPrefix(key+"."+name, ".") }
	was, is := valuesOf(base), valuesOf(head)
	for _, b := range base.Values {
		name := b.Key.GetToken().Value
		switch h := is[name]; {
		case h == nil:
			e.note(inside(name), b.Value, nil)
		case inside(name) == "target":
			var under Edits
			under.compare("target", b.Value, h)
			e.Target = under.Keys
		default:
			e.compare(inside(name), b.Value, h)
		}
	}
	for _, h := range head.Values {
		if name := h.Key.GetToken().Value; was[name] == nil {
			e.note(inside(name), nil, h.Value)
		}
	}
}

func valuesOf(m *ast.MappingNode) map[string]ast.Node {
	values := map[string]ast.Node{}
	for _, v := range m.Values {
		values[v.Key.GetToken().Value] = v.Value
	}
	return values
}

// compareLists passes over entries that both sides have, wherever they stand, compares the rest in order, and says how many
// they are.
func (e *Edits) compareLists(key string, base, head []ast.Node) int {
	was, is := without(base, head), without(head, base)
	for k := range max(len(was), len(is)) {
		switch {
		case k >= len(is):
			e.note(fmt.Sprintf("%s[%d]", key, was[k]), base[was[k]], nil)
		case k >= len(was):
			e.note(fmt.Sprintf("%s[%d]", key, is[k]), nil, head[is[k]])
		default:
			e.compare(fmt.Sprintf("%s[%d]", key, was[k]), base[was[k]], head[is[k]])
		}
	}
	return len(was) + len(is)
}

func mappings(list []ast.Node) bool {
	return !slices.ContainsFunc(list, func(n ast.Node) bool { return n.Type() != ast.MappingType })
}

// without are the places of entries that have no equal among the others.
func without(list, others []ast.Node) []int {
	equal := map[string]int{}
	for _, o := range others {
		equal[exact(o)]++
	}
	var places []int
	for i, n := range list {
		x := exact(n)
		if equal[x]--; equal[x] < 0 {
			places = append(places, i)
		}
	}
	return places
}

func (e *Edits) note(key string, base, head ast.Node) {
	last := key[strings.LastIndex(key, ".")+1:]
	edit := Edit{Key: printable([]rune(shown(key)))}
	if base != nil {
		edit.Before = brief(last, flow(base))
	}
	if head != nil {
		edit.After = brief(last, flow(head))
	}
	e.Keys = append(e.Keys, edit)
}

// flow is a value on one line, as a reader would write it. Its keys are sorted.
func flow(n ast.Node) string {
	return inline(n, func(s scalar) string {
		if s.quoted() {
			return strconv.Quote(s.written())
		}
		return s.written()
	})
}

// exact is a text that differs wherever values do: 5 is not "5", and [a, b] is not ["a, b"].
func exact(n ast.Node) string {
	return inline(n, func(s scalar) string { return fmt.Sprintf("%d%q", s.node.Type(), s.written()) })
}

func inline(n ast.Node, write func(scalar) string) string {
	var parts []string
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, e := range v.Values {
			parts = append(parts, write(scalar{e.Key})+": "+inline(e.Value, write))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case *ast.SequenceNode:
		for _, e := range v.Values {
			parts = append(parts, inline(e, write))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return write(scalar{n})
}

// longestBrief is the number of characters of a value that are shown of it.
const longestBrief = 200

// brief is a value short enough for a sentence, without what may be a secret.
func brief(key, value string) string {
	r := []rune(value)
	if len(r) > 4*longestBrief {
		r = r[:4*longestBrief]
	}
	line := secretPair.ReplaceAllString(key+": "+shown(string(r)), "${1}"+mask)
	r = []rune(strings.TrimPrefix(line, key+": "))
	if len(r) > longestBrief {
		r = append(r[:longestBrief-1:longestBrief-1], '…')
	}
	return printable(r)
}

// Rewritten says of every scenario which facts of a candidate's digest differ from a baseline's since the head changes
// them itself: the model by target.model, the workload by the file of its dataset. Changed reports whether that file, named
// as in the config, differs between base and head.
func (c Config) Rewritten(e Edits, changed func(file string) (bool, error)) (map[string][]string, error) {
	facts := map[string][]string{}
	for _, s := range c.Scenarios {
		if e.Model.Key != "" {
			facts[s.Name] = append(facts[s.Name], bench.KeyModel)
		}
		if s.Dataset.Path == "" {
			continue
		}
		differs, err := changed(s.Dataset.Path)
		if err != nil {
			return nil, fmt.Errorf("dataset of scenario %q: %w", s.Name, err)
		}
		if differs {
			facts[s.Name] = append(facts[s.Name], bench.KeyWorkload)
		}
	}
	return facts, nil
}
