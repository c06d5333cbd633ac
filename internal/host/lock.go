package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockRetry = 250 * time.Millisecond
	lockTalk  = 10 * time.Second
)

// Lock waits until no other benchmark on this machine holds the device, and holds it until unlock is called or the
// process ends. While it waits it calls waiting, at once and then every ten seconds; waiting may be nil. A canceled
// context ends the wait with its cause, and with the holder and the lock's file. The lock is a file named by the device, in
// /var/lock, else in the temp folder.
func Lock(ctx context.Context, device string, waiting func(msg string)) (unlock func() error, err error) {
	return lockIn(ctx, lockFolder("/var/lock", os.TempDir()), device, waiting)
}

// TryLock takes the device at once, or says who holds it.
func TryLock(device string) (unlock func() error, holder string, err error) {
	return tryLockIn(lockFolder("/var/lock", os.TempDir()), device)
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

// lockFolder returns the first folder that a file can be made in; the last one when none is.
func lockFolder(folders ...string) string {
	for _, folder := range folders {
		f, err := os.CreateTemp(folder, "benchgate-*.probe")
		if err != nil {
			continue
		}
		name := f.Name()
		_ = f.Close()
		_ = os.Remove(name)
		return folder
	}
	return folders[len(folders)-1]
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
