// Package workflow holds the GitHub workflows that `benchgate init` writes and that examples/workflows shows.
package workflow

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates/*.yml
var templates embed.FS

// The public actions, pinned by commit, with the version that the commit belongs to.
const (
	checkout = "3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
	setupGo  = "b7ad1dad31e06c5925ef5d2fc7ad053ef454303e # v7.0.0"
	upload   = "bbbca2ddaa5d8feaa63e36b76fdaad77386f024f # v7.0.0"
	download = "3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1"
)

// unknown stands where the commit of this action has to be written by hand: no action has this commit, so a workflow that
// was not finished does not start.
const unknown = "0000000000000000000000000000000000000000"

// several is an example that stands in for the gate: who has several runners takes it by hand.
const several = "several-runners.yml"

// Options say what a workflow is written for.
type Options struct {
	// GateOn is the event that is gated: "pull_request" or "merge_group".
	GateOn string
	// Revision is the commit of benchgate that the workflow uses, 40 hexadecimal digits, and Version is what people call it.
	// With any other Revision, as with none, the workflow has a place to be filled in: see [Open].
	Revision, Version string
	// Branch is the one that the gate guards, as [Branch] takes it; "" is main.
	Branch string
	// Source is whether every job builds the program from that commit: of one that is no release there is nothing to download.
	Source bool
}

var (
	commit  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	version = regexp.MustCompile(`^v[0-9][0-9A-Za-z.+-]*$`)
	release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)
	branch  = regexp.MustCompile(`^[0-9A-Za-z_][0-9A-Za-z_./-]*$`)
)

// Branch reports whether a workflow can be written for a branch of this name: to GitHub it is a pattern.
func Branch(name string) bool { return branch.MatchString(name) }

// Names are the workflows that there are, sorted.
func Names() []string {
	found, err := templates.ReadDir("templates")
	if err != nil {
		panic(err) // they are part of the program
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name())
	}
	return names
}

// Text is one of [Names] for the options.
func Text(name string, o Options) ([]byte, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("there is no workflow %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	if o.GateOn != "pull_request" && o.GateOn != "merge_group" {
		return nil, fmt.Errorf("a gate does not run on %q: want pull_request or merge_group", o.GateOn)
	}
	if o.Branch != "" && !Branch(o.Branch) {
		return nil, fmt.Errorf("a workflow is not written for a branch called %q", o.Branch)
	}
	// ${{ }} is GitHub's, so the templates have other brackets.
	t, err := template.New(name).Delims("<%", "%>").Option("missingkey=error").ParseFS(templates, path.Join("templates", name))
	if err != nil {
		return nil, fmt.Errorf("workflow %q: %w", name, err)
	}
	var out bytes.Buffer
	err = t.Execute(&out, values{
		GateOn: o.GateOn, Branch: quoted(o.Branch), Benchgate: pin(o), Source: o.Source, Checkout: checkout, Upload: upload, Download: download,
	})
	if err != nil {
		return nil, fmt.Errorf("workflow %q: %w", name, err)
	}
	return out.Bytes(), nil
}

// Initial are those of [Names] that a repository starts with; each belongs into .github/workflows.
func Initial() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == several })
}

// Open says whether a workflow still has a place where a commit has to be filled in.
func Open(text []byte) bool { return bytes.Contains(text, []byte("@"+unknown)) }

// quoted is the name of a branch as a scalar of YAML, which takes some names for numbers.
func quoted(branch string) string {
	if branch == "" || branch == "main" {
		return "main"
	}
	return "'" + branch + "'"
}

func pin(o Options) string {
	switch known := commit.MatchString(o.Revision) && o.Revision != unknown; {
	case known && version.MatchString(o.Version):
		return o.Revision + " # " + o.Version
	case known:
		return o.Revision + " # v0, built from source"
	case release.MatchString(o.Version):
		return unknown + " # " + o.Version + ": replace it by the commit of this release"
	case o.Source:
		return unknown + " # v0: replace it by a commit of benchgate"
	}
	return unknown + " # v0: replace it by the commit of a release"
}
