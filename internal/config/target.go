package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

const portMark = "{port}"

// reference is the target that a candidate is held against: what it does not set comes from the target at base, else from
// that of this file. A folder that the base's target names starts where the base's config lies, as every target's does.
func (r *reader) reference(own target, head block[target]) Target {
	from := head.v
	if r.base != nil {
		from = *r.base
	}
	all := own.inherit(from)
	if own.BaseURL.given() && own.Command == nil && !strings.Contains(own.BaseURL.written(), portMark) && all.choosesPort() {
		r.fail(own.BaseURL.node, "it names a server at a port of its own, and the command that reference inherits is told another, {port}",
			"for a server that is running already write command: [] beside it; else base_url: http://127.0.0.1:{port}/v1")
		all.Command, all.Env = nil, nil
	}
	out := r.target(all, head.node)
	if r.base != nil && own.Dir.given() {
		out.Dir = r.baseDir(own, out.Dir)
	}
	return out
}

// baseDir is where the command of the base's target runs: its own dir, from the folder of the base's config.
func (r *reader) baseDir(own target, checkout string) string {
	inside, err := filepath.Rel(filepath.Join(filepath.Dir(r.name), checkout), r.baseFolder)
	if filepath.IsAbs(checkout) {
		inside, err = filepath.Rel(checkout, r.baseFolder)
	}
	if err != nil || !filepath.IsLocal(inside) {
		inside = ""
	}
	dir := ""
	if r.base.Dir.given() {
		if dir = r.base.Dir.written(); filepath.IsAbs(dir) {
			return checkout
		}
	}
	if !filepath.IsLocal(filepath.Join(inside, dir)) && filepath.Join(inside, dir) != "" {
		r.fail(own.Dir.node, fmt.Sprintf("the target at base runs in %q, which leads out of the folder of the reference, perhaps to the build that is under test", dir),
			"name in reference.dir the topmost folder of base's checkout, and let target.dir stay inside the checkout")
		return checkout
	}
	return filepath.Join(checkout, inside, dir)
}

// choosesPort reports whether the command is told the port that was chosen.
func (t target) choosesPort() bool {
	for _, a := range t.Command {
		if strings.Contains(a.written(), portMark) {
			return true
		}
	}
	for _, v := range t.Env {
		if len(t.Command) > 0 && strings.Contains(v.written(), portMark) {
			return true
		}
	}
	return false
}

// parseTarget reads a config and returns its target as it is written.
func parseTarget(name string, data []byte) (target, error) {
	r, root, e := newReader(name, data)
	if e != nil {
		return target{}, e
	}
	if r.config(root); len(r.mistakes) > 0 {
		return target{}, join(r.mistakes)
	}
	var f file
	if err := yaml.NodeToValue(root, &f, yaml.Strict()); err != nil {
		return target{}, r.syntax(err)
	}
	return f.Target.v, nil
}

// inherit fills what a reference does not set from its target; within ready and stop, key by key.
func (t target) inherit(from target) target {
	fill(&t.Ready, from.Ready)
	fill(&t.Stop, from.Stop)
	fillFields(&t, from)
	return t
}

func fill[T any](b *block[T], from block[T]) {
	if b.given() && from.given() {
		fillFields(&b.v, from.v)
	}
}

func fillFields[T any](to *T, from T) {
	v, f := reflect.ValueOf(to).Elem(), reflect.ValueOf(from)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			v.Field(i).Set(f.Field(i))
		}
	}
}

func (r *reader) target(t target, at ast.Node) Target {
	out := Target{
		Model: r.text(t.Model, ""), API: r.word(t.API, "chat", "chat", "completions"),
		LimitField: r.word(t.LimitField, "auto", "auto", "max_tokens", "max_completion_tokens"),
		Command:    r.command(t.Command), Dir: r.text(t.Dir, "."),
		APIKeyEnv: r.apiKeyEnv(t.APIKeyEnv), Env: r.env(t.Env), PassEnv: r.passEnv(t.PassEnv),
		ReadyIn: r.duration(t.Ready.v.Within, 10*time.Minute), StopIn: r.duration(t.Stop.v.Within, time.Minute),
		StopCmd: r.command(t.Stop.v.Command), ResetPath: r.path(t.Reset, ""),
		Remote: r.word(t.Remote, "deny", "deny", "allow") == "allow",
	}
	out.Metrics = r.metricsPath(t.Metrics)
	if !t.Model.given() {
		r.fail(at, "model is missing", "name the model as the server knows it: model: Qwen/Qwen3-8B")
	}
	out.BaseURL, out.ReadyPath = r.baseURL(t, at)
	if t.Ready.v.Path.given() {
		out.ReadyPath = r.path(t.Ready.v.Path, out.ReadyPath)
	}
	return out
}

// baseURL checks the address, and derives the path of the models list from it.
func (r *reader) baseURL(t target, at ast.Node) (base, models string) {
	if !t.BaseURL.given() {
		r.fail(at, "base_url is missing", "give the root of the API: base_url: http://127.0.0.1:{port}/v1")
		return "", ""
	}
	base = strings.TrimRight(r.text(t.BaseURL, "http://unknown"), "/")
	u, err := url.Parse(strings.ReplaceAll(base, portMark, "1"))
	switch {
	case err != nil:
		r.failAt(t.BaseURL.node, strings.Contains(base, "@"), "it is no URL", "write it like http://127.0.0.1:{port}/v1")
	case u.User != nil:
		r.failAt(t.BaseURL.node, true, "a key or password is never written in a file", "put it into an environment variable and name that: api_key_env: OPENAI_API_KEY")
	case u.Scheme != "http" && u.Scheme != "https":
		r.fail(t.BaseURL.node, quote(base)+" begins neither with http:// nor with https://", "write it like http://127.0.0.1:{port}/v1")
	case u.Hostname() == "":
		r.fail(t.BaseURL.node, quote(base)+" names no host", "write it like http://127.0.0.1:{port}/v1")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		r.failAt(t.BaseURL.node, true, "it has a query or a fragment", "end it with the path, usually /v1")
	default:
		r.port(t, base)
		return base, u.Path + "/models"
	}
	return "", ""
}

// port holds {port} in command and base_url together: each is useless without the other.
func (r *reader) port(t target, base string) {
	inURL := strings.Contains(base, portMark)
	var inCommand ast.Node
	for _, a := range t.Command {
		if strings.Contains(a.written(), portMark) {
			inCommand = a.node
			break
		}
	}
	inEnv := false
	for _, v := range t.Env {
		inEnv = inEnv || strings.Contains(v.written(), portMark)
	}
	switch {
	case inCommand != nil && !inURL:
		r.fail(inCommand, "the command uses {port}, base_url does not", "write base_url: http://127.0.0.1:{port}/v1, so that the port that was chosen is also the one that is asked")
	case inURL && len(t.Command) == 0:
		r.fail(t.BaseURL.node, "{port} without a command: nothing chooses the port", "write the port of the running server, or give the command that starts one")
	case inURL && inCommand == nil && !inEnv:
		r.fail(t.BaseURL.node, "base_url uses {port}, the command does not", `pass it to the server: command: [..., --port, "{port}"]`)
	}
}

var apiKeyFlag = regexp.MustCompile(`^--?api[-_]key(=.+)?$`)

// command reads the arguments, and refuses an API key among them.
func (r *reader) command(list []argument) []string {
	for i, a := range list {
		m := apiKeyFlag.FindStringSubmatch(a.written())
		switch {
		case m == nil:
		case m[1] != "" || i+1 < len(list):
			r.failAt(a.node, true, "a key or password is never written in a file", "servers read it from the environment, such as VLLM_API_KEY or LLAMA_API_KEY: pass_env: [VLLM_API_KEY]")
		}
	}
	var out []string
	for _, a := range list {
		out = append(out, r.argument(a))
	}
	return out
}

var (
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	secretEnv  = regexp.MustCompile(`(?i)(api_?key|access_?key|secret|token|passw(or)?d|credentials?|authorization)$`)
	digitsOnly = regexp.MustCompile(`^[0-9]*$`)
)

const envHint = "write the name of an environment variable: letters, digits and _, such as OPENAI_API_KEY"

// apiKeyEnv never shows the value: whoever writes the key itself here shall not find it in a log.
func (r *reader) apiKeyEnv(t text) string {
	if !t.given() {
		return ""
	}
	if s := t.written(); envName.MatchString(s) && shown(s) == s {
		return s
	}
	r.failAt(t.node, true, "it is not the name of an environment variable", envHint)
	return ""
}

func (r *reader) env(vars map[string]argument) map[string]string {
	if vars == nil {
		return nil
	}
	out := map[string]string{}
	for _, name := range sortedKeys(vars) {
		v := vars[name]
		switch {
		case !envName.MatchString(name):
			r.failAt(v.node, true, quote(name)+" is not the name of an environment variable", envHint)
		case secretEnv.MatchString(name) && !digitsOnly.MatchString(v.written()):
			r.failAt(v.node, true, "a key or password is never written in a file", "let the command inherit it: pass_env: ["+name+"]")
		case len(v.written()) > maxText || strings.ContainsRune(v.written(), 0):
			r.failAt(v.node, true, "it is longer than 4096 bytes, or holds a zero byte", "shorten it")
		default:
			out[name] = v.written()
		}
	}
	return out
}

func (r *reader) passEnv(list []text) []string {
	var names []string
	for _, t := range list {
		if s := t.written(); envName.MatchString(s) && shown(s) == s {
			names = append(names, s)
			continue
		}
		r.failAt(t.node, true, "it is not the name of an environment variable", envHint)
	}
	return names
}

// path reads a path on the server's origin.
func (r *reader) path(t text, fallback string) string {
	s := r.text(t, fallback)
	if !t.given() || s == fallback {
		return s
	}
	u, err := url.Parse(s)
	if err != nil || !strings.HasPrefix(s, "/") || u.Host != "" || strings.ContainsAny(s, " \t\n") {
		r.fail(t.node, quote(s)+" is no path", "write it from the root of the server: /health")
		return fallback
	}
	return s
}

func (r *reader) metricsPath(t text) string {
	if t.given() && t.written() == "off" {
		return ""
	}
	return r.path(t, "/metrics")
}
