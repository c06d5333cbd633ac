package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// block is a part of a comment that stands together: what opens it, items, and what closes it. Nothing of a block is
// written that has no item. Only its first items may be written, never others.
type block struct {
	name       string // what a reader is told was left out
	head, foot string
	items      []func() string
	swap       bool // an item takes the place of the one before it
	counted    bool // what is left out of it can be said as a number

	texts []string // of the items that were asked for
}

// add gives the block one more item.
func (b *block) add(item func() string) { b.items = append(b.items, item) }

// addText gives the block items that are written already.
func (b *block) addText(items ...string) {
	for _, s := range items {
		b.add(func() string { return s })
	}
}

// text is item i.
func (b *block) text(i int) string {
	if i == len(b.texts) {
		b.texts = append(b.texts, b.items[i]())
	}
	return b.texts[i]
}

// written is the block with its first n items.
func (b *block) written(n int) string {
	switch {
	case n == 0:
		return ""
	case b.swap:
		return b.head + b.text(n-1) + b.foot
	}
	return b.head + strings.Join(b.texts[:n], "") + b.foot
}

// grown is by how much the block grows when item n follows the ones before it.
func (b *block) grown(n int) size {
	s := sizeOf(b.text(n))
	switch {
	case n == 0:
		return s.plus(sizeOf(b.head)).plus(sizeOf(b.foot))
	case b.swap:
		return s.minus(sizeOf(b.text(n - 1)))
	}
	return s
}

// size is how long a text is, in both measures that have a limit.
type size struct{ bytes, characters int }

func sizeOf(s string) size { return size{len(s), utf8.RuneCountInString(s)} }

func (s size) plus(o size) size      { return size{s.bytes + o.bytes, s.characters + o.characters} }
func (s size) minus(o size) size     { return size{s.bytes - o.bytes, s.characters - o.characters} }
func (s size) within(most size) bool { return s.bytes <= most.bytes && s.characters <= most.characters }

// keep says that the first so many items of a block are kept before anything that comes later in the list.
type keep struct {
	block *block
	items int
}

// everything is more items than any block has.
const everything = 1 << 30

// draft is a comment before it is known how much room it has.
type draft struct {
	blocks []*block // as they stand
	keeps  []keep   // the most important first
	where  string   // where a reader finds what was left out
}

// fit writes as much as there is room for, the most important first. With more room nothing is written that would not be
// there with less, in as many items or more: what is kept is always the first part of one list. False says that not even its
// first item fits.
func (d draft) fit(most size) (string, bool) {
	have, best := map[*block]int{}, map[*block]int(nil)
	var used size
	for _, k := range d.keeps {
		for have[k.block] < min(k.items, len(k.block.items)) {
			used = used.plus(k.block.grown(have[k.block]))
			if !used.within(most) {
				return d.text(best), best != nil
			}
			have[k.block]++
			if used.plus(sizeOf(d.missing(have))).within(most) {
				best = clone(have, best)
			}
		}
	}
	return d.text(best), best != nil
}

// clone copies numbers of items into a map that is no longer needed.
func clone(from, into map[*block]int) map[*block]int {
	if into == nil {
		into = map[*block]int{}
	}
	for b, n := range from {
		into[b] = n
	}
	return into
}

func (d draft) text(have map[*block]int) string {
	var s strings.Builder
	for _, b := range d.blocks {
		s.WriteString(b.written(have[b]))
	}
	return s.String() + d.missing(have)
}

// missing says what is left out and where it is. The first block is the verdict.
func (d draft) missing(have map[*block]int) string {
	const named = 5
	var out []string
	numbers, at := map[string]int{}, map[string]int{}
	for _, b := range d.blocks {
		n := len(b.items) - have[b]
		switch {
		case n == 0 || b.name == "":
		case b.counted:
			if numbers[b.name] == 0 {
				at[b.name] = len(out)
				out = append(out, "")
			}
			numbers[b.name] += n
		case have[b] == 0:
			out = append(out, b.name)
		default:
			out = append(out, "some of "+b.name)
		}
	}
	for name, n := range numbers {
		out[at[name]] = count(n, name)
	}
	if len(out) == 0 {
		return ""
	}
	if shown := slices.IndexFunc(d.blocks[1:], func(b *block) bool { return have[b] > 0 }); shown < 0 {
		out = []string{"all else"}
	}
	if len(out) > named {
		out = append(out[:named], "and more")
	}
	return "\n**Left out for length:** " + strings.Join(out, ", ") + ". " + d.where + "\n"
}

// all is what stands in the block between its head and its foot.
func (b *block) all() string {
	s := ""
	for i := range b.items {
		s += b.text(i)
	}
	return s
}
