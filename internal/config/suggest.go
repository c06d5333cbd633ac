package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// fieldsOf maps the keys of a block to the types of their values.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		fields[t.Field(i).Tag.Get("yaml")] = t.Field(i).Type
	}
	return fields
}

func keyList(fields map[string]reflect.Type) string {
	names := sortedKeys(fields)
	if len(names) > 1 {
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return strings.Join(names, "")
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// foreign are names that other tools give to what is meant here.
var foreign = map[string]string{
	"qps": "rate", "rps": "rate", "request_rate": "rate", "num_prompts": "requests", "num_requests": "requests",
	"max_tokens": "output_tokens", "output_len": "output_tokens", "input_len": "input_tokens", "url": "base_url",
	"endpoint": "base_url", "threshold": "tolerance", "cmd": "command", "args": "command", "environment": "env",
	"cwd": "dir", "workdir": "dir", "timeout": "within", "name": "runner", "itl": "tpot", "e2e": "e2el", "reason": "why",
	"expires": "until", "file": "path", "num_warmups": "warmup",
}

// unknownKey says what is wrong with a key that its block does not have, and what was probably meant.
func unknownKey(name string, in reflect.Type) (message, hint string) {
	fields := fieldsOf(in)
	if secretKey(name) {
		return "a key or password is never written in a file", "put it into an environment variable and name that: api_key_env: OPENAI_API_KEY"
	}
	message = "unknown key " + quote(name)
	if near := nearest(name, sortedKeys(fields)); near != "" {
		return message, fmt.Sprintf("did you mean %s?", near)
	}
	if ours, ok := foreign[strings.ToLower(name)]; ok && fields[ours] != nil {
		return message, fmt.Sprintf("did you mean %s?", ours)
	}
	if homes := homesOf(name); len(homes) > 0 {
		return message, fmt.Sprintf("%s is a key of %s", name, strings.Join(homes, " and "))
	}
	return message, "the keys here are " + keyList(fields)
}

// secretKey reports whether a key is named like a secret itself; api_key_env and input_tokens are not.
func secretKey(name string) bool {
	n := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for _, s := range []string{"apikey", "token", "accesstoken", "authtoken", "secret", "password", "authorization", "bearer", "credentials"} {
		if n == s || s == "apikey" && strings.HasSuffix(n, s) {
			return true
		}
	}
	return false
}

// homesOf lists the blocks that have a key, by their place in the file.
func homesOf(name string) []string {
	var homes []string
	walkBlocks(reflect.TypeFor[file](), "", func(path string, t reflect.Type) {
		if fieldsOf(t)[name] != nil && path != "" && len(homes) < 3 {
			homes = append(homes, path)
		}
	})
	return homes
}

func walkBlocks(t reflect.Type, path string, visit func(path string, t reflect.Type)) {
	visit(path, t)
	for i := range t.NumField() {
		f, name := t.Field(i).Type, t.Field(i).Tag.Get("yaml")
		if path != "" {
			name = path + "." + name
		}
		switch f.Kind() {
		case reflect.Map:
			f, name = f.Elem(), name+".NAME"
		case reflect.Slice:
			f, name = f.Elem(), name+"[]"
		}
		if b, ok := reflect.Zero(f).Interface().(blocky); ok && name != "reference" {
			walkBlocks(b.inner(), name, visit)
		}
	}
}

// nearest is the word of a list that a misspelt one was probably meant to be; empty when none is close.
func nearest(name string, words []string) string {
	best, least := "", 1+min(len(name)/3, 3)
	for _, w := range words {
		if d := distance(strings.ToLower(name), w); d < least || d == 1 && least == 1 && best == "" {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with a neighbour (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return max(len(a), len(b))
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
