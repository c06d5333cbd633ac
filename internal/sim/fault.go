package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is a way in which the simulated server misbehaves, or behaves as some real server does and others do not.
type Fault struct {
	Name string // for Options.Fault; "-N" at its end stands for a number
	Does string
}

// fault is what a Fault changes. The zero value changes nothing.
type fault struct {
	Fault
	hidden     []string      // paths that are not found
	loading    time.Duration // since the start: no generation; unhealthy for the first half of it
	caches     bool          // repeated prompts are quick
	saltBlind  bool          // … whatever salt they begin with
	unstreamed bool          // streams are answered whole
	slots      int           // instead of Options.Slots, when not 0
	coldFor    int64         // so many first answers are slow to begin
	paper      *paper        // the server speaks TLS, with this certificate
	late       time.Duration // what is written reaches the client so much later

	countsTwice bool // the metrics tell twice what happened
	// refuse is asked before anything is written; its error is the answer.
	refuse func(*Server, *http.Request, request) error
	// decline writes a refusal in a form of its own.
	decline func(http.ResponseWriter, apiError)
	// shape changes the answer before it starts.
	shape func(*answer)
	// arrive is called when the head of a stream is out, each before every event with tokens, halfway once in the middle,
	// finished behind the last token, and after when everything has been sent.
	arrive, each, halfway, finished, after func(*stream) error
}

// Faults lists all faults by name.
func Faults() []Fault {
	var list []Fault
	for _, f := range faults(0) {
		list = append(list, f.Fault)
	}
	slices.SortFunc(list, func(a, b Fault) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// findFault finds a fault by name: "die-after-20" is the fault "die-after-N".
func findFault(name string) (fault, error) {
	if name == "" {
		return fault{}, nil
	}
	number, general := 0, name
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 {
			number, general = n, name[:i]+"-N"
		}
	}
	for _, f := range faults(number) {
		if f.Name == name && !strings.HasSuffix(name, "-N") || f.Name == general && number > 0 {
			return f, nil
		}
	}
	return fault{}, fmt.Errorf("simulated server: there is no fault %q; the list shows all", name)
}

func (f fault) hides(path string) bool { return slices.Contains(f.hidden, path) }

// faults is the table. The number is that of a name which has one.
func faults(n int) []fault {
	return slices.Concat(refusals(n), breaks(n), floods(), lies(), framings(), manners(), papers(), accounts())
}
