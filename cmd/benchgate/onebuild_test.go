package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchgate/benchgate/internal/config"
)

func TestATargetThatNamesTheFolderOfItsReferenceIsRefused(t *testing.T) {
	here, err := filepath.Abs("base")
	if err != nil {
		t.Fatal(err)
	}
	serve := config.Target{Command: []string{"./serve", "{port}"}}
	command := func(args ...string) config.Target { return config.Target{Command: args} }
	env := func(name, value string) config.Target {
		return config.Target{Command: serve.Command, Env: map[string]string{"A": "1", name: value}}
	}
	for name, c := range map[string]struct {
		is, was config.Target
		key     string // of what is refused; empty where nothing is
	}{
		"its own build":               {serve, serve, ""},
		"its folder":                  {config.Target{Dir: "./base"}, serve, "target.dir"},
		"another folder, and back":    {config.Target{Dir: "ci", Command: []string{"../base/serve"}}, serve, "target.command[0]"},
		"a word":                      {command("env", "-C", "base", "./serve"), serve, "target.command[2]"},
		"a word for a folder":         {command("uv", "--directory", "base", "run", "serve"), serve, "target.command[2]"},
		"an option that is set":       {command("make", "--directory=base"), serve, "target.command[1]"},
		"an option in one word":       {command("make", "-Cbase"), serve, "target.command[1]"},
		"an absolute word":            {command("env", "-C", here, "./serve"), serve, "target.command[2]"},
		"a mount":                     {command("engine", "run", "-v", "./base:/srv:ro"), serve, "target.command[3]"},
		"a mount in many words":       {command("engine", "--mount", "type=bind,source=base,target=/srv"), serve, "target.command[2]"},
		"a setting before a program":  {command("env", "PYTHONPATH=lib:base", "./serve"), serve, "target.command[1]"},
		"a shell line":                {command("sh", "-c", "cd base && ./serve"), serve, "target.command[2]"},
		"a shell line without spaces": {command("sh", "-c", "(cd 'base';./serve)"), serve, "target.command[2]"},
		"a script on the input":       {command("sh", "-c", "sh<base/serve"), serve, "target.command[2]"},
		"a search path":               {env("PATH", "/usr/bin:base/bin"), serve, "target.env.PATH"},
		"modules":                     {env("PYTHONPATH", "base"), serve, "target.env.PYTHONPATH"},
		"libraries":                   {env("LD_LIBRARY_PATH", "/usr/lib:./base/lib"), serve, "target.env.LD_LIBRARY_PATH"},
		"what runs first":             {env("NODE_OPTIONS", "--require ./base/hook.js"), serve, "target.env.NODE_OPTIONS"},
		"names that only begin alike": {command("./serve", "--model", "base-8b", "--to=database", "-Cbase2", "base.d:x", "/base"), serve, ""},
		"an address":                  {command("./serve", "--proxy", "http://base:{port}/base"), serve, ""},
		"what base names as well":     {command("./serve", "--size", "base", "--more"), command("./serve", "--size", "base"), ""},
		"more than base names":        {command("./serve", "--size=base", "base/own"), command("./serve", "--size", "base"), "target.command[2]"},
	} {
		conf := config.Config{File: "benchgate.yaml", Target: c.is, Reference: &config.Target{Dir: "base"}}
		err := apartAsWritten(conf, c.was)
		switch {
		case c.key == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.key != "" && (err == nil || !strings.Contains(err.Error(), c.key+" leads to ")):
			t.Errorf("%s: error %v, want one of %s", name, err, c.key)
		}
	}
}
