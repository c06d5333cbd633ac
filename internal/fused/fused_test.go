// Package fused holds a test: the same files give the same verdict, byte for byte, on a processor that adds a product
// without rounding it first, as arm64 does, and on one that rounds, as amd64 does.
//
// There is no second processor here, so the program is rewritten: wherever the language lets a compiler fuse a product with
// a sum, math.FMA is called. What the compiler for arm64 really fuses has to be among it.
package fused

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/world"
)

const module = "github.com/benchgate/benchgate"

// deciding are the packages whose arithmetic reaches a verdict.
var deciding = []string{
	module + "/internal/stat", module + "/internal/bench", module + "/internal/gate",
	"github.com/aclements/go-moremath/mathx", "github.com/montanaflynn/stats",
}

var processors = []processor{
	{name: "fused"},
	{name: "fused on the right", right: true},
	{name: "fused and nudged", right: true, nudged: true},
}

// chosen are the processors to be looked at: the one that only fuses where time is short.
func chosen() []processor {
	if testing.Short() {
		return processors[:1]
	}
	return processors
}

// build compiles a program, with an overlay or without.
func build(t *testing.T, program string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	args := append([]string{"build", "-o", binary}, append(flags, program)...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func output(t *testing.T, binary string, args ...string) string {
	t.Helper()
	out, err := exec.Command(binary, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func packages(t *testing.T, patterns ...string) map[string]pkg {
	t.Helper()
	all, err := list(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func rewritten(t *testing.T, how processor, all map[string]pkg, paths ...string) overlay {
	t.Helper()
	o, err := rewrite(t.TempDir(), how, all, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestVerdictsAreTheSameOnEveryProcessor(t *testing.T) {
	const program = "./testdata/decide"
	draws := 24
	if testing.Short() {
		draws = 2
	}
	folders := cases(t, draws)
	want := verdicts(t, build(t, program), folders)
	all := packages(t, program)
	for _, p := range chosen() {
		t.Run(p.name, func(t *testing.T) {
			o := rewritten(t, p, all, deciding...)
			if len(o.fused) < 20 {
				t.Fatalf("only %d sums are fused: the test shows nothing", len(o.fused))
			}
			got := verdicts(t, build(t, program, o.flags()...), folders)
			for name, v := range want {
				if !bytes.Contains(v, []byte(`"outcome"`)) {
					t.Errorf("%s: no verdict:\n%s", name, v)
				}
				if d := p.differ(t, v, got[name]); d != "" {
					t.Errorf("%s (-plain +%s):\n%s", name, p.name, d)
				}
			}
		})
	}
}

// differ compares verdicts byte for byte. Where logarithms and exponentials differ in their last bits, rounding to ten digits
// hides it but for about one verdict in 750, in which one number ends in another tenth digit; no word may change.
func (p processor) differ(t *testing.T, want, got []byte) string {
	t.Helper()
	if !p.nudged {
		return cmp.Diff(string(want), string(got))
	}
	var w, g any
	for into, data := range map[*any][]byte{&w: want, &g: got} {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	return cmp.Diff(w, g, cmpopts.EquateApprox(1.01e-9, 0))
}

// verdicts runs decide on every folder.
func verdicts(t *testing.T, binary string, folders []string) map[string][]byte {
	t.Helper()
	out := t.TempDir()
	output(t, binary, append([]string{out}, folders...)...)
	all := map[string][]byte{}
	for _, f := range folders {
		name := filepath.Base(f)
		data, err := os.ReadFile(filepath.Join(out, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = data
	}
	return all
}

// cases lays out pairs of digests: those of a real llama-server, and drawn ones of every design. It returns their folders.
func cases(t *testing.T, draws int) []string {
	t.Helper()
	root := t.TempDir()
	var folders []string
	add := func(name string, sides map[string]bench.Digest) {
		folder := filepath.Join(root, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for side, d := range sides {
			var b bytes.Buffer
			if err := bench.WriteDigest(&b, d); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, side+".json"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		folders = append(folders, folder)
	}
	for _, head := range []string{"same", "one-slot"} {
		add(head, map[string]bench.Digest{"base": example(t, "base"), "head": example(t, head)})
	}
	worlds := world.All()
	for i := range draws {
		w, seed := worlds[i%len(worlds)], uint64(1000+i)
		effect := world.Effect{TTFT: 0.1 * float64(i%4)}
		many := w.Committed(seed, 1+i%5, 3+i%4, 3+i%5).At(effect)
		add(fmt.Sprintf("committed-%d-%s", i, w.Name), map[string]bench.Digest{"base": many.Base, "head": many.Head})
		turns := w.Interleaved(seed, 6, 8, 10).At(effect)
		add(fmt.Sprintf("interleaved-%d-%s", i, w.Name), map[string]bench.Digest{"reference": turns.Reference, "head": turns.Head})
		if i%2 == 0 {
			both := w.Confirm(seed, 3, 5, 5, 6, 8, 10).At(effect)
			add(fmt.Sprintf("confirm-%d-%s", i, w.Name), map[string]bench.Digest{"base": both.Base, "reference": both.Reference, "head": both.Head})
		}
	}
	return folders
}

func example(t *testing.T, name string) bench.Digest {
	t.Helper()
	path := filepath.Join("..", "..", "examples", "llama-server", name+".json")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := bench.ReadDigest(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A program without conversions has to come out otherwise, or the rewriting does nothing.
func TestUnguardedNumbersDiffer(t *testing.T) {
	const program = "./testdata/unguarded"
	all := packages(t, program)
	path := module + "/internal/fused/testdata/unguarded"
	plain := strings.Fields(output(t, build(t, program)))
	for _, how := range chosen() {
		o := rewritten(t, how, all, path)
		got := strings.Fields(output(t, build(t, program, o.flags()...)))
		for i := range plain {
			differs, guarded := plain[i] != got[i], i == len(plain)-1
			if differs == guarded {
				t.Errorf("%s: number %d is %s on the plain processor and %s on the other", how.name, i+1, plain[i], got[i])
			}
		}
	}
}

// fusedLine is an instruction that multiplies and adds at once, in the listing of the compiler for arm64.
var fusedLine = regexp.MustCompile(`\(([^()]+\.go):(\d+)\)\s+FN?M(?:ADD|SUB)D\s`)

// The statistics guard every product, so that their bits are the same on every processor. Elsewhere, what the compiler for
// arm64 fuses is among what the rewriting fuses.
func TestTheCompilerFusesNoMoreThanTheRewriting(t *testing.T) {
	if testing.Short() {
		return // it compiles the standard library for arm64
	}
	o := rewritten(t, processors[0], packages(t, deciding...), deciding...)
	n := 0
	for _, path := range deciding {
		for _, at := range fusedForARM(t, path) {
			n++
			switch {
			case strings.HasSuffix(path, "/internal/stat"):
				t.Errorf("%s:%d is fused by the compiler: wrap the product in float64()", at.file, at.first)
			case reached(at.file) && !o.has(at):
				t.Errorf("%s:%d is fused by the compiler and not by the rewriting", at.file, at.first)
			}
		}
	}
	t.Logf("%d fused instructions in the listing, %d fused sums in the rewriting", n, len(o.fused))
	if n == 0 {
		t.Error("no fused instruction in the listing: has its form changed?")
	}
}

// fusedForARM lists where the compiler for arm64 fuses.
func fusedForARM(t *testing.T, path string) []place {
	t.Helper()
	cmd := exec.Command("go", "build", "-gcflags=-S", path)
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("compile %q for arm64: %v\n%s", path, err, listing)
	}
	var all []place
	for _, m := range fusedLine.FindAllStringSubmatch(string(listing), -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, place{m[1], line, line})
	}
	return all
}

// reached reports whether a verdict may depend on a file: all of ours, and of other people's what we call.
func reached(file string) bool {
	return strings.Contains(file, "/internal/") || slices.Contains([]string{"beta.go", "percentile.go", "mean.go", "min.go"}, filepath.Base(file))
}

func (o overlay) has(at place) bool {
	for _, p := range o.fused {
		if p.file == at.file && p.first <= at.first && at.first <= p.last {
			return true
		}
	}
	return false
}

// Digits that a verdict does not show decide nothing: metrics that differ in the last bit give the same outcomes and the
// same intervals.
func TestALastBitDecidesNothing(t *testing.T) {
	draws := 24
	if testing.Short() {
		draws = 2
	}
	for i := range draws {
		worlds := world.All()
		w := worlds[i%len(worlds)]
		sides := w.Committed(uint64(2000+i), 1+i%5, 5, 5).At(world.Effect{TTFT: 0.1 * float64(i%4)})
		want := told(sides.Base, sides.Head)
		for _, by := range []float64{1 + 1e-15, 1 - 1e-15} {
			got := told(scaled(sides.Base, by), sides.Head)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("draw %d of world %s, base times %v (-want +got):\n%s", i, w.Name, by, d)
			}
			got = told(sides.Base, scaled(sides.Head, by))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("draw %d of world %s, head times %v (-want +got):\n%s", i, w.Name, by, d)
			}
		}
	}
}

// answer is what a finding says, without the numbers it was made from.
type answer struct {
	Scenario, Metric string
	Outcome          gate.Outcome
	Change           *gate.Change
}

func told(base, head bench.Digest) []answer {
	p := gate.Defaults()
	points, ruleOut := 0.02, 0.15
	p.Rules = append(p.Rules, gate.Rule{Metric: "tpot.mean", Tolerance: &points, RuleOut: &ruleOut}, gate.Rule{Metric: "goodput.ratio", Tolerance: &points})
	var all []answer
	for _, f := range gate.Decide(p, []bench.Digest{base}, []bench.Digest{head}).Findings {
		all = append(all, answer{f.Scenario, f.Metric, f.Outcome, f.Change})
	}
	return all
}

// scaled multiplies every metric but shares.
func scaled(d bench.Digest, by float64) bench.Digest {
	sessions := slices.Clone(d.Sessions)
	for i, s := range sessions {
		sessions[i].Visits = slices.Clone(s.Visits)
		for j, v := range s.Visits {
			sessions[i].Visits[j].Runs = slices.Clone(v.Runs)
			for k, r := range v.Runs {
				m := map[string]float64{}
				for name, x := range r.Metrics {
					m[name] = x
					if !strings.HasSuffix(name, ".ratio") {
						m[name] = x * by
					}
				}
				sessions[i].Visits[j].Runs[k].Metrics = m
			}
		}
	}
	d.Sessions = sessions
	return d
}
