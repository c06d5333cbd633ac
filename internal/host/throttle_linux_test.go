package host

import (
	"testing"
	"testing/fstest"
)

func TestThrottledTimeIsThatOfTheGroupWithTheQuota(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const pod = "sys/fs/cgroup/kubepods.slice/pod1.slice/"
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		want float64
	}{
		{"inside a container", fstest.MapFS{
			"proc/self/cgroup":       file("0::/\n"),
			"sys/fs/cgroup/cpu.stat": file("usage_usec 9\nnr_periods 40\nnr_throttled 30\nthrottled_usec 2500000\n"),
		}, 2.5},
		{"quota of the pod", fstest.MapFS{
			"proc/self/cgroup":                file("0::/kubepods.slice/pod1.slice/main.scope\n"),
			pod + "main.scope/cpu.stat":       file("nr_throttled 0\nthrottled_usec 0\n"),
			pod + "cpu.stat":                  file("nr_throttled 3\nthrottled_usec 1000000\n"),
			"sys/fs/cgroup/other/cpu.stat":    file("throttled_usec 9000000\n"),
			"sys/fs/cgroup/main.scope/a.stat": file("throttled_usec 9000000\n"),
		}, 1},
		{"version 1", fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n"),
			"sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.stat": file("nr_periods 4\nnr_throttled 2\nthrottled_time 1500000000\n"),
			"sys/fs/cgroup/memory/docker/a/cpu.stat":      file("throttled_time 9000000000\n"),
		}, 1.5},
		{"no quota", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/cpu.stat": file("usage_usec 9\n")}, 0},
		{"nonsense", fstest.MapFS{"proc/self/cgroup": file("0::/../../..\nx\n::\n"), "sys/fs/cgroup/cpu.stat": file("throttled_usec -1\nthrottled_usec many\n")}, 0},
		{"nothing", fstest.MapFS{}, 0},
	} {
		if got := throttledIn(c.fs); got != c.want {
			t.Errorf("%s: %v s, want %v s", c.name, got, c.want)
		}
	}
}
