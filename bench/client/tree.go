package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sample is what a process and its descendants had used at a moment.
type sample struct {
	at  time.Time
	cpu float64 // seconds, of ended children too
	rss float64 // MB: the private pages of each, and the shared ones of the largest once
}

// ticks of a second in /proc: the kernel's constant for user space.
const ticks = 100

const (
	everySample = 50 * time.Millisecond
	everyTree   = 10 // samples
)

// watchTree samples a process tree until stop is closed, then sends all samples.
func watchTree(root int, stop <-chan struct{}) <-chan []sample {
	out := make(chan []sample, 1)
	go func() {
		tick := time.NewTicker(everySample)
		defer tick.Stop()
		var all []sample
		var pids []int
		for i := 0; ; i++ {
			if i%everyTree == 0 {
				pids = tree(root)
			}
			all = append(all, take(pids).after(all))
			select {
			case <-tick.C:
			case <-stop:
				out <- all
				return
			}
		}
	}()
	return out
}

// after keeps the CPU from falling when a process has gone.
func (s sample) after(all []sample) sample {
	if len(all) > 0 {
		s.cpu = max(s.cpu, all[len(all)-1].cpu)
	}
	return s
}

// take reads the counters of these processes. One that has ended counts in its parent, which waited for it.
func take(pids []int) sample {
	s := sample{at: time.Now()}
	shared := 0.0
	for _, pid := range pids {
		fields, ok := counters(pid)
		if !ok {
			continue
		}
		for _, i := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime
			n, _ := strconv.ParseFloat(fields[i], 64)
			s.cpu += n / ticks
		}
		private, common := resident(pid)
		s.rss += private
		shared = max(shared, common)
	}
	s.rss += shared
	return s
}

// counters is /proc/PID/stat after the name, which may hold blanks: fields[0] is the state, fields[1] the parent.
func counters(pid int) (fields []string, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, false
	}
	fields = strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	return fields, len(fields) > 14
}

// resident reads the pages of a process, in MB.
func resident(pid int) (private, shared float64) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 3 {
		return 0, 0
	}
	all, _ := strconv.ParseFloat(fields[1], 64)
	shared, _ = strconv.ParseFloat(fields[2], 64)
	page := float64(os.Getpagesize()) / 1e6
	return (all - shared) * page, shared * page
}

// tree is a process and all its descendants.
func tree(root int) []int {
	entries, _ := os.ReadDir("/proc")
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields, ok := counters(pid); ok {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// cpuBetween is the CPU that was used between two moments, in seconds.
func cpuBetween(all []sample, from, until time.Time) float64 {
	return cpuAt(all, until) - cpuAt(all, from)
}

// cpuAt interpolates between the samples around a moment.
func cpuAt(all []sample, at time.Time) float64 {
	for i, s := range all {
		if s.at.Before(at) {
			continue
		}
		if i == 0 {
			return s.cpu
		}
		before := all[i-1]
		share := at.Sub(before.at).Seconds() / s.at.Sub(before.at).Seconds()
		return before.cpu + share*(s.cpu-before.cpu)
	}
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].cpu
}

func peakMB(all []sample) float64 {
	most := 0.0
	for _, s := range all {
		most = max(most, s.rss)
	}
	return most
}
