package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockRetry = 250 * time.Millisecond
	lockTalk  = 10 * time.Second
)

// shared are the folders that all users of a machine see alike. A lock is held in each of them that can be used: on some
// systems only root can make a file in the first, in some services the second is not everybody's.
var shared = [...]string{"/var/lock", "/tmp"}

// Lock waits until no other benchmark on this machine holds the device, and holds it until unlock is called or the
// process ends. While it waits it calls waiting, at once and then every ten seconds; waiting may be nil. A canceled
// context ends the wait with its cause, and with the holder and the lock's file. The lock is a file named by the device, in
// /var/lock and /tmp, else in the temp folder.
func Lock(ctx context.Context, device string, waiting func(msg string)) (unlock func() error, err error) {
	return lockAll(lockFolders(device, shared[:], os.TempDir()), func(folder string) (func() error, error) {
		return lockIn(ctx, folder, device, waiting)
	})
}

// TryLock takes the device at once, or says who holds it.
func TryLock(device string) (unlock func() error, holder string, err error) {
	unlock, err = lockAll(lockFolders(device, shared[:], os.TempDir()), func(folder string) (unlock func() error, err error) {
		unlock, holder, err = tryLockIn(folder, device)
		return unlock, err
	})
	return unlock, holder, err
}

// lockAll takes a lock in every folder, always in the same order, or in none.
func lockAll(folders []string, take func(folder string) (func() error, error)) (func() error, error) {
	var taken []func() error
	release := func() error {
		var all error
		for _, unlock := range slices.Backward(taken) {
			all = errors.Join(all, unlock())
		}
		return all
	}
	for _, folder := range folders {
		unlock, err := take(folder)
		if err != nil || unlock == nil {
			return nil, errors.Join(err, release())
		}
		taken = append(taken, unlock)
	}
	return release, nil
}

func tryLockIn(folder, device string) (unlock func() error, by string, err error) {
	lock := lockOf(folder, device)
	switch ok, err := take(lock, device); {
	case err != nil:
		return nil, "", err
	case !ok:
		return nil, holder(lock.Path()), nil
	}
	return lock.Unlock, "", nil
}

func lockOf(folder, device string) *flock.Flock {
	path := filepath.Join(folder, "benchgate-"+fileName(device)+".lock")
	return flock.New(path, flock.SetFlag(lockFlag(path)), flock.SetPermissions(0o666))
}

// take takes the lock if it is free, and signs it.
func take(lock *flock.Flock, device string) (bool, error) {
	ok, err := lock.TryLock()
	if err != nil {
		return false, fmt.Errorf("lock device %q: %w", device, err)
	}
	if ok {
		sign(lock.Path())
	}
	return ok, nil
}

func lockIn(ctx context.Context, folder, device string, waiting func(msg string)) (func() error, error) {
	lock := lockOf(folder, device)
	begun, said := time.Now(), time.Time{}
	for {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("wait for device %q, held by %s (%s): %w", device, holder(lock.Path()), lock.Path(), context.Cause(ctx))
		}
		ok, err := take(lock, device)
		if err != nil {
			return nil, err
		}
		if ok {
			return lock.Unlock, nil
		}
		if waiting != nil && (said.IsZero() || time.Since(said) >= lockTalk) {
			said = time.Now()
			waiting(waitMessage(device, lock.Path(), time.Since(begun)))
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockRetry):
		}
	}
}

func waitMessage(device, path string, waited time.Duration) string {
	msg := fmt.Sprintf("waiting for device %q, held by %s", device, holder(path))
	if waited >= time.Second {
		msg += fmt.Sprintf(", for %s now", waited.Round(time.Second))
	}
	return msg + " (" + path + ")"
}

// lockFlag creates the file only where it is missing: a kernel with protected_regular refuses O_CREAT on a file that
// another user made in a shared folder, and opening it to read is enough to lock it. A link is not followed.
func lockFlag(path string) int {
	flag := os.O_RDONLY | syscall.O_NOFOLLOW
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		flag |= os.O_CREATE
	}
	return flag
}

// lockFolders are those of the folders in which a file can be made, or the lock's file stands already; else the last resort.
func lockFolders(device string, folders []string, resort string) []string {
	var usable []string
	for _, folder := range folders {
		if writable(folder) || there(lockOf(folder, device).Path()) {
			usable = append(usable, folder)
		}
	}
	if len(usable) == 0 {
		return []string{resort}
	}
	return usable
}

func writable(folder string) bool {
	f, err := os.CreateTemp(folder, "benchgate-*.probe")
	if err != nil {
		return false
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return true
}

// there reports whether a file can be read, which is enough to lock it.
func there(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// fileName keeps a device's name from leaving the folder.
func fileName(device string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, device)
	if safe == device && len(safe) <= 80 {
		return safe
	}
	return safe[:min(len(safe), 40)] + "-" + short(device)
}

// sign writes who holds the lock, for those who wait. It is a courtesy: where it cannot be written nothing is lost.
func sign(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(f, "process %d since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	_ = f.Chmod(0o666)
	_ = f.Close()
}

// holder reads what sign wrote.
func holder(path string) string {
	data, err := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	foreign := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' })
	if err != nil || !strings.HasPrefix(line, "process ") || len(line) > 100 || foreign {
		return "another process"
	}
	return line
}
