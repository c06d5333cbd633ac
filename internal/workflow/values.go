package workflow

// values are what a template may name. What a method returns stands behind the end of the line before: `<%- .Install%>`.
type values struct {
	GateOn, Branch string
	// Benchgate is a commit with a comment, to be written behind benchgate/benchgate@; so are the others, behind theirs.
	Benchgate, Checkout, Upload, Download string
	Source                                bool
}

// inQueue is when a gate on the merge queue measures.
const inQueue = "github.event_name == 'merge_group'"

// Go is the step that brings Go to a job that builds the program, "" in one that does not.
func (v values) Go() string { return v.step("") }

// QueueGo is [values.Go] before a step that a gate on the merge queue does there alone.
func (v values) QueueGo() string {
	if v.GateOn == "merge_group" {
		return v.step(inQueue)
	}
	return v.step("")
}

func (v values) step(condition string) string {
	if !v.Source {
		return ""
	}
	text := "\n      - uses: actions/setup-go@" + setupGo
	if condition != "" {
		text += "\n        if: " + condition
	}
	return text + "\n        with: {go-version: '1.26', cache: false}"
}

// Install is the input that has the action build the program, "" where it downloads it.
func (v values) Install() string {
	if !v.Source {
		return ""
	}
	return "\n          install: source"
}
