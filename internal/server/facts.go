package server

import (
	"regexp"
	"slices"
	"strings"
)

const blot = "***"

var (
	// secretName is a flag or variable whose value is nobody's business: --hf-token, API_KEY. "--max-tokens" is none.
	secretName = regexp.MustCompile(`(?i)(^|[-_.])(key|apikey|token|secret|password|passwd|credentials?)$`)
	// secretValue is a value that shows by itself what it is.
	secretValue = regexp.MustCompile(`^(sk-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abps]-|AKIA|Bearer )`)
	userInfo    = regexp.MustCompile(`(://)[^/@\s]+@`)
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./{}*-]+$`)
)

// commandLine writes arguments as a shell would want them, secrets blotted out.
func commandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case secretValue.MatchString(a), i > 0 && secretFlag(args[i-1]) && !strings.HasPrefix(a, "-"):
			a = blot
		case joined && (secretName.MatchString(name) || secretValue.MatchString(value)):
			a = name + "=" + blot
		}
		words[i] = quote(userInfo.ReplaceAllString(a, "${1}"+blot+"@"))
	}
	return strings.Join(words, " ")
}

func secretFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && secretName.MatchString(arg)
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
