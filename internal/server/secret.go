package server

import (
	"regexp"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/config"
)

const (
	blot     = "***"
	redacted = "[redacted]"
	// shortest is the length in bytes from which a value counts as a secret: blotting out a shorter one, such as "1",
	// would spoil the text and hide nothing.
	shortest = 6
)

var (
	// secretName is a name whose value is nobody's business, in lower case with _ between its words. Too many are better
	// than too few.
	secretName = regexp.MustCompile(
		`(^|_)(\w*(token|secrets?|password|passwd|passphrase|credentials?|authorization|bearer|cookie)|` +
			`\w*(api|access|secret|private|signing|auth)_?keys?|(auth|access|api|bearer)_tokens)\d*(_|$)|` +
			`(^|_)(keys?|pass|pwd|auth|pat|jwt|dsn|connection_string|webhook_url)(_?\d+)?$`)
	// harmless are names of things about a secret, or about tokens of the other kind.
	harmless = regexp.MustCompile(
		`token_(ids?|limit|threshold|count|len|length|size|budget|parser|tree|per)|` +
			`(token|key|secret|password|credentials?|auth|cookie)_(path|file|dir|type|name|cache)`)
	hump   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	joints = regexp.MustCompile(`[-.]+`)
)

// secretNamed says whether a flag or variable is named like a secret: --hf-token, API_KEY, apiKey. "--max-tokens" is not.
func secretNamed(name string) bool {
	name = strings.ToLower(hump.ReplaceAllString(name, "${1}_${2}"))
	name = strings.Trim(joints.ReplaceAllString(name, "_"), "_")
	return secretName.MatchString(harmless.ReplaceAllString(name, ""))
}

// Secrets are the values that must not be seen in what the server of a target says: the API key, and what the
// environment given to its command holds under names of secrets. There may be none.
func Secrets(t config.Target, apiKey string, getenv func(string) string) []string {
	all := []string{apiKey}
	if t.APIKeyEnv != "" {
		all = append(all, getenv(t.APIKeyEnv))
	}
	for _, name := range t.PassEnv {
		if secretNamed(name) {
			all = append(all, getenv(name))
		}
	}
	for name, value := range t.Env {
		if secretNamed(name) {
			all = append(all, value)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return len(s) < shortest })
}

// Redact is a text with "[redacted]" in place of each secret. Secrets of less than six bytes stay.
func Redact(text []byte, secrets []string) []byte {
	secrets = slices.Clone(secrets)
	// The longest first: one secret may be the beginning of another.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= shortest {
			pairs = append(pairs, s, redacted)
		}
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}
