package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/benchgate/benchgate/internal/bench"
)

// JournalFile is the campaign's stream inside its folder.
const JournalFile = "campaign.jsonl"

// journal appends records to a campaign's file as they happen. What is written survives a kill; what is flushed with
// sync survives a power cut.
type journal struct {
	path string
	file *os.File
	lock *flock.Flock
	// restart says that the next record begins a new campaign: what the file holds is set aside first, not before.
	restart bool
	log     bench.CampaignLog
	buf     bytes.Buffer
}

// ErrBusy is returned when another process is writing the same campaign.
var ErrBusy = errors.New("another benchgate is measuring this campaign")

// openJournal opens or creates the journal in a folder, reads what is there, and cuts off a half-written last line.
func openJournal(folder string) (*journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil { // the server's log may hold what it was told in confidence
		return nil, fmt.Errorf("create campaign folder: %w", err)
	}
	j := &journal{path: filepath.Join(folder, JournalFile), lock: flock.New(filepath.Join(folder, ".lock"))}
	switch got, err := j.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock campaign %q: %w", folder, err)
	case !got:
		return nil, fmt.Errorf("campaign %q: %w", folder, ErrBusy)
	}
	if err := j.read(j.path); err != nil {
		return nil, j.abandon(err)
	}
	if err := j.open(); err != nil {
		return nil, j.abandon(err)
	}
	return j, nil
}

func (j *journal) open() error {
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open campaign: %w", err)
	}
	j.file = f
	return nil
}

// forget begins a new campaign with the next record. Until then the earlier one stays where it is.
func (j *journal) forget() { j.restart, j.log = true, bench.CampaignLog{} }

// renew sets the earlier campaign aside, whole: nothing measured is ever deleted.
func (j *journal) renew() error {
	j.restart = false
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("close campaign: %w", err)
	}
	if info, err := os.Stat(j.path); err != nil || info.Size() > 0 { // an empty file is no campaign
		if err := setAside(j.path); err != nil {
			return err
		}
	}
	return j.open()
}

func (j *journal) abandon(err error) error { return errors.Join(err, j.lock.Unlock()) }

// setAside keeps an earlier campaign under another name, its servers' logs with it: nothing measured is ever deleted.
func setAside(path string) error {
	old := ""
	for n := 1; ; n++ {
		old = fmt.Sprintf(".old-%d", n)
		if _, err := os.Stat(path + old); err != nil {
			break
		}
	}
	folder, name := filepath.Split(path)
	logs, err := fs.Glob(os.DirFS(filepath.Clean(folder)), "server-*.log")
	if err != nil {
		return fmt.Errorf("set earlier campaign aside: %w", err)
	}
	for _, file := range append(logs, name) {
		file = filepath.Join(folder, file)
		if err := os.Rename(file, file+old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set earlier campaign aside: %w", err)
		}
	}
	return nil
}

func (j *journal) read(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read campaign: %w", err)
	}
	if bytes.IndexByte(data, '\n') < 0 { // killed while it wrote the header: nothing was measured
		return shorten(path, 0)
	}
	log, err := bench.ReadCampaign(bytes.NewReader(data), path)
	if err != nil {
		return err
	}
	j.log = *log
	if log.Cut {
		return shorten(path, log.Whole)
	}
	return nil
}

// shorten cuts off the line that a kill left half-written.
func shorten(path string, whole int64) error {
	if err := os.Truncate(path, whole); err != nil {
		return fmt.Errorf("cut half-written line: %w", err)
	}
	return nil
}

// write appends one record and keeps the picture in memory equal to the file.
func (j *journal) write(r bench.Record) error {
	if j.restart {
		if err := j.renew(); err != nil {
			return err
		}
	}
	j.buf.Reset()
	if err := bench.WriteRecord(&j.buf, r); err != nil {
		return fmt.Errorf("write campaign: %w", err)
	}
	if _, err := j.file.Write(j.buf.Bytes()); err != nil {
		return fmt.Errorf("write campaign: %w", err)
	}
	j.remember(r)
	if r.Request != nil {
		return nil
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write campaign: %w", err)
	}
	return nil
}

func (j *journal) remember(r bench.Record) {
	switch {
	case r.Header != nil:
		j.log.Header = *r.Header
	case r.Visit != nil:
		j.log.Visits = append(j.log.Visits, *r.Visit)
	case r.Run != nil:
		j.log.Runs = append(j.log.Runs, *r.Run)
	case r.Warning != nil:
		j.log.Warnings = append(j.log.Warnings, *r.Warning)
	case r.Request != nil:
		if j.log.Requests == nil {
			j.log.Requests = map[int][]bench.RequestRecord{}
		}
		j.log.Requests[r.Request.Order] = append(j.log.Requests[r.Request.Order], *r.Request)
	}
}

func (j *journal) close() error {
	return errors.Join(j.file.Close(), j.lock.Unlock())
}

// tally counts runs that were judged: those that stand, and those that have to be measured again. A run that the client
// spoilt is void. One in which the server misbehaved stands for a candidate, who cannot pass with it; of a reference it
// says nothing, and is measured again.
func (j *journal) tally(of func(bench.VisitRecord, bench.RunRecord) bool) (valid, void int) {
	for _, r := range j.log.Runs {
		v := VisitOf(j.log, r.Visit)
		switch {
		case r.WarmUp || !of(v, r):
		case r.Valid() && (v.Side != reference || r.Invalid == ""):
			valid++
		default:
			void++
		}
	}
	return valid, void
}

// lastOrder is the highest order given to any run so far, finished or not.
func (j *journal) lastOrder() int {
	last := 0
	for _, r := range j.log.Runs {
		last = max(last, r.Order)
	}
	for order := range j.log.Requests {
		last = max(last, order)
	}
	return last
}
