package fused

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// processor says how a rewritten program departs from the plain one.
type processor struct {
	name string
	// right: where both terms of a sum are products, the right one is fused; the left one otherwise.
	right bool
	// nudged: what package math computes with code of the processor's own is off by at most one unit in the last place.
	nudged bool
}

// pkg is what `go list` says of a package.
type pkg struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct {
		Path, Dir string
		Main      bool
	}
}

// list finds packages and all that they need, compiled.
func list(patterns ...string) (map[string]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Module"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p
	}
}

// place is where an expression stands.
type place struct {
	file        string
	first, last int // lines
}

// overlay holds rewritten files, and where a product was fused with a sum.
type overlay struct {
	Replace map[string]string
	fused   []place
	folder  string
	// modules are copies of other people's modules, by path: the go command does not lay anything over its own store of them.
	modules map[string]string
}

// rewrite writes packages anew into a folder, as the processor would compute them, and an overlay.json for go build.
func rewrite(folder string, how processor, all map[string]pkg, paths ...string) (overlay, error) {
	o := overlay{Replace: map[string]string{}, folder: folder, modules: map[string]string{}}
	for _, path := range paths {
		p, ok := all[path]
		if !ok {
			return o, fmt.Errorf("package %q is not in the list", path)
		}
		if err := o.add(p, how, all); err != nil {
			return o, fmt.Errorf("rewrite %q: %w", path, err)
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		return o, err
	}
	return o, errors.Join(os.WriteFile(o.path("overlay.json"), data, 0o600), o.require())
}

// flags are those of go build that put the overlay to use.
func (o *overlay) flags() []string {
	return []string{"-overlay", o.path("overlay.json"), "-modfile", o.path("go.mod")}
}

func (o *overlay) path(name string) string { return filepath.Join(o.folder, name) }

// require writes a go.mod that takes the copies of modules.
func (o *overlay) require() error {
	root := filepath.Join("..", "..")
	var more strings.Builder
	for path, folder := range o.modules {
		fmt.Fprintf(&more, "\nreplace %s => %s\n", path, folder)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if name == "go.mod" {
			data = append(data, more.String()...)
		}
		if err := os.WriteFile(o.path(name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// home is where a package's files are replaced: beside its sources, or in a copy of its module.
func (o *overlay) home(p pkg) (string, error) {
	if p.Module == nil || p.Module.Main {
		return p.Dir, nil
	}
	folder, ok := o.modules[p.Module.Path]
	if !ok {
		folder = o.path(fmt.Sprintf("module-%d", len(o.modules)))
		o.modules[p.Module.Path] = folder
		if err := os.CopyFS(folder, os.DirFS(p.Module.Dir)); err != nil {
			return "", err
		}
	}
	inside, err := filepath.Rel(p.Module.Dir, p.Dir)
	return filepath.Join(folder, inside), err
}

func (o *overlay) add(p pkg, how processor, all map[string]pkg) error {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) }
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	if _, err := conf.Check(p.ImportPath, fset, files, &info); err != nil {
		return err
	}
	home, err := o.home(p)
	if err != nil {
		return err
	}
	nudged := false
	for _, f := range files {
		path := fset.Position(f.Package).Filename
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r := fuser{info: info, file: fset.File(f.Package), source: source, how: how, products: map[types.Object]bool{}}
		r.find(f)
		text := r.render(f)
		if len(r.unknown) > 0 {
			return fmt.Errorf("%s: is it the same on every processor? Add to exactFuncs or to nudgedMath: %v", path, r.unknown)
		}
		o.fused = append(o.fused, r.fused...)
		nudged = nudged || r.nudged
		if len(r.fused) == 0 && !r.nudged {
			continue
		}
		if err := o.put(filepath.Join(home, filepath.Base(path)), r.withImports(f, text)); err != nil {
			return err
		}
	}
	if nudged {
		return o.put(filepath.Join(home, "nudged_math.go"), fmt.Sprintf(nudgedMath, files[0].Name.Name))
	}
	return nil
}

func (o *overlay) put(path, source string) error {
	to := filepath.Join(o.folder, fmt.Sprintf("%d-%s", len(o.Replace), filepath.Base(path)))
	o.Replace[path] = to
	return os.WriteFile(to, []byte(source), 0o600)
}

// nudgedMath stands in for the functions of package math that a processor may compute with code of its own: a third of the
// results is one unit up, a third one down, by a hash of the result. Square roots, and what only moves bits, are exact
// everywhere.
const nudgedMath = `package %s

import "math"

func nudge(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	switch math.Float64bits(x) * 0x9E3779B97F4A7C15 >> 32 %% 3 {
	case 0:
		return math.Nextafter(x, math.Inf(1))
	case 1:
		return math.Nextafter(x, math.Inf(-1))
	}
	return x
}

func nudgedLog(x float64) float64 { return nudge(math.Log(x)) }
func nudgedLog10(x float64) float64 { return nudge(math.Log10(x)) }
func nudgedLog1p(x float64) float64 { return nudge(math.Log1p(x)) }
func nudgedExp(x float64) float64   { return nudge(math.Exp(x)) }
func nudgedExpm1(x float64) float64 { return nudge(math.Expm1(x)) }
func nudgedErfc(x float64) float64 { return nudge(math.Erfc(x)) }
func nudgedSin(x float64) float64 { return nudge(math.Sin(x)) }
func nudgedCos(x float64) float64 { return nudge(math.Cos(x)) }
func nudgedPow(x, y float64) float64 { return nudge(math.Pow(x, y)) }

func nudgedLgamma(x float64) (float64, int) {
	y, sign := math.Lgamma(x)
	return nudge(y), sign
}
`

// nudgedFuncs are the functions that nudgedMath has.
var nudgedFuncs = []string{"Log", "Log10", "Log1p", "Exp", "Expm1", "Erfc", "Sin", "Cos", "Pow", "Lgamma"}

// exactFuncs are those of package math that give the same on every processor.
var exactFuncs = []string{
	"Abs", "Ceil", "Copysign", "Float64bits", "Floor", "Frexp", "Inf", "IsInf", "IsNaN", "Ldexp", "Max", "Min", "Mod", "NaN", "Pow10", "Round", "Signbit", "Sqrt", "Trunc",
}
