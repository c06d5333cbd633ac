package artifact

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is a file of a zip that a test makes.
type entry struct {
	name string
	text string
	edit func(h *zip.FileHeader)
	// raw has the text written as it is, whatever the header says of it.
	raw bool
}

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.raw {
			h.Method = zip.Store
			h.CRC32, h.CompressedSize64, h.UncompressedSize64 = crc32.ChecksumIEEE([]byte(e.text)), uint64(len(e.text)), uint64(len(e.text))
		}
		if e.edit != nil {
			e.edit(h)
		}
		create := w.CreateHeader
		if e.raw {
			create = w.CreateRaw
		}
		f, err := create(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// open puts a zip beside a folder to unpack into, opens it, and shows that nothing was written elsewhere.
func open(t testing.TB, data []byte) (folder string, err error) {
	t.Helper()
	place := t.TempDir()
	name := filepath.Join(place, "results.zip")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	folder, err = Open(name, filepath.Join(place, "into"))
	beside, readErr := os.ReadDir(place)
	if readErr != nil || len(beside) > 2 {
		t.Fatalf("written beside the folder: %v, error %v", beside, readErr)
	}
	if err != nil {
		if left, _ := os.ReadDir(filepath.Join(place, "into")); len(left) > 0 {
			t.Fatalf("left of a refused zip: %v", left)
		}
	}
	return folder, err
}

func plain(t testing.TB) []entry {
	var all []entry
	for _, name := range fileNames {
		all = append(all, entry{name: name, text: "text of " + name})
	}
	return all
}

func TestAZipIsUnpacked(t *testing.T) {
	folder, err := open(t, pack(t, append(plain(t), entry{name: "lab/", text: ""}, entry{name: "empty/", text: ""})...))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // what nobody reads is not unpacked
	for _, name := range []string{"lab/chat.json", "lab/campaign.jsonl", "lab/reference/chat.json", "lab/campaign.jsonl.old-1", "verdict.json"} {
		want[name] = "text of " + name
	}
	if diff := cmp.Diff(want, tree(t, folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTwoZipsAreUnpackedApart(t *testing.T) {
	place := t.TempDir()
	var folders []string
	for i := range 2 {
		name := filepath.Join(place, fmt.Sprint(i))
		if err := os.WriteFile(name, pack(t, entry{name: "verdict.json", text: fmt.Sprint(i)}), 0o644); err != nil {
			t.Fatal(err)
		}
		folder, err := Open(name, place)
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	for i, f := range folders {
		if diff := cmp.Diff(map[string]string{"verdict.json": fmt.Sprint(i)}, tree(t, f)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func mode(m fs.FileMode) func(h *zip.FileHeader) { return func(h *zip.FileHeader) { h.SetMode(m) } }

func TestHostileZipsAreRefused(t *testing.T) {
	zeros := strings.Repeat("\x00", 2<<20)
	var many []entry
	for i := range 10_000 {
		many = append(many, entry{name: fmt.Sprintf("lab/%d.json", i), text: "{}"})
	}
	sized := func(size uint64) func(h *zip.FileHeader) {
		return func(h *zip.FileHeader) { h.UncompressedSize64 = size }
	}
	for name, c := range map[string]struct {
		entries []entry
		want    []string
	}{
		"upwards":              {[]entry{{name: "../../out.json", text: "x"}}, []string{`"../../out.json"`, `".." is no name`}},
		"upwards inside":       {[]entry{{name: "lab/../../out.json", text: "x"}}, []string{`".." is no name`}},
		"absolute":             {[]entry{{name: "/etc/cron.d/x", text: "x"}}, []string{`"/etc/cron.d/x"`, `"" is no name`}},
		"a drive":              {[]entry{{name: `C:\x.json`, text: "x"}}, []string{"is no name"}},
		"backslashes":          {[]entry{{name: `..\..\x.json`, text: "x"}}, []string{"is no name"}},
		"two slashes":          {[]entry{{name: "lab//x.json", text: "x"}}, []string{`"" is no name`}},
		"this folder":          {[]entry{{name: "./x.json", text: "x"}}, []string{`"." is no name`}},
		"no name":              {[]entry{{name: "", text: "x"}}, []string{`"" is no name`}},
		"a slash alone":        {[]entry{{name: "/"}}, []string{`"" is no name`}},
		"a zero byte":          {[]entry{{name: "lab/x.json\x00.png", text: "x"}}, []string{`"lab/x.json\x00.png"`, "is no name"}},
		"text that turns":      {[]entry{{name: "lab/\u202enosj.x", text: "x"}}, []string{`\u202e`, "is no name"}},
		"a workflow command":   {[]entry{{name: "lab/x\n::add-mask::y", text: "x"}}, []string{`"lab/x\n::add-mask::y"`, "is no name"}},
		"a hidden file":        {[]entry{{name: ".git/hooks/post-checkout", text: "x"}}, []string{`".git" is no name`}},
		"a name that ends .":   {[]entry{{name: "lab/x.", text: "x"}}, []string{`"x." is no name`}},
		"a link":               {[]entry{{name: "lab/x.json", text: "/etc/passwd", edit: mode(fs.ModeSymlink | 0o777)}}, []string{`"lab/x.json"`, "symbolic link"}},
		"a link and a file":    {[]entry{{name: "lab", text: "/tmp", edit: mode(fs.ModeSymlink | 0o777)}, {name: "lab/x.json", text: "x"}}, []string{`"lab"`, "symbolic link"}},
		"a link as a folder":   {[]entry{{name: "lab/", edit: func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777); h.Name = "lab/" }}}, []string{`"lab"`, "symbolic link"}},
		"a device":             {[]entry{{name: "lab/null", edit: mode(fs.ModeDevice | 0o666)}}, []string{`"lab/null"`, "device"}},
		"a pipe":               {[]entry{{name: "lab/pipe", edit: mode(fs.ModeNamedPipe | 0o666)}}, []string{`"lab/pipe"`, "pipe"}},
		"the same name":        {[]entry{{name: "lab/x.json", text: "a"}, {name: "lab/x.json", text: "b"}}, []string{"the same name as"}},
		"the same but case":    {[]entry{{name: "lab/x.json", text: "a"}, {name: "lab/X.json", text: "b"}}, []string{`"lab/X.json"`, `"lab/x.json"`, "the same name as"}},
		"a folder's case":      {[]entry{{name: "lab/x.json", text: "a"}, {name: "LAB/y.json", text: "b"}}, []string{`"lab"`, "the same name as"}},
		"a file as a folder":   {[]entry{{name: "lab", text: "a"}, {name: "lab/x.json", text: "b"}}, []string{`"lab"`, "the same name as"}},
		"a folder as a file":   {[]entry{{name: "lab/x.json", text: "b"}, {name: "lab", text: "a"}}, []string{`"lab"`, "the same name as"}},
		"too deep":             {[]entry{{name: "a/b/c/d/e/f/g", text: "x"}}, []string{"more than 5 folders deep"}},
		"10,000 files":         {many, []string{"more than 5000 files and folders"}},
		"a bomb":               {[]entry{{name: "lab/x.json", text: zeros}}, []string{`"lab/x.json"`, "one byte unpacks to more than 250"}},
		"a bomb that lies":     {[]entry{{name: "lab/x.json", text: deflated(t, zeros), raw: true, edit: func(h *zip.FileHeader) { h.Method = zip.Deflate; h.UncompressedSize64 = 10 }}}, []string{`"lab/x.json"`, "it cannot be unpacked"}},
		"a large bomb":         {[]entry{{name: "lab/campaign.jsonl", text: strings.Repeat("x", 16<<20), raw: true, edit: sized(3 << 30)}}, []string{`"lab/campaign.jsonl"`, "one byte of so many unpacks to more than 50"}},
		"a log that is a link": {[]entry{{name: "lab/server-1.log", text: "/etc/passwd", edit: func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }}}, []string{`"lab/server-1.log"`, "symbolic link"}},
		"more than 4 GiB":      {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: sized(1 << 40)}}, []string{`"lab/x.json"`, "more than 256 MiB"}},
		"no number of bytes":   {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: sized(1<<64 - 1)}}, []string{"more than 256 MiB"}},
		"less than it says":    {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: sized(100)}}, []string{"it cannot be unpacked"}},
		"more than it says":    {[]entry{{name: "lab/x.json", text: "some text", raw: true, edit: sized(4)}}, []string{"it cannot be unpacked"}},
		"a wrong checksum":     {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: func(h *zip.FileHeader) { h.CRC32++ }}}, []string{"checksum"}},
		"broken deflate":       {[]entry{{name: "lab/x.json", text: "\xff\xff\xff", raw: true, edit: func(h *zip.FileHeader) { h.Method = zip.Deflate }}}, []string{"it cannot be unpacked"}},
		"encrypted":            {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: func(h *zip.FileHeader) { h.Flags |= 1 }}}, []string{"encrypted"}},
		"packed another way":   {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: func(h *zip.FileHeader) { h.Method = 14 }}}, []string{"method 14"}},
		"longer than the zip":  {[]entry{{name: "lab/x.json", text: "x", raw: true, edit: func(h *zip.FileHeader) { h.CompressedSize64 = 1 << 50 }}}, []string{"larger than the zip"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := open(t, pack(t, append(c.entries, entry{name: "last.json", text: "{}"})...))
			if err == nil {
				t.Fatalf("taken: %v", tree(t, folder))
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

func deflated(t testing.TB, text string) string {
	t.Helper()
	data := pack(t, entry{name: "x", text: text})
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := z.File[0].OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestEntriesThatShareBytesAreRefused moves the place of the second entry onto the first.
func TestEntriesThatShareBytesAreRefused(t *testing.T) {
	data := pack(t, entry{name: "lab/a.json", text: "some text", raw: true}, entry{name: "lab/b.json", text: "some text", raw: true})
	second := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[second+42:], 0)
	_, err := open(t, data)
	if err == nil || !strings.Contains(err.Error(), "it shares bytes with") {
		t.Errorf("error %v", err)
	}
}

func TestAFolderHasNoContent(t *testing.T) {
	data := bytes.ReplaceAll(pack(t, entry{name: "lab_", text: "x", raw: true}), []byte("lab_"), []byte("lab/"))
	_, err := open(t, data)
	if err == nil || !strings.Contains(err.Error(), "a folder that has content") {
		t.Errorf("error %v", err)
	}
}

func TestAListThatIsTooLongIsNotRead(t *testing.T) {
	var entries []entry
	long := strings.Repeat("x", 900) // refused by its length too, had the list been read
	for i := range 5000 {
		entries = append(entries, entry{name: fmt.Sprintf("lab/%d%s.json", i, long), raw: true})
	}
	data := pack(t, entries...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := open(t, data)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "list of entries has more than 4 MiB") {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("it took %d MiB of memory", took>>20)
	}
}

func TestABombTakesLittleMemory(t *testing.T) {
	bomb := pack(t, entry{name: "lab/x.json", text: deflated(t, strings.Repeat("\x00", 16<<20)), raw: true, edit: func(h *zip.FileHeader) { h.Method = zip.Deflate; h.UncompressedSize64 = 1 << 20 }})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := open(t, bomb)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "it cannot be unpacked") {
		t.Errorf("error %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("it took %d MiB of memory", took>>20)
	}
}

func TestCutZipsAreRefused(t *testing.T) {
	data := pack(t, plain(t)...)
	for _, left := range []int{1, 22, len(data) / 2, len(data) - 23, len(data) - 1} {
		if _, err := open(t, data[:left]); err == nil {
			t.Errorf("%d of %d bytes are taken", left, len(data))
		}
	}
}

func TestWhatStandsInTheWayIsNotFollowed(t *testing.T) {
	place, outside := t.TempDir(), t.TempDir()
	name := filepath.Join(place, "results.zip")
	if err := os.WriteFile(name, pack(t, plain(t)...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(place, "lab")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(name, place); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, outside); len(left) > 0 {
		t.Errorf("written through a link: %v", left)
	}
}

// FuzzOpen: no bytes make it panic or write outside, and what is taken keeps the rules.
func FuzzOpen(f *testing.F) {
	f.Add(pack(f, plain(f)...))
	f.Add(pack(f, entry{name: "../x", text: "x"}))
	f.Add(pack(f, entry{name: "x", text: "/etc", edit: mode(fs.ModeSymlink)}, entry{name: "x/y", text: "x"}))
	f.Add(pack(f, entry{name: "x", text: "x", raw: true, edit: func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }}))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder, err := open(t, data)
		if err != nil {
			return
		}
		if err := inspect(folder); err != nil {
			t.Fatalf("what was unpacked breaks a rule: %v", err)
		}
	})
}
