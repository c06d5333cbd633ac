package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Read reads one config file from disk.
func Read(name string) (Config, error) {
	c, _, err := read(name)
	return c, err
}

// Parse reads a config from its text. The name is shown in errors, and in findings as the place of a rule. Every mistake
// is an *[Error]; several are joined.
func Parse(name string, data []byte) (Config, error) {
	c, _, err := parse(name, data, nil, "")
	return c, err
}

// ParseBeside is Parse for a config whose reference has one of its own: the text of the same file in the reference's
// folder, baseName, a checkout of the base commit. What reference does not set then comes from the target of that file.
func ParseBeside(name string, data []byte, baseName string, base []byte) (Config, error) {
	t, err := parseTarget(baseName, base)
	if err != nil {
		return Config{}, err
	}
	c, _, err := parse(name, data, &t, filepath.Dir(baseName))
	return c, err
}

// Folder reads one config file, or every *.yaml of a folder: one runner a file. A runner named twice is an error.
func Folder(name string) ([]Config, error) {
	names := []string{name}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if names, err = fs.Glob(os.DirFS(name), "*.yaml"); err != nil {
			return nil, fmt.Errorf("read folder %q: %w", name, err)
		}
		for i, n := range names {
			names[i] = filepath.Join(name, n)
		}
		if len(names) == 0 {
			return nil, &Error{File: name, Message: "the folder holds no *.yaml", Hint: "benchgate init writes a config; each runner has its own file"}
		}
	}
	var all []Config
	var mistakes []error
	runners := map[string]*Error{}
	for _, n := range names {
		c, runner, err := read(n)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		if first := runners[c.Runner]; first != nil {
			runner.Message = fmt.Sprintf("runner: %q is already the runner of %s, line %d", c.Runner, first.File, first.Line)
			runner.Hint = "give each file its own runner: the name is that of the folder under baselines/"
			mistakes = append(mistakes, runner)
			continue
		}
		runners[c.Runner] = runner
		all = append(all, c)
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return all, nil
}

// read also returns where the runner is named, as an error without a message yet.
func read(name string) (Config, *Error, error) {
	data, err := fetch(name)
	if err != nil {
		return Config{}, nil, err
	}
	return parse(name, data, nil, "")
}

func fetch(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "benchgate init writes a config to start from; -c names another file"
		}
		return nil, unreadable(name, err, hint)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: name, Message: "this is a folder, a file is wanted", Hint: "name one of its *.yaml"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, unreadable(name, err, "")
	}
	return data, nil
}

func unreadable(name string, err error, hint string) *Error {
	why := err
	var p *fs.PathError
	if errors.As(err, &p) {
		why = p.Err
	}
	return &Error{File: name, Message: "read config: " + why.Error(), Hint: hint, cause: err}
}

// parse also takes the target of the reference's own config and the folder of that; nil: there is none.
func parse(name string, data []byte, base *target, folder string) (Config, *Error, error) {
	r, root, e := newReader(name, data)
	if e != nil {
		return Config{}, nil, e
	}
	r.base, r.baseFolder = base, folder
	c, err := r.sound(name, root)
	if err != nil {
		return Config{}, nil, err
	}
	return c, r.runner(root), nil
}

// sound is the config, if nothing is wrong with it.
func (r *reader) sound(name string, root ast.Node) (Config, error) {
	c := r.config(root)
	if len(r.mistakes) > 0 {
		return Config{}, join(r.mistakes)
	}
	c.File = name
	return c, nil
}

func newReader(name string, data []byte) (*reader, ast.Node, *Error) {
	s, e := clean(name, data)
	if e != nil {
		return nil, nil, e
	}
	root, e := s.tree()
	return &reader{source: s, keys: map[ast.Node]*token.Token{}, place: placeName(name)}, root, e
}

// placeName is the path of the file as a place in the repository: slashes, and no leading "./".
func placeName(name string) string {
	return strings.TrimPrefix(filepath.ToSlash(name), "./")
}

// tree is the syntax tree of the one document in the file.
func (s *source) tree() (root ast.Node, mistake *Error) {
	// The lexer and the parser have met every file that the fuzz test knows. Should a new one make them panic, that is
	// the file's mistake and not ours.
	defer func() {
		if p := recover(); p != nil {
			root, mistake = nil, &Error{File: s.name, Message: "the file is no YAML that can be read", Hint: "look for unbalanced quotes and brackets"}
		}
	}()
	tokens := lexer.Tokenize(s.whole())
	if e := s.bounded(tokens); e != nil {
		return nil, e
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, s.syntax(err)
	}
	for _, d := range f.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			return d.Body, nil
		}
	}
	return nil, &Error{File: s.name, Message: "the file holds nothing but comments", Hint: "benchgate init writes one to start from"}
}

// syntax turns an error of the YAML library into one of ours, with the line masked and a hint where one is known.
func (s *source) syntax(err error) *Error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return &Error{File: s.name, Message: shown(err.Error())}
	}
	p := tokenSpot(y.GetToken())
	p.width = 1
	message, hint := y.GetMessage(), ""
	switch {
	case p.line <= len(s.lines) && strings.HasPrefix(strings.TrimLeft(s.lines[p.line-1], " "), "\t"):
		message, hint = "a tab indents this line", "YAML is indented by spaces"
	case strings.Contains(message, "mapping value is not allowed"):
		hint = "is the line indented like its neighbours? text that holds \": \" needs quotes"
	case strings.Contains(message, "must be specified"):
		hint = "is a bracket or a comma missing?"
	case strings.Contains(message, "end character"):
		hint = "close the quote"
	}
	return s.at(p, message, hint)
}

// config reads the whole tree: first its shape, then, when every key is in its place, what it means.
func (r *reader) config(root ast.Node) Config {
	if !r.version(root) {
		return Config{}
	}
	r.check(root, reflect.TypeFor[file]())
	if len(r.mistakes) > 0 {
		return Config{}
	}
	var f file
	if err := yaml.NodeToValue(root, &f, yaml.Strict()); err != nil {
		r.mistakes = append(r.mistakes, r.syntax(err))
		return Config{}
	}
	r.need(root, f.Runner.given(), "runner", "name the machine: runner: h100-1x; it names the folder under baselines/")
	r.need(root, f.Target.given(), "target", "say what is measured: target: {base_url: http://127.0.0.1:8000/v1, model: Qwen/Qwen3-8B}")
	r.need(root, f.Scenarios != nil, "scenarios", "name at least one; benchgate init shows how")
	return r.resolve(root, f)
}

// version is checked before anything else: a file of another version cannot be judged by the rules of this one.
func (r *reader) version(root ast.Node) bool {
	m, ok := root.(*ast.MappingNode)
	if !ok {
		r.fail(root, "this is no config: a mapping of keys is wanted", "benchgate init writes one to start from")
		return false
	}
	n := entry(m, "version")
	if n == nil {
		r.fail(root, "version is missing", "write version: 1 as the first line")
		return false
	}
	c := scalar{n}
	if v, f := c.parseCount(); f != nil || v != 1 {
		r.fail(n, quote(c.written())+" is not a version that this benchgate understands", "write version: 1, or use a newer benchgate")
		return false
	}
	return true
}

func (r *reader) resolve(root ast.Node, f file) Config {
	c := Config{
		Runner: r.runnerName(f.Runner), Campaign: r.campaign(f.Campaign, f.Reference.given()),
		Sampling: r.sampling(f.Sampling), Paths: r.paths(f.Gate.v.Paths),
	}
	c.Unused = r.unused(root, c.Campaign.Design)
	if f.Target.given() {
		c.Target = r.target(f.Target.v, f.Target.node)
	}
	if f.Target.given() && f.Reference.given() {
		reference := r.reference(f.Reference.v, f.Target)
		c.Reference = &reference
	}
	if n := entry(root, "scenarios"); n != nil {
		c.Scenarios = r.scenarios(n, f.Scenarios)
	}
	c.Policy = r.policy(f, c.Scenarios)
	c.Policy.Looks = c.Campaign.Looks
	return c
}

// runnerName reads the name of a folder, beside which the results hold a folder of other files.
func (r *reader) runnerName(l label) string {
	name := r.label(l)
	switch name {
	case "vllm":
		r.fail(l.node, quote(name)+" is the folder of vLLM's result files, beside that of a runner", "name the machine, such as h100-1x")
	case "reference":
		r.fail(l.node, quote(name)+" is the folder of the reference's digests, in that of a runner", "name the machine, such as h100-1x")
	}
	return name
}

// entry is the value of a key, nil when the mapping does not have it.
func entry(n ast.Node, key string) ast.Node {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil
	}
	for _, e := range m.Values {
		if e.Key.GetToken().Value == key {
			return e.Value
		}
	}
	return nil
}

func (r *reader) runner(root ast.Node) *Error {
	return r.source.at(r.spot(entry(root, "runner")), "", "")
}

// Scenario finds a scenario by its name.
func (c Config) Scenario(name string) (Scenario, bool) {
	for _, s := range c.Scenarios {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}
