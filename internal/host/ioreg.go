package host

import "strings"

// platformUUID finds the machine's id in what ioreg prints; empty when it is not there.
func platformUUID(out string) string {
	for line := range strings.Lines(out) {
		key, value, ok := strings.Cut(line, "=")
		if ok && strings.Trim(key, " |\"") == "IOPlatformUUID" {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
