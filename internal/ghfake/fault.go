package ghfake

import (
	"fmt"
	"net/http"
	"slices"
)

// Fault is something that goes wrong with some calls.
type Fault struct {
	Name  string       // one of Names; "" leaves the answer alone: for a Do by itself
	On    string       // which calls: a short name ("create"), "read", "write", or "" for all
	Skip  int          // how many of those calls go well first
	Times int          // how many meet it then; 0 for all that follow
	Do    func(*State) // happens as the call arrives: what other people do in between; nil for nothing
}

// kind is how a fault of one name behaves.
type kind struct {
	before bool                                                   // the call changes nothing: the fault comes before GitHub sees it
	first  bool                                                   // a call that has followed GitHub's redirect does not meet it again
	answer func(s *Server, v visit, a answer) answer              // what is answered, nil leaves it
	breaks func(w http.ResponseWriter, r *http.Request, a answer) // does not answer as a server should; nil answers
}

type fault struct {
	name string
	kind kind
	Fault
	seen int
}

// Names are the names of all faults, sorted.
func Names() []string {
	var all []string
	for n := range kinds {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// Fail adds faults. Where several fit a call, the one that was added first has it.
func (s *Server) Fail(all ...Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range all {
		k, ok := kinds[f.Name]
		if !ok && f.Name != "" {
			return fmt.Errorf("no fault is called %q: the names are %q", f.Name, Names())
		}
		if f.On != "" && f.On != "read" && f.On != "write" && short[f.On] == "" {
			return fmt.Errorf("no call is called %q", f.On)
		}
		s.faults = append(s.faults, &fault{f.Name, k, f, 0})
	}
	return nil
}

// Heal takes all faults away.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// next is the fault that a call meets. Everything that happens beside it has happened then.
func (s *Server) next(v visit, operation string) *fault {
	var met *fault
	for _, f := range s.faults {
		if !f.fits(operation) || v.moved && f.kind.first {
			continue
		}
		f.seen++
		if f.seen <= f.Skip || f.Times > 0 && f.seen > f.Skip+f.Times {
			continue
		}
		if f.Do != nil {
			f.Do(v.State)
		}
		if f.name != "" && met == nil {
			met = f
		}
	}
	return met
}

func (f *fault) fits(operation string) bool {
	switch f.On {
	case "":
		return true
	case "read":
		return reads[operation]
	case "write":
		return !reads[operation]
	}
	return short[f.On] == operation
}

var reads = map[string]bool{
	"issues/list-comments": true, "issues/get-comment": true, "issues/get": true, "issues/list-for-repo": true,
	"pulls/get": true, "pulls/list": true, "users/get-authenticated": true, "rate-limit/get": true,
	viewer:                               true, // a POST that only reads
	"repos/list-commit-statuses-for-ref": true, "repos/list-pull-requests-associated-with-commit": true,
}

func (s *Server) faulty(f *fault, v visit, a answer) answer {
	if f.kind.answer == nil {
		return a
	}
	b := f.kind.answer(s, v, a)
	if b.header == nil {
		b.header = http.Header{}
	}
	return b
}
