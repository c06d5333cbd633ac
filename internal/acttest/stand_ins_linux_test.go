package acttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStandInsAreAsStrict: an artifact's name is taken once in a run, what is not there is an error, and no mode survives.
func TestStandInsAreAsStrict(t *testing.T) {
	folder := t.TempDir()
	t.Chdir("testdata/stand-ins")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	script := func(name string, variables ...string) error {
		cmd := exec.Command("bash", filepath.Join(here, name, name+".sh"))
		cmd.Dir = folder
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "STAND_IN=" + folder}, variables...)
		return cmd.Run()
	}
	upload := func(name, from string) error {
		return script("upload-artifact", "NAME="+name, "FROM="+from, "MISSING=error", "OVERWRITE=false")
	}
	for _, name := range []string{"out/lab/chat.json", "out/.hidden"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte("measured"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := upload("results-1", "out"); err != nil {
		t.Fatal(err)
	}
	if upload("results-1", "out") == nil {
		t.Error("a second artifact of the same name was taken")
	}
	if upload("results-2", "nothing") == nil {
		t.Error("an artifact without files was taken")
	}
	download := func(variables ...string) error { return script("download-artifact", variables...) }
	if err := download("NAME=results-1", "PATTERN=", "TO=back", "MERGE=false"); err != nil {
		t.Fatal(err)
	}
	if download("NAME=results-9", "PATTERN=", "TO=back", "MERGE=false") == nil {
		t.Error("an artifact came that was never kept")
	}
	info, err := os.Stat(filepath.Join(folder, "back", "lab", "chat.json"))
	if err != nil || info.Mode().Perm()&0o111 != 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "back", ".hidden")); err == nil {
		t.Error("a hidden file came with the others")
	}
}
