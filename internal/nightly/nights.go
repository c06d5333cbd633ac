package nightly

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/benchgate/benchgate/internal/baseline"
	"github.com/benchgate/benchgate/internal/bench"
)

var isNight = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{1,20}(-[0-9]{1,3})?$`)

func (n Night) check() error {
	if !isNight.MatchString(n.Name) {
		return fmt.Errorf("%q is no name of a night", n.Name)
	}
	for _, d := range n.Digests {
		if err := errors.Join(bench.CheckName("runner", d.Runner), bench.CheckName("scenario", d.Scenario)); err != nil {
			return err
		}
	}
	return nil
}

const folder = "nights"

const readme = `# What the nights measured

` + "`nights/<night>/<runner>/<scenario>.json`" + ` are the digests of one night of the main branch, written by the nightly
workflow of benchgate and by nothing else. Nights that were refused are here as well. Nothing is rewritten.
The baselines that judge pull requests are not here: they are on the main branch, where people accept them.
`

// place finds a name for a night among the files that are kept, and the files that are to be added. It adds none, and
// returns the name that has them, where the whole night is there already.
func (n Night) place(kept map[string][]byte) (name string, fresh map[string][]byte, _ error) {
	if len(n.Digests) == 0 {
		return "", nil, nil
	}
	data := map[string][]byte{}
	for _, d := range n.Digests {
		var b bytes.Buffer
		if err := bench.WriteDigest(&b, d); err != nil {
			return "", nil, err
		}
		below := d.Runner + "/" + d.Scenario + ".json"
		if _, ok := data[below]; ok {
			return "", nil, fmt.Errorf("scenario %q of runner %q is there twice", d.Scenario, d.Runner)
		}
		data[below] = b.Bytes()
	}
	same := map[string]int{} // how many files of a kept night are those of this one
	for p, old := range kept {
		at, equal := placeOf(p), 0
		if ours, ok := data[at.below]; ok && bytes.Equal(ours, old) {
			equal = 1
		}
		same[at.night] += equal
	}
	for _, night := range slices.Sorted(maps.Keys(same)) {
		if same[night] == len(data) {
			return night, nil, nil
		}
	}
	name = n.Name
	for i := 2; ; i++ {
		if _, taken := same[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s-%d", n.Name, i)
	}
	fresh = map[string][]byte{}
	for below, b := range data {
		fresh[path.Join(folder, name, below)] = b
	}
	return name, fresh, nil
}

// kept is the place of a file on the data branch.
type kept struct {
	night, runner, below string // below is RUNNER/SCENARIO.json
	ok                   bool
}

func placeOf(p string) kept {
	parts := strings.Split(p, "/")
	if len(parts) != 4 || parts[0] != folder || !isNight.MatchString(parts[1]) {
		return kept{}
	}
	scenario, isJSON := strings.CutSuffix(parts[3], ".json")
	ok := isJSON && bench.CheckName("runner", parts[2]) == nil && bench.CheckName("scenario", scenario) == nil
	return kept{parts[1], parts[2], parts[2] + "/" + parts[3], ok}
}

// mostNights is how many nights are looked at: a baseline holds ten sessions, and of what waited for a year nobody will say
// that it belongs there.
const mostNights = 400

// newest are the files of the newest nights, by name: whole nights, no more of them than most, and no more bytes than room.
func newest(blobs []blob, most, room int) []blob {
	sizes := map[string]int{}
	for _, b := range blobs {
		sizes[placeOf(b.path).night] += b.size
	}
	names := slices.Sorted(maps.Keys(sizes))
	slices.Reverse(names)
	for i, name := range names {
		if room -= sizes[name]; room < 0 || i == most {
			names = names[:i]
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(blobs), func(b blob) bool { return !slices.Contains(names, placeOf(b.path).night) })
}

// nightsOf reads the nights that are kept. One that cannot be read is a night too, and says so.
func nightsOf(files map[string][]byte) []baseline.Night {
	byName := map[string]*baseline.Night{}
	for p, data := range files {
		at := placeOf(p)
		key := at.night + "/" + at.runner
		n := byName[key]
		if n == nil {
			n = &baseline.Night{Name: at.night, Runner: at.runner}
			byName[key] = n
		}
		d, err := bench.ReadDigest(bytes.NewReader(data), p)
		if err == nil && d.Runner+"/"+d.Scenario+".json" != at.below {
			err = fmt.Errorf("%q holds scenario %q of runner %q", p, d.Scenario, d.Runner)
		}
		n.Damaged = cmp.Or(n.Damaged, err)
		n.Digests = append(n.Digests, d)
	}
	var all []baseline.Night
	for _, n := range byName {
		slices.SortFunc(n.Digests, func(x, y bench.Digest) int { return strings.Compare(x.Scenario, y.Scenario) })
		all = append(all, *n)
	}
	slices.SortFunc(all, func(x, y baseline.Night) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Runner, y.Runner))
	})
	return all
}
