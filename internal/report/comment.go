package report

import (
	"strings"

	"github.com/benchgate/benchgate/internal/gate"
)

// mostCharacters is what GitHub takes as the body of a comment.
const mostCharacters = 65_536

// Comment renders the verdict for a comment: at most limit bytes, and never more characters than GitHub takes. What is cut is
// said, and that the job's summary has more. Foreign text in it mentions nobody, links nowhere and breaks no table.
func Comment(v gate.Verdict, limit int) string { return Summary(v, min(limit, mostCharacters)) }

// Summary renders the verdict for a job's summary: at most limit bytes. What is cut is said, and that the HTML report has it.
func Summary(v gate.Verdict, limit int) string {
	var b strings.Builder
	if err := writeMarkdown(&b, v); err == nil && b.Len() <= limit {
		return b.String()
	}
	m := &comment{}
	m.title(v)
	return m.String()
}
