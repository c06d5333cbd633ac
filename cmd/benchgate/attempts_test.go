package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchgate/benchgate/internal/campaign"
)

func TestCampaignIsFoundInAFolderNamedLikeAPattern(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out[1]*")
	err := writeFile(filepath.Join(out, "lab", campaign.JournalFile), func(f *os.File) error {
		_, err := f.WriteString(`{"visit":{"visit":1,"started":"2026-11-01T12:00:00Z"}}` + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range attempts(out) {
		got = append(got, a.What)
	}
	if diff := cmp.Diff([]string{"lab, start 1 of the server: 0 runs"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var unfit *campaign.ServerError
	if err := unmeasured(out, ""); !errors.As(err, &unfit) {
		t.Errorf("%v, want that nothing was measured", err)
	}
}
