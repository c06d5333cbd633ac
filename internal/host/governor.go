package host

import (
	"os"
	"path/filepath"
	"strings"
)

// Governors counts the cores by the rule that sets their clock: "performance", "powersave", "schedutil", …. It is empty
// where the system does not tell: another than Linux, or most virtual machines.
func Governors() map[string]int { return governorsUnder("/sys/devices/system/cpu") }

func governorsUnder(folder string) map[string]int {
	cores := map[string]int{}
	files, _ := filepath.Glob(filepath.Join(folder, "cpu[0-9]*", "cpufreq", "scaling_governor")) // the pattern is a good one
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && len(strings.TrimSpace(string(data))) > 0 {
			cores[strings.TrimSpace(string(data))]++
		}
	}
	return cores
}
