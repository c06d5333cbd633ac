package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
	"github.com/benchgate/benchgate/internal/campaign"
	"github.com/benchgate/benchgate/internal/config"
	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/repo"
)

// referenceFolder holds the reference's digests, in the folder of the candidate's.
const referenceFolder = "reference"

// inherited says where the keys come from that a reference does not set; empty where that is no question.
type inherited struct {
	note string
	// missing says that the config at base was looked for and not found: whoever reads the verdict should know.
	missing bool
}

// doubts are what stays on record of it, told what is only said with the plan.
func (i inherited) doubts() []string {
	if !i.missing {
		return nil
	}
	return []string{i.note}
}

func (i inherited) told() []string {
	if i.missing || i.note == "" {
		return nil
	}
	return []string{i.note}
}

// besideReference parses a config whose reference may have one of its own.
func besideReference(sh *shell, name string, data []byte) (config.Config, inherited, error) {
	conf, err := config.Parse(name, data)
	if err != nil {
		return conf, inherited{}, err
	}
	if err := apartOnDisk(conf); err != nil {
		return conf, inherited{}, err
	}
	return inherit(sh, conf, "the head's target", func(file string, base []byte) (config.Config, error) {
		return config.ParseBeside(name, data, file, base)
	})
}

// inherit parses a config anew by the same file in the folder of its reference, which is then a checkout of the base commit.
// Where there is no such file the config stays as it is; otherwise says what its reference has inherited from.
func inherit(sh *shell, conf config.Config, otherwise string, again func(file string, base []byte) (config.Config, error)) (config.Config, inherited, error) {
	if conf.Reference == nil || conf.Reference.Dir == conf.Target.Dir || conf.Campaign.Design == "committed" {
		return conf, inherited{}, nil
	}
	places := samePlaces(sh, conf.File, beside(conf.File, conf.Reference.Dir))
	for _, file := range places {
		base, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return config.Config{}, inherited{}, fmt.Errorf("read config of the reference: %w", err)
		}
		conf, err := again(file, base)
		return conf, inherited{note: "reference: keys it does not set come from " + file}, err
	}
	return conf, inherited{missing: true, note: fmt.Sprintf("reference: %s not found in the reference's folder: what the reference does not set it inherits from %s",
		strings.Join(places, " and "), otherwise)}, nil
}

// samePlaces are where a config's file may lie in another checkout: where it lies in its own, or at the top.
func samePlaces(sh *shell, name, checkout string) []string {
	top := filepath.Join(checkout, filepath.Base(name))
	out, err := repo.Command(sh.ctx, filepath.Dir(name), "rev-parse", "--show-prefix").Output()
	prefix := strings.TrimSuffix(string(out), "\n")
	if err != nil || prefix == "" {
		return []string{top}
	}
	return []string{filepath.Join(checkout, filepath.FromSlash(prefix), filepath.Base(name)), top}
}

// beside is a folder that a config names, from where its file stands.
func beside(file, folder string) string {
	if filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(filepath.Dir(file), folder)
}

// turnedWith is the reference that a plan measures; nil where it measures none.
func turnedWith(p campaign.Plan) *config.Target {
	if p.Config.Campaign.Design == "committed" {
		return nil
	}
	return p.Config.Reference
}

// housed refuses a reference whose folder is not there, before the first stage is measured for nothing. A campaign that has
// begun may have all that it needs of it.
func housed(p campaign.Plan) error {
	r := turnedWith(p)
	if r == nil || len(r.Command) == 0 || p.Begun {
		return nil
	}
	folder := beside(p.Config.File, r.Dir)
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	return &campaign.ServerError{
		Doing: "start the reference", Err: fmt.Errorf("its folder %q is not there", folder),
		Hint: "reference.dir is relative to the config file; a checkout of another commit comes by git worktree add DIR COMMIT, and in a workflow by actions/checkout with a path",
	}
}

// unknown reports whether nothing says which builds are measured: then a finished campaign cannot be taken for this one's.
func unknown(p campaign.Plan, id identity) bool {
	if id.commit == "" || len(p.Config.Target.Command) == 0 {
		return true
	}
	r := turnedWith(p)
	return r != nil && (id.reference == "" || len(r.Command) == 0)
}

// firstStage asks the gate which scenarios a confirm campaign has to confirm.
func firstStage(p campaign.Plan, base []bench.Digest) func([]bench.Digest) []string {
	return func(head []bench.Digest) []string {
		return gate.Confirm(p.Config.Policy, base, nil, head).Unconfirmed()
	}
}

// atLook asks the gate which scenarios a further look could still decide.
func atLook(p campaign.Plan, base []bench.Digest) func(reference, head []bench.Digest) []string {
	return func(reference, head []bench.Digest) []string {
		if p.Config.Campaign.Design == "confirm" {
			return gate.Confirm(p.Config.Policy, base, reference, head).Open()
		}
		return gate.Decide(p.Config.Policy, reference, head).Open()
	}
}

// references reads the digests of the reference that lie beside a candidate's.
func references(candidates []string) (digests []bench.Digest, folder string, err error) {
	for _, file := range candidates {
		folder = filepath.Join(filepath.Dir(file), referenceFolder)
		one, _, err := baseline.Read(filepath.Join(folder, filepath.Base(file)), "")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("reference: %w", err)
		}
		digests = append(digests, one...)
	}
	return digests, folder, nil
}

// mostHeader is how many bytes the first line of a campaign may have.
const mostHeader = 16 << 20

// headerOf reads the first line of a campaign; false when there is none.
func headerOf(path string) (bench.Header, bool) {
	f, err := os.Open(path)
	if err != nil {
		return bench.Header{}, false
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, mostHeader)).ReadBytes('\n')
	var r bench.Record
	if err != nil || json.Unmarshal(line, &r) != nil || r.Header == nil {
		return bench.Header{}, false
	}
	return *r.Header, true
}

// designOf is the design of the campaign that candidates come from: as it says itself, else as the digests look.
func designOf(files []string, head []bench.Digest) string {
	for _, file := range files {
		if h, ok := headerOf(filepath.Join(filepath.Dir(file), campaign.JournalFile)); ok && h.Design != "" {
			return h.Design
		}
	}
	plain, turns := shapes(head)
	switch {
	case plain && turns:
		return "confirm"
	case turns:
		return "interleaved"
	}
	return "committed"
}

// shapes says which kinds of session digests hold.
func shapes(ds []bench.Digest) (plain, turns bool) {
	for _, d := range ds {
		for _, s := range d.Sessions {
			plain = plain || !s.Interleaved
			turns = turns || s.Interleaved
		}
	}
	return plain, turns
}

// acceptable are the sessions of a candidate that may stand in a baseline: those measured in one start of the server. The
// visits of an interleaved session each have a start of their own. A later candidate, measured in one start, is spread
// about such a baseline by what a start adds, and the sessions would not show it: an equal build would look changed.
func acceptable(head []bench.Digest) ([]bench.Digest, error) {
	var out []bench.Digest
	for _, d := range head {
		var plain []bench.Session
		for _, s := range d.Sessions {
			if !s.Interleaved {
				plain = append(plain, s)
			}
		}
		if len(plain) == 0 {
			return nil, withHint(fmt.Errorf("scenario %q was measured only in turn with a reference, every run in another start of the server: a baseline is made of runs in one start", d.Scenario),
				"measure a session for the baseline: benchgate run --set campaign.design=committed")
		}
		d.Sessions = plain
		out = append(out, d)
	}
	return out, nil
}
