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

// TestEveryThreatNamesTestsThatExist holds the two tables of docs/security.md against each other and against the tree.
func TestEveryThreatNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	threats := rowsBelow(t, string(page), "| # | asset | attack | what stops it |\n")
	shown := rowsBelow(t, string(page), "| threat | tests |\n")
	if len(threats) < 15 || len(shown) != len(threats) {
		t.Fatalf("%d threats, and tests of %d", len(threats), len(shown))
	}
	tests := testsOf(t, "../..")
	for i, threat := range threats {
		if shown[i][0] != threat[0] {
			t.Fatalf("threat %s stands where the tests are of %s", threat[0], shown[i][0])
		}
		named := spans.FindAllStringSubmatch(shown[i][1], -1)
		if len(named) == 0 {
			t.Errorf("threat %s (%s, %s) names no test", threat[0], threat[1], threat[2])
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("threat %s (%s, %s) names %s, which is not there", threat[0], threat[1], threat[2], name[1])
			}
		}
	}
}

// rowsBelow are the cells of the rows of the table with that head.
func rowsBelow(t *testing.T, page, head string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(page, head)
	if !found {
		t.Fatalf("there is no table %s", head)
	}
	columns := strings.Count(head, "|") - 1
	var rows [][]string
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "|---") {
			continue
		}
		if !strings.HasPrefix(line, "| ") {
			break
		}
		row := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(row) != columns {
			t.Fatalf("%d cells, not %d: %s", len(row), columns, line)
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
