package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// spans are the code spans of a cell.
var spans = regexp.MustCompile("`([^`]+)`")

// TestEveryThreatNamesTestsThatExist holds the table of docs/security.md against the tree.
func TestEveryThreatNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := threats(t, string(page))
	if len(rows) < 15 {
		t.Fatalf("%d threats", len(rows))
	}
	tests := testsOf(t, "../..")
	for _, row := range rows {
		named := spans.FindAllStringSubmatch(row[len(row)-1], -1)
		if len(named) == 0 {
			t.Errorf("threat %s (%s, %s) names no test", row[0], row[1], row[3])
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("threat %s (%s, %s) names %s, which is not there", row[0], row[1], row[3], name[1])
			}
		}
	}
}

// threats are the rows of the table whose last column is "shown by".
func threats(t *testing.T, page string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(page, "| shown by |\n")
	if !found {
		t.Fatal("no table says by which tests it is shown")
	}
	var rows [][]string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "| ") {
			if len(rows) > 0 {
				break
			}
			continue // the rule below the head
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(row) != 6 {
			t.Fatalf("%d cells: %s", len(row), line)
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// testsOf are the tests of all packages as "folder.Name", and the scripts of this one by their names.
func testsOf(t *testing.T, root string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case filepath.Ext(path) == ".txtar":
			all[entry.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
					all[filepath.Base(filepath.Dir(path))+"."+f.Name.Name] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
