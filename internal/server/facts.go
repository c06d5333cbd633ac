package server

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// assignment is NAME=value, "name": "value" or Name: value, wherever it stands.
	assignment = regexp.MustCompile(`([A-Za-z_][\w.-]*)(=|["']\s*:\s*|:\s+)("[^"]*"?|'[^']*'?|[^\s"']+)`)
	// flagged is --name value or -H value inside of one argument, as a script for a shell has it.
	flagged = regexp.MustCompile(`(^|\s)(--?[A-Za-z][\w.-]*)(\s+)("[^"]*"?|'[^']*'?|[^\s"'-][^\s"']*)`)
	// whole is an argument that is one assignment, perhaps behind a flag, to its end.
	whole = regexp.MustCompile(`(?s)^((?:--?[A-Za-z][\w.-]*=)?)([\w.-]+)=.+$`)
	// tokenStart is an argument or a value that shows by its first letters that it is a secret.
	tokenStart = regexp.MustCompile(`^(sk-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abps]-|nvapi-|AKIA|ASIA|Bearer\b)`)
	// tokenShape is a secret that shows by itself what it is, in the middle of other text.
	tokenShape = regexp.MustCompile(`(^|[^A-Za-z0-9_-])(` +
		`sk-[\w-]{6,}|hf_[A-Za-z0-9]{8,}|gh[pousr]_\w{6,}|github_pat_\w{6,}|glpat-[\w-]{6,}|xox[abps]-[\w-]{6,}|nvapi-[\w-]{6,}|` +
		`(?:AKIA|ASIA)[A-Z0-9]{12,}|eyJ[\w-]{8,}\.[\w.-]+|(?i:bearer)\s+[^\s"']+|(?i:basic)\s+[\w+/=.~-]{6,})`)
	userInfo  = regexp.MustCompile(`(://)[^/@\s]+@`)
	script    = regexp.MustCompile(`^-[a-z]*c$`)
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./{}*-]+$`)
)

// commandLine writes arguments as a shell would want them, secrets blotted out.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		words[i] = quote(masked(a, before))
	}
	return strings.Join(words, " ")
}

// masked is one argument without what is, or may be, a secret. The argument before it says what it is.
func masked(a, before string) string {
	if secretFlag(before) && !strings.HasPrefix(a, "-") || tokenStart.MatchString(a) {
		return blot
	}
	a = userInfo.ReplaceAllString(a, "${1}"+blot+"@")
	// Outside of a script a value may hold blanks: it ends where the argument does.
	if m := whole.FindStringSubmatch(a); m != nil && !script.MatchString(before) {
		if outer := strings.TrimSuffix(m[1], "="); secretFlag(outer) {
			return m[1] + blot
		}
		if secretNamed(m[2]) || secretFlag(m[2]) {
			return m[1] + m[2] + "=" + blot
		}
	}
	a = tokenShape.ReplaceAllString(a, "${1}"+blot)
	a = assignment.ReplaceAllStringFunc(a, func(s string) string {
		m := assignment.FindStringSubmatch(s)
		if secretNamed(m[1]) || tokenStart.MatchString(strings.Trim(m[3], `"'`)) {
			return m[1] + m[2] + blot
		}
		// What follows may itself be an assignment: --env=NAME=value.
		return m[1] + m[2] + masked(m[3], "-c")
	})
	return flagged.ReplaceAllStringFunc(a, func(s string) string {
		if m := flagged.FindStringSubmatch(s); secretFlag(m[2]) {
			return m[1] + m[2] + m[3] + blot
		}
		return s
	})
}

// secretFlag says whether the argument after this one is a secret, or a header, which may hold one.
func secretFlag(arg string) bool {
	switch arg {
	case "-H", "--header", "--headers", "--proxy-header":
		return true
	}
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && secretNamed(arg)
}

func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// filled replaces {port} in every argument.
func filled(args []string, port string) []string {
	out := slices.Clone(args)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], portMark, port)
	}
	return out
}
