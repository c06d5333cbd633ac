package main

import (
	"fmt"
	"os"

	"github.com/benchgate/benchgate/internal/gate"
	"github.com/benchgate/benchgate/internal/report"
)

type reportCmd struct {
	Verdict string `arg:"" placeholder:"verdict.json" help:"A verdict written by gate."`
	Format  string `enum:"text,markdown,html,json" default:"text" help:"text, markdown, html or json."`
	Output  string `short:"o" default:"-" placeholder:"FILE" help:"Where the report goes; - is stdout."`
}

// Run renders a verdict. It decides nothing and always exits 0 when the file is a verdict.
func (c reportCmd) Run(sh *shell) error {
	v, err := readVerdict(c.Verdict)
	if err != nil {
		return err
	}
	if c.Output == "-" {
		return report.Write(sh.stdout, c.Format, v)
	}
	return writeFile(c.Output, func(f *os.File) error { return report.Write(f, c.Format, v) })
}

func readVerdict(path string) (gate.Verdict, error) {
	f, err := os.Open(path)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("read verdict: %w", err)
	}
	defer f.Close()
	return gate.ReadVerdict(f, path)
}
