package config

import (
	"regexp"
	"strings"
)

// mask stands for a secret wherever text of the file is shown.
const mask = "***"

// Patterns of secrets. They hide too much rather than too little: whatever follows the name of a key is gone to the end
// of its line.
var (
	userinfo   = regexp.MustCompile(`://[^/\s@"']+@|://[^/\s:"']*:[^0-9/\s"'{][^/\s"']*`)
	knownToken = regexp.MustCompile(`\b(sk-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abp]-|nvapi-|AKIA|eyJ)[A-Za-z0-9_.-]{6,}|(?i:bearer)\s+[^\s"']+`)
	secretName = `[\w.-]*(?:key|secret|passw(?:or)?d|passphrase|token|authorization|credentials?)["']?`
	secretPair = regexp.MustCompile(`(?i)(` + secretName + `\s*[:=]\s*)[^\s].*$`)
	secretFlag = regexp.MustCompile(`(?i)(--?` + secretName + `(?:\s*,\s*|=|\s+))[^\s].*$`)
	secretOpen = regexp.MustCompile(`(?i)` + secretName + `\s*:[^A-Za-z0-9]*$|--?` + secretName + `[^A-Za-z0-9]*$`)
	envOpen    = regexp.MustCompile(`^(\s*)["']?env["']?\s*:\s*(#.*)?$`)
	envInline  = regexp.MustCompile(`(\benv["']?\s*:\s*\{).*$`)
	pair       = regexp.MustCompile(`^(\s*[^\s:#]+\s*:\s*)[^\s].*$`)
	item       = regexp.MustCompile(`^(\s*(?:-\s+)?)[^\s].*$`)
)

// shown masks what looks like a secret by itself.
func shown(s string) string {
	s = userinfo.ReplaceAllString(s, "://"+mask)
	return knownToken.ReplaceAllString(s, mask)
}

// masked is line i, from 0, without what may be a secret: the value of a key that is named like one, anything under env,
// and what follows such a name on the line before.
func (s *source) masked(i int) string {
	line := shown(s.lines[i])
	line = secretFlag.ReplaceAllString(line, "${1}"+mask)
	line = secretPair.ReplaceAllString(line, "${1}"+mask)
	line = envInline.ReplaceAllString(line, "${1}"+mask)
	if s.afterSecret(i) {
		return item.ReplaceAllString(line, "${1}"+mask)
	}
	if s.underEnv(i) {
		if pair.MatchString(line) {
			return pair.ReplaceAllString(line, "${1}"+mask)
		}
		return item.ReplaceAllString(line, "${1}"+mask)
	}
	return line
}

// afterSecret reports whether one of the three lines before line i ends with the name of a secret: its value comes next,
// and in a broken file not always at once.
func (s *source) afterSecret(i int) bool {
	for seen, j := 0, i-1; j >= 0 && seen < 3; j-- {
		if len(s.lines[j]) <= maxShown && secretOpen.MatchString(s.lines[j]) {
			return true
		}
		if strings.TrimSpace(s.lines[j]) != "" {
			seen++
		}
	}
	return false
}

// underEnv reports whether line i is inside a block named env, by indentation alone: it must work in a broken file.
func (s *source) underEnv(i int) bool {
	indent := indentation(s.lines[i])
	for j := i - 1; j >= 0; j-- {
		line := s.lines[j]
		if here := indentation(line); here < 0 || here >= indent {
			continue
		}
		if envOpen.MatchString(line) {
			return true
		}
		indent = indentation(line)
	}
	return false
}

// indentation is the number of leading blanks; −1 for a line that is empty or a comment.
func indentation(line string) int {
	for i, c := range line {
		switch c {
		case ' ', '\t':
		case '#':
			return -1
		default:
			return i
		}
	}
	return -1
}
