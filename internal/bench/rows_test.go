package bench_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/bench"
)

func rowsFile(t testing.TB, rows []bench.Rows) string {
	t.Helper()
	var b bytes.Buffer
	if err := bench.WriteRows(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRowsAreIntegersAndMarkWhatIsAbsent(t *testing.T) {
	late := answer(1, 0.2, 0.2, 1)
	failed := answer(2, 0.2, 0.9, 5)
	failed.Class = bench.Truncated
	got := bench.RowsOf(4, []bench.Request{answer(0, 0.1234567, 0.3234567, 3), late, failed})
	want := bench.Rows{Order: 4, Rows: [][5]int64{{123457, 100000, 323457, 3, 0}, {200000, -1, 200000, 1, 0}, {-1, -1, -1, -1, 16}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	want := []bench.Rows{{Order: 1, Rows: [][5]int64{{100, 200, 300, 4, 0}, {-1, -1, -1, -1, 22}}}, {Order: 5, Rows: [][5]int64{}}}
	file := rowsFile(t, want)
	golden(t, "testdata/chat.rows.jsonl", []byte(file))
	got, err := bench.ReadRows(strings.NewReader(file), "chat.rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDamagedRowsAreRefused(t *testing.T) {
	whole := rowsFile(t, []bench.Rows{{Order: 1, Rows: [][5]int64{{100, 200, 300, 4, 0}}}})
	head := whole[:strings.Index(whole, "\n")+1]
	for name, c := range map[string]struct{ file, want string }{
		"zero bytes":     {"", "empty file"},
		"cut":            {whole[:len(whole)-4], "line 2: the file ends in mid-line"},
		"cut at the end": {whole[:len(whole)-1], "line 2: the file ends in mid-line"},
		"no header":      {whole[len(head):], "line 1: no schema"},
		"a digest":       {written(t, example()), "not a file with schema benchgate.rows/v1"},
		"newer major":    {strings.Replace(whole, "rows/v1", "rows/v2", 1), "knows benchgate.rows/v1 only"},
		"LFS pointer":    {"version https://git-lfs.github.com/spec/v1\n", "LFS pointer"},
		"conflict":       {head + "=======\n", "line 2: a merge conflict marker"},
		"run twice":      {whole + whole[len(head):], "line 3: run 1 stands twice"},
		"run zero":       {strings.Replace(whole, `"run":1`, `"run":0`, 1), "run 0 is out of range"},
		"short row":      {strings.Replace(whole, "[100,", "[", 1), "run 1, request 1: 4 numbers, want 5"},
		"long row":       {strings.Replace(whole, "[100,", "[100,100,", 1), "6 numbers, want 5"},
		"negative":       {strings.Replace(whole, "[100,", "[-2,", 1), "-2 is negative"},
		"unknown class":  {strings.Replace(whole, ",0]]", ",99]]", 1), "class 99 is unknown"},
		"fraction":       {strings.Replace(whole, "[100,", "[100.5,", 1), "100.5"},
		"null":           {strings.Replace(whole, "[100,", "[null,", 1), "null stands"},
		"NaN":            {strings.Replace(whole, "[100,", "[NaN,", 1), "line 2, column 19: NaN is not"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := bench.ReadRows(strings.NewReader(c.file), "chat.rows.jsonl")
			if err == nil {
				t.Fatalf("read as %v", rows)
			}
			if !strings.HasPrefix(err.Error(), `read rows "chat.rows.jsonl": `) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func FuzzReadRows(f *testing.F) {
	f.Add([]byte(rowsFile(f, []bench.Rows{{Order: 1, Rows: [][5]int64{{100, 200, 300, 4, 0}}}})))
	f.Add([]byte(`{"schema":"benchgate.rows/v1"}` + "\n" + `{"run":1,"rows":null}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := bench.ReadRows(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		again, err := bench.ReadRows(strings.NewReader(rowsFile(t, rows)), "x")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Fatalf("(-read +again):\n%s", diff)
		}
	})
}
