package bench

import (
	"errors"
	"io"
)

var errLater = errors.New("not written yet")

// WriteDigest writes a digest in its canonical form.
func WriteDigest(w io.Writer, d Digest) error { return errLater }

// ReadDigest reads a digest strictly; name stands for the file in errors.
func ReadDigest(r io.Reader, name string) (Digest, error) { return Digest{}, errLater }

// CheckRun says what is wrong with a run.
func CheckRun(r Run) error { return errLater }

// Rows are the requests of one run in integers.
type Rows struct {
	Order int        `json:"run"`
	Rows  [][5]int64 `json:"rows"` // [ttft µs, tpot µs, e2el µs, n_out, class code]; -1 is absent
}

// RowsOf condenses requests into rows.
func RowsOf(order int, requests []Request) Rows { return Rows{} }

// WriteRows writes a rows file.
func WriteRows(w io.Writer, rows []Rows) error { return errLater }

// ReadRows reads a rows file.
func ReadRows(r io.Reader, name string) ([]Rows, error) { return nil, errLater }

// CampaignLog is a campaign read back.
type CampaignLog struct {
	Header   Header
	Visits   []VisitRecord
	Runs     []RunRecord
	Requests map[int][]RequestRecord // by order of the run
	Warnings []Warning
	Cut      bool  // the last line was half-written
	Whole    int64 // bytes up to the end of the last whole line
}

// WriteRecord writes one line of a campaign.
func WriteRecord(w io.Writer, r Record) error { return errLater }

// ReadCampaign reads a campaign.
func ReadCampaign(r io.Reader, name string) (*CampaignLog, error) { return nil, errLater }
