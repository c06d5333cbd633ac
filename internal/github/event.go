package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// eventBytes bounds the event file: GitHub drops what is over 25 MB.
const eventBytes = 26 << 20

// event is what is read of an event file. Pointers tell null from empty.
type event struct {
	Pull   *eventPull      `json:"pull_request"`
	Group  *eventGroup     `json:"merge_group"`
	Inputs json.RawMessage `json:"inputs"`
}

type eventPull struct {
	Number int       `json:"number"`
	Draft  bool      `json:"draft"`
	State  string    `json:"state"` // "open" or "closed"
	Head   *eventTip `json:"head"`
	Base   *eventTip `json:"base"`
}

type eventTip struct {
	SHA  string     `json:"sha"`
	Ref  string     `json:"ref"`
	Repo *eventRepo `json:"repo"` // null where it was deleted
}

type eventRepo struct {
	FullName string `json:"full_name"`
}

type eventGroup struct {
	HeadSHA string `json:"head_sha"`
	HeadRef string `json:"head_ref"`
	BaseSHA string `json:"base_sha"`
	BaseRef string `json:"base_ref"`
}

// readEvent fills in what the event file says. Only events that a decision rests on need one.
func (j *Job) readEvent(path string) error {
	switch j.Event {
	case "pull_request", "pull_request_target", "merge_group", "workflow_dispatch":
	default:
		return nil
	}
	data, err := readEventFile(path)
	if err != nil {
		return err
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("file %q: %w", path, err)
	}
	switch j.Event {
	case "merge_group":
		j.Group, err = e.Group.group()
	case "workflow_dispatch":
		j.Inputs, err = inputs(e.Inputs)
	default:
		j.Pull, err = e.Pull.pull(j.Repository)
	}
	if err != nil {
		return fmt.Errorf("file %q: %w", path, err)
	}
	return nil
}

func readEventFile(path string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("GITHUB_EVENT_PATH is not set")
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a file", path)
	case info.Size() > eventBytes:
		return nil, fmt.Errorf("file %q holds %d bytes; an event has at most %d", path, info.Size(), eventBytes)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, eventBytes))
}

func (p *eventPull) pull(repository string) (*Pull, error) {
	switch {
	case p == nil:
		return nil, errors.New("it has no pull_request")
	case p.Number <= 0:
		return nil, errors.New("pull_request.number is missing")
	case p.Head == nil || !isHash.MatchString(p.Head.SHA):
		return nil, errors.New("pull_request.head.sha is not the hash of a commit")
	case p.Base == nil || !isHash.MatchString(p.Base.SHA):
		return nil, errors.New("pull_request.base.sha is not the hash of a commit")
	}
	pull := &Pull{
		Number: p.Number, Draft: p.Draft, Closed: p.State == "closed",
		HeadSHA: p.Head.SHA, HeadRef: oneLine(p.Head.Ref),
		BaseSHA: p.Base.SHA, BaseRef: oneLine(p.Base.Ref),
	}
	if p.Head.Repo != nil && validRepository(p.Head.Repo.FullName) {
		pull.HeadRepository = p.Head.Repo.FullName
	}
	pull.Fork = !strings.EqualFold(pull.HeadRepository, repository)
	return pull, nil
}

func (g *eventGroup) group() (*Group, error) {
	switch {
	case g == nil:
		return nil, errors.New("it has no merge_group")
	case !isHash.MatchString(g.HeadSHA):
		return nil, errors.New("merge_group.head_sha is not the hash of a commit")
	case !isHash.MatchString(g.BaseSHA):
		return nil, errors.New("merge_group.base_sha is not the hash of a commit")
	}
	return &Group{
		HeadSHA: g.HeadSHA, HeadRef: oneLine(g.HeadRef),
		BaseSHA: g.BaseSHA, BaseRef: oneLine(g.BaseRef),
	}, nil
}

// inputs are those of a dispatch as text: GitHub hands over texts, truth values and numbers.
func inputs(raw json.RawMessage) (map[string]string, error) {
	var all map[string]any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, fmt.Errorf("inputs: %w", err)
		}
	}
	texts := make(map[string]string, len(all))
	for name, value := range all {
		switch v := value.(type) {
		case string:
			texts[name] = v
		case bool:
			texts[name] = strconv.FormatBool(v)
		case float64:
			texts[name] = strconv.FormatFloat(v, 'f', -1, 64)
		case nil:
			texts[name] = ""
		default:
			return nil, fmt.Errorf("inputs: %q is neither a text nor a number", cut(name, 80))
		}
	}
	return texts, nil
}
