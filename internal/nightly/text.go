package nightly

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchgate/benchgate/internal/baseline"
)

// Limits of the text of the pull request; GitHub's own is 65,536 characters.
const (
	mostLines   = 40  // nights, or baselines
	mostRunes   = 600 // of one sentence
	mostColumns = 80  // of a line in a block, where it breaks at words
)

// Title is that of the standing pull request.
func (r Result) Title() string {
	joined, refused := len(names(r.Joined())), len(names(r.Refused()))
	switch {
	case joined+refused == 0:
		return "baselines: nothing to merge"
	case refused == 0:
		return "baselines: " + join(joined)
	case joined == 0:
		return "baselines: " + several(refused, "night is refused", "nights are refused")
	}
	return "baselines: " + join(joined) + ", " + several(refused, "is refused", "are refused")
}

func join(n int) string { return several(n, "night joins", "nights join") }

func several(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// names are the nights, each once whatever the number of its runners.
func names(all []baseline.Replayed) []string {
	var once []string
	seen := map[string]bool{}
	for _, n := range all {
		if !seen[n.Night] {
			once = append(once, n.Night)
		}
		seen[n.Night] = true
	}
	return once
}

// message is that of the proposed commit.
func (r Result) message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Title())
	for _, g := range r.Grown {
		fmt.Fprintf(&b, "%s/%s/%s: %s\n", baseline.Folder, g.Runner, g.Scenario, g.sessions())
	}
	return b.String()
}

func (g Growth) sessions() string {
	switch {
	case g.Was == 0:
		return fmt.Sprintf("new, %d sessions", g.Is)
	case g.Was == g.Is:
		return fmt.Sprintf("%d sessions, the oldest made room", g.Is)
	}
	return fmt.Sprintf("%d sessions, had %d", g.Is, g.Was)
}

// Body is the text of the standing pull request, in Markdown: what merging it does, where each night stands, and what to do
// about those that were refused. Texts out of digests stand in a block in which nothing of them has a meaning.
func (r Result) Body(at Repository) string {
	var b strings.Builder
	if len(r.Grown) > 0 {
		fmt.Fprintf(&b, "Nights of `%s` measured what its baselines do not hold yet. Merging this accepts them: from then on pull requests are held against these files.\n\n", at.Main)
		b.WriteString("| baseline | sessions |\n|---|---|\n")
		for i, g := range r.Grown {
			if i == mostLines {
				fmt.Fprintf(&b, "| and %d more | |\n", len(r.Grown)-i)
				break
			}
			fmt.Fprintf(&b, "| `%s/%s/%s.json` | %s |\n", baseline.Folder, g.Runner, g.Scenario, g.sessions())
		}
		b.WriteString("\n")
	} else {
		b.WriteString("No night joins the baselines, so there is nothing to merge here yet.\n\n")
	}
	if block := r.Told(); block != "" {
		b.WriteString("What became of each night, the newest last:\n\n" + block)
	}
	if refused := r.Refused(); len(refused) > 0 {
		b.WriteString(whatToDo(at, refused[len(refused)-1]))
	}
	fmt.Fprintf(&b, "\n%s\n", notes)
	return b.String()
}

// Told says of each night whether it joins or is refused, and below it why, in a block of Markdown; "" where there is none.
func (r Result) Told() string {
	var nights []string
	for _, n := range r.Nights {
		switch {
		case n.Place == baseline.Joined && n.Why == "":
			nights = append(nights, entry(n, "joins"))
		case n.Place == baseline.Joined:
			nights = append(nights, entry(n, "joins, but mind:"))
		case n.Place == baseline.Refused:
			nights = append(nights, entry(n, "REFUSED:"))
		}
	}
	if len(nights) == 0 {
		return ""
	}
	earlier := ""
	if more := len(nights) - mostLines; more > 0 {
		nights, earlier = nights[more:], fmt.Sprintf("and %d nights before these\n", more)
	}
	return "~~~text\n" + earlier + strings.Join(nights, "") + "~~~\n"
}

// entry is one night. Why stands below it, indented so far that nothing in it ends the block, and in lines that need no
// scrolling.
func entry(n baseline.Replayed, place string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", n.Night, n.Runner, place)
	at := mostColumns
	for _, word := range strings.Fields(oneLine(n.Why)) {
		if wide := utf8.RuneCountInString(word) + 1; at+wide > mostColumns {
			b.WriteString("\n   ")
			at = 3
		}
		b.WriteString(" " + word)
		at += utf8.RuneCountInString(word) + 1
	}
	return b.String() + "\n"
}

func whatToDo(at Repository, n baseline.Replayed) string {
	return fmt.Sprintf(`
A night that is refused is not dropped in silence: it stays on branch `+"`%s`"+`, and the nightly job is red until somebody decides.

- **It is slower, or faster, by mistake**: mend it. The nights after that join again, and once one of them is merged here, this night is passed over.
- **It is meant**: begin a new epoch with it, in a pull request of your own. The nights after it follow.
  `+"```sh"+`
  git fetch origin %s && git worktree add --detach ../kept FETCH_HEAD
  benchgate baseline accept ../kept/%s/%s/%s --new-epoch --reason "why the level changed"
  `+"```"+`
- **It was the machine**: leave it. Once a later night is merged here, this one is passed over.
`, at.Data, at.Data, folder, n.Night, n.Runner)
}

const notes = "This branch is written anew by every night; what else is committed to it is lost. A pull request that a workflow opens with its own " +
	"token starts no other workflow, or leaves it waiting for approval: to run the required checks, approve them, or close this and open it again, " +
	"or give the nightly job the token of a GitHub App."

// oneLine makes a foreign text fit for one line of a block: no controls, nothing without width, not too long.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case !unicode.IsGraphic(r), unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > mostRunes {
		s = string([]rune(s)[:mostRunes-1]) + "…"
	}
	return s
}
