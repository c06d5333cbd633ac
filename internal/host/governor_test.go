package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGovernorsAreCountedByCore(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"cpu0/cpufreq/scaling_governor": "powersave\n", "cpu1/cpufreq/scaling_governor": "powersave\n",
		"cpu12/cpufreq/scaling_governor": "performance\n", "cpu2/cpufreq/scaling_governor": "\n", "cpufreq/scaling_governor": "odd\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]int{"powersave": 2, "performance": 1}, governorsUnder(folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := governorsUnder(filepath.Join(folder, "none")); len(got) != 0 {
		t.Errorf("a system that does not tell has %v", got)
	}
}
