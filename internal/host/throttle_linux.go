package host

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// throttledTime is for how long a CPU quota has stopped threads of this process's container, summed over cores, in seconds;
// 0 where there is no quota, or nothing that tells.
func throttledTime() float64 { return throttledIn(os.DirFS("/")) }

// throttledIn reads the kernel's control groups: the process's own and those above it, of which one has the quota. In a
// container the mount shows the container's group as the root.
func throttledIn(fsys fs.FS) float64 {
	most := 0.0
	for _, folder := range quotaFolders(fsys) {
		data, err := fs.ReadFile(fsys, path.Join(folder, "cpu.stat"))
		if err == nil {
			most = max(most, throttledOf(data))
		}
	}
	return most
}

// quotaFolders are where the groups of this process may tell of their CPU time, in version 2 of control groups and in
// version 1.
func quotaFolders(fsys fs.FS) []string {
	data, err := fs.ReadFile(fsys, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var folders []string
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root := "sys/fs/cgroup"
		switch names := strings.Split(parts[1], ","); {
		case parts[1] == "":
		case slices.Contains(names, "cpu"):
			root = path.Join(root, parts[1])
		default:
			continue
		}
		folders = append(folders, above(root, parts[2])...)
	}
	return folders
}

// above is a group's folder and those of the groups that it lies in.
func above(root, group string) []string {
	folders := []string{root}
	group = strings.Trim(path.Clean("/"+group), "/")
	for at := root; group != ""; {
		first, rest, _ := strings.Cut(group, "/")
		at = path.Join(at, first)
		folders, group = append(folders, at), rest
	}
	return folders
}

// throttledOf reads a cpu.stat: microseconds in version 2, nanoseconds in version 1.
func throttledOf(data []byte) float64 {
	scan := bufio.NewScanner(bytes.NewReader(data))
	for scan.Scan() {
		name, value, _ := strings.Cut(scan.Text(), " ")
		unit := map[string]float64{"throttled_usec": 1e-6, "throttled_time": 1e-9}[name]
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64); err == nil && unit > 0 {
			return float64(n) * unit
		}
	}
	return 0
}
